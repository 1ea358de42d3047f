import numpy as np
import pytest

from ropespec import reference
from ropespec.backends import numpy as backend
from ropespec.conformance.results import Status

NAME = "sinusoidal_embedding"
RIGHT = reference.sinusoidal_embedding


def cosines_first(positions, dim, base=10000.0):
    """Cosines at even, sines at odd components."""
    y = RIGHT(positions, dim, base)
    return np.stack([y[..., 1::2], y[..., 0::2]], axis=-1).reshape(y.shape)


def in_halves(positions, dim, base=10000.0):
    """All sines before all cosines."""
    y = RIGHT(positions, dim, base)
    return np.concatenate([y[..., 0::2], y[..., 1::2]], axis=-1)


def two_angles(positions, dim, base=10000.0):
    """Take the cosine of the next position, except at 0."""
    y = RIGHT(positions, dim, base)
    y[..., 1::2] = RIGHT(positions + (positions > 0), dim, base)[..., 1::2]
    return y


def own_exponents(positions, dim, base=10000.0):
    """Component j has the frequency base^(-2j/d): twice the exponent, and none shared."""
    j = np.arange(dim)
    angle = np.asarray(positions)[..., None] * base ** (-2.0 * j / dim)
    return np.where(j % 2, np.cos(angle), np.sin(angle))


def from_one(positions, dim, base=10000.0):
    """Positions start at 1."""
    return RIGHT(positions + 1, dim, base)


def wrong_base(positions, dim, base=10000.0):
    """Take another base."""
    return RIGHT(positions, dim, base / 2)


def by_place(positions, dim, base=10000.0):
    """Count rows instead of reading their positions."""
    return RIGHT(np.sort(positions, axis=-1), dim, base)


def none_of_minus_1(positions, dim, base=10000.0):
    """Leave padding at zero."""
    made = reference.sinusoidal_embedding(positions, dim, base)
    return np.where(np.asarray(positions)[..., None] == -1, 0.0, made)


KILLS = (
    ("SIN-1.every", none_of_minus_1, "sinusoidal_embedding differs"),
    ("SIN-1.value", cosines_first, "sinusoidal_embedding differs"),
    ("SIN-1.value", wrong_base, "sinusoidal_embedding differs"),
    ("SIN-1.circle", two_angles, "sin^2 + cos^2"),
    ("SIN-1.circle", from_one, "position 0"),
    ("SIN-1.reference", in_halves, "literal reference"),
    ("SIN-2.pairs", own_exponents, "theta_i at position 1"),
    ("SIN-3.table", from_one, "code form"),
    ("SIN-4.added", from_one, "adds to x"),
    ("SIN-4.added", by_place, "one-hot vector picks"),
)


@pytest.mark.parametrize("module", [reference, backend], ids=["reference", "numpy"])
def test_right_embeddings_pass(checks, module):
    """Both right implementations pass every check of the chapter, near the bounds but within."""
    for name in checks.ids("SIN"):
        if name == "SIN-1.even":
            continue  # of what is promised, below
        found = checks.run(name, module)

        assert found.status is Status.PASS, (name, found.message)
        assert found.worst > 1e-3 or name.endswith("reference"), name


def test_a_float32_embedding_passes(checks, narrow):
    """Float32 angles and tables are right: the reply's dtype decides what may be lost."""
    for name in checks.ids("SIN"):
        if name == "SIN-1.even":
            continue  # of what is promised, below
        found = checks.run(name, {NAME: narrow.sinusoidal_embedding})

        assert found.status is Status.PASS, (name, found.message)


@pytest.mark.parametrize(("name", "wrong", "message"), KILLS)
def test_a_wrong_embedding_fails(checks, name, wrong, message):
    """Each check fails on the mistake it is there for, with words that say what is wrong."""
    found = checks.kills(name, NAME, wrong)

    assert found.status is Status.FAIL
    assert message in found.message
    assert found.counterexample.inputs["function"] == NAME


def test_every_check_of_the_chapter_kills(checks):
    """No check is idle."""
    assert set(checks.ids("SIN")) == {name for name, *_ in KILLS} | {"SIN-1.even"}


def test_an_odd_width_is_refused_by_name(checks):
    """Where refusals are promised: the reference refuses, another width or another error fails."""

    def cut(positions, dim, base=10000.0):
        return RIGHT(positions, max(dim - dim % 2, 2), base)

    def silent(positions, dim, base=10000.0):
        if dim < 2 or dim % 2:
            raise ValueError("shapes do not match")
        return RIGHT(positions, dim, base)

    claims = {"refusals": True}
    assert checks.run("SIN-1.even", reference, **claims).status is Status.PASS
    assert checks.run("SIN-1.even", reference).status is Status.SKIP
    assert checks.kills("SIN-1.even", NAME, cut, **claims).status is Status.FAIL
    assert "shapes do" in checks.kills("SIN-1.even", NAME, silent, **claims).message


def test_half_precision_sines_are_below_their_dtype(checks):
    """A float32 table whose entries went through bfloat16 fails: its dtype claims more."""

    def coarse(positions, dim, base=10000.0):
        y = RIGHT(positions, dim, base).astype(np.float16)
        return y.astype(np.float32)

    assert checks.kills("SIN-1.value", NAME, coarse).status is Status.FAIL


@pytest.mark.parametrize("wrong", [lambda *_: 3, lambda *_: (np.ones(2), np.ones(2))])
def test_what_is_no_table_is_refused(checks, wrong):
    """An integer or two arrays instead of one fail with words, not with an error of the judge."""

    def takes_base(positions, dim, base=10000.0):
        return wrong(positions, dim, base)

    found = checks.kills("SIN-1.value", NAME, takes_base)

    assert found.status is Status.FAIL
    assert "must return" in found.message
