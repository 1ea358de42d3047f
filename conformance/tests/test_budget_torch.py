"""The error budgets hold for torch as they hold for NumPy."""

import numpy as np
import pytest

from ropespec.conformance.judge.budget import Machine
from ropespec.conformance.judge.precision import DEFECTS, PRECISIONS
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.judge.values import make_values
from ropespec.spec.convention import Convention

torch = pytest.importorskip("torch")

DIM = 128
BASE = 10000.0
DTYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def implementation(precision, x, positions):
    """Rotate half-split x in torch as the class says."""
    working = torch.float64 if x.dtype == torch.float64 else torch.float32
    arithmetic = DTYPES[precision.arithmetic] if precision.arithmetic else working
    stored = DTYPES[precision.table] if precision.table else arithmetic
    made = torch.float64 if precision.angle == "float64" else torch.float32
    low = {"bf16-inv_freq": torch.bfloat16, "float16-inv_freq": torch.float16}
    theta = 1.0 / BASE ** (torch.arange(0, DIM, 2, dtype=made) / DIM)
    if precision.angle in low:
        theta = theta.to(low[precision.angle]).to(made)
    angle = positions.to(made)[..., None] * theta
    cos, sin = (t.to(stored).to(arithmetic)[..., None, :] for t in (angle.cos(), angle.sin()))
    a, b = (part.to(arithmetic) for part in x.chunk(2, dim=-1))
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1).to(x.dtype)


def worst(precision, judged_as, dtype):
    """Return the largest error / budget over three kinds of values and two seeds.

    Of float32, `heavy` holds what float16 arithmetic cannot.
    """
    holds = precision.arithmetic != "float16" or dtype == "float16"
    ratio, by = 0.0, Convention.of(interleaved=False, base=BASE)
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        positions = np.exp(rng.uniform(0, np.log(2**17), (4, 64))).astype(np.int64)
        for kind in ("normal", "heavy", "null") if holds else ("normal", "null"):
            x = make_values(
                kind,
                (4, 64, 2, DIM),
                dtype,
                seed,
                positions=positions,
                by=by,
            )
            exact = Rotation.of(x, positions, by)
            # Every float16 and bfloat16 number is a float32, so nothing is rounded on the way.
            wide = x if dtype == "float64" else x.astype(np.float32)
            given = torch.from_numpy(wide).to(DTYPES[dtype])
            y = implementation(precision, given, torch.from_numpy(positions))
            got = y.to(torch.float64).numpy()
            ratio = max(ratio, exact.ratios(got, judged_as, Machine()).max())
    return ratio


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("float64-angles", "float64"),
        ("float64-angles", "float32"),
        ("float64-angles", "bfloat16"),
        ("float32-angles", "float32"),
        ("float32-angles", "float16"),
        ("float16-table", "float16"),
        ("bf16-table", "bfloat16"),
        ("bf16-table", "float32"),
        ("float16-arithmetic", "float16"),
        ("bf16-arithmetic", "bfloat16"),
        ("bf16-inv_freq", "float32"),
        ("float16-inv_freq", "float32"),
    ],
)
def test_an_implementation_in_torch_stays_within_its_budget_and_needs_a_quarter_of_it(name, dtype):
    """Sound and tight with the mathematical library and the arithmetic of torch."""
    precision = {**PRECISIONS, **DEFECTS}[name]
    ratio = worst(precision, precision, dtype)

    assert 0.25 <= ratio <= 1.0


@pytest.mark.parametrize(
    ("lower", "higher", "dtype"),
    [
        ("float32-angles", "float64-angles", "float32"),
        ("bf16-table", "float32-angles", "bfloat16"),
        ("bf16-arithmetic", "bf16-table", "bfloat16"),
        ("bf16-inv_freq", "bf16-arithmetic", "bfloat16"),
    ],
)
def test_a_lower_class_in_torch_exceeds_the_budget_of_a_higher_one(lower, higher, dtype):
    """The classes are told apart in torch, too."""
    every = {**PRECISIONS, **DEFECTS}

    assert worst(every[lower], every[higher], dtype) > 1.0
