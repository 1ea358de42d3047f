import numpy as np
import pytest

from ropespec import reference
from ropespec.backends import numpy as backend
from ropespec.conformance.judge.rotation import from_pairs, pairs_of
from ropespec.conformance.results import Status
from ropespec.spec.convention import Convention

ALL = ["float32", "float64", "float16", "bfloat16"]


def moved(where, gain=1.0):
    """Return the rotation at other positions, times a gain."""

    def wrong(x, positions, **conventions):
        return gain * reference.apply_rotary(x, where(positions), **conventions)

    return wrong


def mirrored(x, positions, *, interleaved, base=10000.0, rotary_dim=None):
    """Reflect: the sign of one sine and one cosine is wrong."""
    dim = x.shape[-1] if rotary_dim is None else rotary_dim
    y = reference.apply_rotary(
        x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim
    )
    by = Convention.of(interleaved=interleaved, rotary_dim=dim)
    first, second = pairs_of(y, by)
    turned = reference.apply_rotary(
        x, -positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim
    )
    back, _ = pairs_of(turned, by)
    del first
    return from_pairs(back, second, y[..., dim:], by)


def leaking(x, positions, **conventions):
    """Let a part of every other pair reach the next one."""
    return reference.apply_rotary(x + 0.1 * np.roll(x, 2, axis=-1), positions, **conventions)


def score(change):
    """Return relative_score with changed arguments."""

    def wrong(q, k, offset, **conventions):
        return reference.relative_score(*change(q, k, offset), **conventions)

    return wrong


def score_of_the_whole_head(q, k, offset, *, rotary_dim=None, **conventions):
    """Rotate the tail as well."""
    del rotary_dim
    return reference.relative_score(q, k, offset, **conventions)


def score_without_its_tail(q, k, offset, *, rotary_dim=None, **conventions):
    """Leave out the product of what does not rotate."""
    r = q.shape[-1] if rotary_dim is None else rotary_dim
    return reference.relative_score(q[..., :r], k[..., :r], offset, **conventions)


NEGATED = score(lambda q, k, offset: (q, k, -offset))
UNSIGNED = score(lambda q, k, offset: (q, k, np.abs(offset)))
UNSIGNED_IF_ONE = score(lambda q, k, o: (q, k, np.abs(o) if q.ndim == k.ndim == 1 else o))
LATE = score(lambda q, k, offset: (q, k, offset + 1))
SQUARED, CLOCKWISE = moved(lambda m: m * (m + 1) // 2), moved(lambda m: -m)

KILLS = (
    *((f"REL-{n}.forms", "apply_rotary", CLOCKWISE, "the score is not") for n in (1, 2, 5, 6, 9)),
    ("REL-3.forms", "apply_rotary", moved(lambda m: m, 1.001), "the score is not"),
    ("REL-5.middle", "apply_rotary", CLOCKWISE, "between query and key"),
    ("REL-8.forms", "apply_rotary", moved(lambda m: m, 1.001), "the score is not"),
    ("REL-5.value", "relative_score", score_of_the_whole_head, "score differs"),
    ("REL-5.value", "relative_score", score_without_its_tail, "score differs"),
    ("REL-5.one-vector", "relative_score", UNSIGNED_IF_ONE, "one q and one k"),
    ("REL-1.shift", "apply_rotary", SQUARED, "shifted by"),
    ("REL-2.real-part", "apply_rotary", CLOCKWISE, "Re[q_i k_i^*"),
    ("REL-3.inner-product", "apply_rotary", CLOCKWISE, "q k^*"),
    ("REL-4.groups", "apply_rotary", mirrored, "coefficient of q1k2"),
    ("REL-5.key-turned", "apply_rotary", moved(lambda m: m + 1), "only the key is rotated"),
    ("REL-5.value", "relative_score", NEGATED, "score differs"),
    ("REL-5.reference", "relative_score", NEGATED, "literal reference"),
    ("REL-6.anchor", "apply_rotary", CLOCKWISE, "is not sin("),
    ("REL-6.anchor-score", "relative_score", NEGATED, "-sin 1 at offset"),
    ("REL-7.swap", "apply_rotary", CLOCKWISE, "the sign of the offset"),
    ("REL-7.swap-score", "relative_score", UNSIGNED, "sign of the offset"),
    ("REL-8.equal", "apply_rotary", moved(lambda m: m, 1.001), "is not <q, k>"),
    ("REL-8.equal-score", "relative_score", LATE, "at offset 0"),
    ("REL-9.additive", "apply_rotary", leaking, "pairs"),
)


@pytest.mark.parametrize("module", [reference, backend], ids=["reference", "numpy"])
def test_right_implementations_pass(checks, module):
    """Both right implementations pass every check of the chapter, in every dtype."""
    for name in checks.ids("REL"):
        found = checks.run(name, module, dtypes=ALL, precision="float64-angles")

        assert found.status is Status.PASS, (name, found.message)
        assert found.worst > 0.01 or name == "REL-9.additive", name


def test_rounding_after_every_step_passes(checks, narrow):
    """Half precision arithmetic is right where nothing better is claimed."""
    for name in checks.ids("REL"):
        found = checks.run(name, narrow, dtypes=ALL[2:])

        assert found.status is Status.PASS, (name, found.message)


@pytest.mark.parametrize("layout", [True, False])
@pytest.mark.parametrize("axes", ["bhsd", "sbhd", "shd"])
def test_any_axes_and_layout_pass(checks, axes, layout):
    """The scores are taken in the order of axes that is claimed, with positions it can take."""
    found = checks.run(
        "REL-2.real-part",
        {"apply_rotary": swapped(axes)},
        axes=axes,
        interleaved=layout,
        negative_positions=False,
    )

    assert found.status is Status.PASS, found.message


def swapped(axes):
    """Return the reference for x in other axes."""
    order = {"bhsd": (0, 2, 1, 3), "sbhd": (1, 0, 2, 3), "shd": (0, 1, 2)}[axes]
    back = np.argsort(order)

    def rotate(x, positions, **conventions):
        y = reference.apply_rotary(x.transpose(back), positions, **conventions)
        return y.transpose(order)

    return rotate


@pytest.mark.parametrize(("name", "function", "wrong", "message"), KILLS)
def test_a_wrong_implementation_fails(checks, name, function, wrong, message):
    """Each check fails on the mistake it is there for, with words that say what is wrong."""
    found = checks.kills(name, function, wrong)

    assert found.status is Status.FAIL
    assert message in found.message
    assert found.counterexample.inputs["function"] == function


def test_every_check_of_the_chapter_kills(checks):
    """No check is idle."""
    assert set(checks.ids("REL")) == {name for name, *_ in KILLS}


def test_a_score_of_another_dtype_fails(checks):
    """The score has the dtype of q."""

    def promoted(q, k, offset, **conventions):
        return reference.relative_score(q, k, offset, **conventions).astype(np.float64)

    found = checks.kills("REL-5.value", "relative_score", promoted)

    assert found.status is Status.FAIL
    assert "dtype float32" in found.message
