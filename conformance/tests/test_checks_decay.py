import numpy as np
import pytest

from ropespec import reference
from ropespec.backends import numpy as backend
from ropespec.conformance.results import Status

ALL = ["float32", "float64", "float16", "bfloat16"]


def curve(offsets, dim, base=10000.0, *, start=0, total=np.mean, length=np.abs):
    """B, with another first frequency, another mean or another length."""
    i = np.arange(start, dim // 2 + start)
    angles = np.asarray(offsets)[..., None] * base ** (-2.0 * i / dim)
    return total(length(np.cumsum(np.exp(1j * angles), axis=-1)), axis=-1)


def wrong_curve(**changes):
    """Return decay_bound with one thing wrong."""

    def decay_bound(offsets, dim, base=10000.0):
        return curve(offsets, dim, base, **changes)

    return decay_bound


def falling(offsets, dim, base=10000.0):
    """Make the curve fall at every step."""
    offsets = np.abs(offsets)
    whole = np.minimum.accumulate(curve(np.arange(offsets.max(initial=0) + 1), dim, base))
    return whole[offsets]


def one_too_late(offsets, dim, base=10000.0):
    """B(offset + 1)."""
    return curve(np.asarray(offsets) + 1, dim, base)


def unturned(x, positions, **conventions):
    """No rotation."""
    del positions, conventions
    return x.copy()


def decaying(x, positions, **conventions):
    """Multiply the rotation by a gain that falls with the position."""
    gain = np.exp(-0.05 * np.abs(positions))[..., None, None]
    return (reference.apply_rotary(x, positions, **conventions) * gain).astype(x.dtype)


def plain_score(q, k, offset, **conventions):
    """<q, k>, whatever the offset."""
    del conventions
    return np.broadcast_to(np.sum(q * k, axis=-1), np.broadcast_shapes(q.shape[:-1], offset.shape))


NAME = "decay_bound"
KILLS = (
    ("DEC-1.abel", "apply_rotary", unturned, "exceeds the Abel bound"),
    ("DEC-1.abel-score", "relative_score", plain_score, "exceeds the Abel bound"),
    ("DEC-1.forms", "apply_rotary", unturned, "what rotated pairs give"),
    ("DEC-2.value", NAME, wrong_curve(start=1), "B differs"),
    ("DEC-2.value", NAME, wrong_curve(total=np.sum), "B differs"),
    ("DEC-2.value", NAME, wrong_curve(length=np.real), "B differs"),
    ("DEC-2.largest", NAME, one_too_late, "B(0) is not"),
    ("DEC-2.reference", NAME, wrong_curve(start=1), "literal reference"),
    ("DEC-2.forms", "apply_rotary", decaying, "score of a vector with itself"),
    ("DEC-2.cosines", "apply_rotary", unturned, "sum cos((m-n) theta_i)"),
    ("DEC-2.windows", NAME, wrong_curve(start=1), "window of distances"),
    ("DEC-3.forms", "apply_rotary", decaying, "what rotated pairs give"),
    ("DEC-3.rises", NAME, falling, "must rise"),
    ("DEC-3.score-rises", "apply_rotary", decaying, "is not cos"),
)


@pytest.mark.parametrize("module", [reference, backend], ids=["reference", "numpy"])
def test_right_implementations_pass(checks, module):
    """Both right implementations pass every check of the chapter, in every dtype."""
    for name in checks.ids("DEC"):
        found = checks.run(name, module, dtypes=ALL, precision="float64-angles")

        assert found.status is Status.PASS, (name, found.message)


def test_rounding_after_every_step_passes(checks, narrow):
    """Half precision arithmetic and a float32 curve are right where nothing better is claimed."""
    for name in checks.ids("DEC"):
        found = checks.run(name, narrow, dtypes=ALL[2:])

        assert found.status is Status.PASS, (name, found.message)


def test_the_abel_bound_is_nearly_reached(checks):
    """The vectors of the check make the bound tight: at equal positions it is an equation."""
    identity = checks.kills("DEC-1.abel", "apply_rotary", lambda x, _, **__: 1.01 * x)

    assert identity.status is Status.FAIL


def test_the_bounds_are_not_loose(checks):
    """A right result comes near its bound."""
    assert checks.run("DEC-2.value", reference).worst > 0.01
    assert checks.run("DEC-2.cosines", backend, dtypes=ALL, precision="float64-angles").worst > 0.01


@pytest.mark.parametrize(("name", "function", "wrong", "message"), KILLS)
def test_a_wrong_implementation_fails(checks, name, function, wrong, message):
    """Each check fails on the mistake it is there for, with words that say what is wrong."""
    found = checks.kills(name, function, wrong)

    assert found.status is Status.FAIL
    assert message in found.message
    assert found.counterexample.inputs["function"] == function


def test_an_uneven_curve_fails(checks):
    """B(-offset) is B(offset)."""

    def uneven(offsets, dim, base=10000.0):
        return curve(offsets, dim, base) * np.where(offsets < 0, 0.5, 1.0)

    found = checks.kills("DEC-2.largest", NAME, uneven)

    assert found.status is Status.FAIL
    assert "B(-offset)" in found.message


def test_every_check_of_the_chapter_kills(checks):
    """No check is idle."""
    assert set(checks.ids("DEC")) == {name for name, *_ in KILLS}
