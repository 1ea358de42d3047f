"""The error budgets are sound and tight, and tell the precision classes apart."""

import dataclasses
import os
from decimal import Decimal
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

from ropespec.conformance.judge.budget import STAGES, Machine, rounding
from ropespec.conformance.judge.precision import (
    DEFECTS,
    EXPLICIT_TABLES,
    PRECISIONS,
    legitimate,
)
from ropespec.conformance.judge.rotation import Rotation, from_pairs, pairs_of
from ropespec.conformance.judge.values import make_values, numpy_dtype
from ropespec.conformance.zoo.parts import half
from ropespec.spec.convention import Convention, Frequencies, Pairing

BF16 = ml_dtypes.bfloat16
MACHINE = Machine()
DIM = 128
ALL = {**PRECISIONS, **DEFECTS}
SEEDS = range(int(os.environ.get("ROPESPEC_BUDGET_SEEDS", "2")))
"""Six inputs of 65,536 numbers per class and seed; 26 seeds make more than ten million each."""


def angle(kind, positions, base):
    """Compute the angles as an implementation of the class would."""
    theta64 = base ** (-np.arange(0, DIM, 2) / DIM)
    exponent = np.arange(0, DIM, 2, dtype=np.float32) / np.float32(DIM)
    theta = (np.float32(1) / np.float32(base) ** exponent).astype(np.float32)
    m = positions.astype(np.float32)[..., None]

    def low(a, dtype):
        return a.astype(dtype).astype(np.float32)

    def tf32(a):
        bits = a.astype(np.float32).view(np.uint32) + np.uint32(0x1000)
        return (bits & np.uint32(0xFFFFE000)).view(np.float32)

    match kind:
        case "float64":
            return positions.astype(np.float64)[..., None] * theta64
        case "recurrence":
            ratio = np.float32(base ** (-2.0 / DIM))
            steps = np.concatenate([[np.float32(1)], np.full(DIM // 2 - 1, ratio)])
            return m * np.multiply.accumulate(steps.astype(np.float32))
        case "tf32":
            return tf32(m) * tf32(theta)
        case "bf16-inv_freq":
            return m * low(theta, BF16)
        case "float16-inv_freq":
            return m * low(theta, np.float16)
        case "bf16-angles":
            return low(low(m, BF16) * low(theta, BF16), BF16)
        case "float16-angles":
            return low(low(m, np.float16) * low(theta, np.float16), np.float16)
    return m * theta


def table(kind, a):
    """cos and sin of the angles; the fast pair errs by up to 2^-21."""
    c, s = np.cos(a), np.sin(a)
    if kind == "fast":
        wobble = np.float32(2.0**-21.5) * np.sin(1e4 * a.astype(np.float64)).astype(np.float32)
        c, s = c + wobble, s - wobble
    return c, s


class Gain(NamedTuple):
    """A scheme that scales nothing but cos and sin."""

    gain: Decimal
    name: str = "gain"

    def theta(self, base, dim):
        """Return the frequencies as they are."""
        return Frequencies(base).theta(dim)


def half_split(base=1e4, gain=1.0):
    """Return the convention of all that is rotated here."""
    scheme = None if gain == 1.0 else Gain(Decimal(gain))
    return Convention(Pairing.HALF, Frequencies(base, scheme))


def implementation(precision, x, positions, base):
    """Rotate half-split x exactly as the class says."""
    working = np.float64 if x.dtype == np.float64 else np.float32
    c, s = table(precision.angle, angle(precision.angle, positions, base))
    arithmetic = numpy_dtype(precision.arithmetic) if precision.arithmetic else np.dtype(working)
    stored = numpy_dtype(precision.table) if precision.table else arithmetic
    c, s = (t.astype(stored).astype(arithmetic)[..., None, :] for t in (c, s))
    a, b = (part.astype(arithmetic) for part in pairs_of(x, half_split()))
    y1, y2 = a * c - b * s, a * s + b * c
    return from_pairs(y1, y2, x[..., DIM:], half_split()).astype(x.dtype)


def inputs(dtype, kind, seed, base, limit=2**17):
    """Draw x of shape (4, 64, 2, 128) and positions, log-uniform below `limit`."""
    rng = np.random.default_rng(seed)
    positions = np.exp(rng.uniform(0, np.log(limit), (4, 64))).astype(np.int64)
    x = make_values(
        kind,
        (4, 64, 2, DIM),
        dtype,
        seed,
        positions=positions,
        by=half_split(base),
    )
    return x, positions


def worst(
    precision,
    judged_as,
    dtype,
    seeds=(0, 1),
    bases=(1e4, 5e5),
    kinds=("normal", "heavy", "null"),
    far=2**17,
):
    """Return the largest error / budget of an implementation of one class judged as another.

    Of float32, `heavy` holds what float16 arithmetic cannot.
    """
    if precision.arithmetic == "float16" != dtype:
        kinds = tuple(kind for kind in kinds if kind != "heavy")
    ratio = 0.0
    for seed in seeds:
        for base in bases:
            for kind in kinds:
                limit = min(far, 60000) if "float16" in precision.angle else far
                x, positions = inputs(dtype, kind, seed, base, limit)
                y = implementation(precision, x, positions, base)
                exact = Rotation.of(x, positions, half_split(base))
                ratio = max(ratio, exact.ratios(y, judged_as, MACHINE).max())
    return ratio


HOLDS = [
    (name, dtype)
    for name in PRECISIONS
    for dtype in ("float64", "float32", "bfloat16", "float16")
    if not (dtype == "float64" and name != "float64-angles")
    and not (dtype == "float16" and name.startswith("bf16"))
    and not (dtype == "bfloat16" and name.startswith("float16"))
] + [(name, "float32") for name in DEFECTS]


@pytest.mark.parametrize(("name", "dtype"), HOLDS)
def test_an_implementation_of_a_class_stays_within_its_budget_and_needs_a_quarter_of_it(
    name, dtype
):
    """Sound: no output exceeds its budget; tight: some output needs a quarter of it."""
    ratio = worst(ALL[name], ALL[name], dtype)

    assert ratio <= 1.0
    assert ratio >= 0.25


LOWER = [
    ("float32-angles", "float64-angles", "float32"),
    ("float32-angles", "float64-angles", "bfloat16"),
    ("float32-recurrence", "float32-angles", "float32"),
    ("fast-sincos", "float32-angles", "float32"),
    ("float16-table", "fast-sincos", "float32"),
    ("bf16-table", "fast-sincos", "bfloat16"),
    ("bf16-table", "float16-table", "float32"),
    ("float16-table", "fast-sincos", "float16"),
    ("bf16-arithmetic", "bf16-table", "bfloat16"),
    ("float16-arithmetic", "float16-table", "float16"),
    ("bf16-inv_freq", "bf16-arithmetic", "bfloat16"),
    ("float16-inv_freq", "float16-arithmetic", "float16"),
    ("bf16-angles", "bf16-arithmetic", "bfloat16"),
    ("float16-angles", "float16-arithmetic", "float16"),
    ("bf16-angles", "bf16-inv_freq", "float32"),
    ("tf32-angles", "fast-sincos", "float32"),
]


@pytest.mark.parametrize(("lower", "higher", "dtype"), LOWER)
def test_a_lower_class_exceeds_the_budget_of_a_higher_one(lower, higher, dtype):
    """An implementation of the lower class is told from the higher one, also behind half stores."""
    assert worst(ALL[lower], ALL[higher], dtype) > 1.0


def test_null_probes_see_what_a_coarse_result_hides():
    """Below position 128, bfloat16 results hide a float32 angle from normal x, not from null x."""
    float32, float64 = PRECISIONS["float32-angles"], PRECISIONS["float64-angles"]
    plain = worst(float32, float64, "bfloat16", kinds=("normal",), far=128)
    probed = worst(float32, float64, "bfloat16", kinds=("null",), far=128)

    assert plain < 2.0
    assert probed > 5.0


def test_rounding_bounds_any_angle():
    """What is left of the budget without the angle bounds the length of every pair."""
    precision = PRECISIONS["float32-angles"]
    x, positions = inputs("float32", "normal", 3, 1e4, 2**20)
    y = implementation(precision, x, positions, 1e4)
    before, after = (np.hypot(*pairs_of(v.astype(np.float64), half_split())) for v in (x, y))
    allowed = np.sqrt(2) * rounding(before, precision, "float32", MACHINE)

    assert np.abs(after - before).max() > 0
    assert (np.abs(after - before) <= allowed).all()
    assert not (np.abs(after * (1 + 2.0**-19) - before) <= allowed).all()


def test_legitimate_classes_lose_no_more_than_the_dtype_of_x():
    """Unclaimed, float64 x passes under one class only; a claim replaces the list."""
    assert [item.name for item in legitimate("float64")] == ["float64-angles"]
    assert [item.name for item in legitimate("float32")][-1] == "fast-sincos"
    assert "bf16-table" in [item.name for item in legitimate("bfloat16")]
    assert "float16-table" not in [item.name for item in legitimate("bfloat16")]
    assert [item.name for item in legitimate("float32", "bf16-table")] == ["bf16-table"]


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("gain", [1.0, 1.3465735902799727])
def test_explicit_tables_leave_arithmetic_and_store(dtype, gain):
    """With cos and sin given, products and store alone are sound and tight; a wrong entry shows."""
    working = np.float64 if dtype == "float64" else np.float32
    ratios, caught = [], []
    for seed in (0, 1, 2):
        x, positions = inputs(dtype, "normal", seed, 1e4)
        exact = Rotation.of(x, positions, half_split(gain=gain))
        given = [part[..., 0, :].astype(working) for part in (exact.pairs.cos, exact.pairs.sin)]
        cos, sin = (part.astype(np.float64)[..., None, :] for part in given)
        pairs = exact.pairs._replace(cos=cos, sin=sin)
        a, b = pairs.x1, pairs.x2
        wanted = from_pairs(a * cos - b * sin, a * sin + b * cos, exact.tail, half_split())
        exact = dataclasses.replace(exact, y=wanted, pairs=pairs)
        y = half(x, *given)
        ratios.append(exact.ratios(y, EXPLICIT_TABLES, MACHINE).max())
        off = half(x, given[0] * working(1 + 2.0**-5), given[1])
        caught.append(exact.ratios(off, EXPLICIT_TABLES, MACHINE).max())

    # The judge works in float64 itself, with the very roundings of a float64 implementation.
    assert (0.0 if dtype == "float64" else 0.25) <= max(ratios) <= 1.0
    assert min(caught) > 1.0


def test_the_attention_factor_scales_the_budget():
    """A right implementation with A = 1.35 stays within the budget for A, not within that for 1."""
    precision, gain = PRECISIONS["float32-angles"], 1.3465735902799727
    x, positions = inputs("float32", "normal", 0, 1e4)
    a = angle("float32", positions, 1e4)
    cos, sin = (part * np.float32(gain) for part in (np.cos(a), np.sin(a)))
    y = half(x, cos, sin)
    right = Rotation.of(x, positions, half_split(gain=gain))
    plain = Rotation.of(x, positions, half_split())

    assert right.ratios(y, precision, MACHINE).max() <= 1.0
    assert plain.ratios(y, precision, MACHINE).max() > 1e3


def test_the_gradient_has_the_budget_of_the_opposite_angle():
    """The backward pass is the rotation by -m, in either sign of the positions."""
    precision = PRECISIONS["float32-angles"]
    x, positions = inputs("float32", "normal", 5, 1e4)
    y = implementation(precision, x, -positions, 1e4)
    back = Rotation.of(x, -positions, half_split())

    assert 0.1 < back.ratios(y, precision, MACHINE).max() <= 1.0


def test_stages_add_up_and_name_what_overran():
    """The angle dominates far from zero, the store for bfloat16, the table where it is coarse."""
    x, positions = inputs("bfloat16", "normal", 0, 1e4)
    exact = Rotation.of(x, positions, half_split())
    stages = exact.budget(PRECISIONS["float64-angles"], MACHINE)
    coarse = exact.budget(PRECISIONS["bf16-table"], MACHINE)
    wide = Rotation.of(x.astype(np.float32), np.full_like(positions, 2**17), half_split()).budget(
        PRECISIONS["float32-angles"], MACHINE
    )

    parts = {name: stages.of(name) for name in STAGES}
    before = stages.of("angle", "table", "arithmetic")
    assert np.allclose(stages.total, sum(parts.values()), rtol=2.0**-50, atol=0.0)
    assert np.allclose(stages.total, before + parts["store"], rtol=2.0**-50, atol=0.0)
    assert parts["store"].mean() > 100 * before.mean()
    assert coarse.of("table").mean() > 0.3 * coarse.of("store").mean()
    assert wide.of("angle").mean() > 100 * wide.of("table", "arithmetic", "store").mean()
