"""Results of a device against those of NumPy on the CPU, and against each other."""

import itertools
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ropespec.backends import numpy as cpu
from ropespec.bench.card.arrays import back, backend, put

__all__ = ["rows"]

DTYPES: dict[str, Any] = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float32": np.float32,
    "float64": np.float64,
}
POSITIONS = np.array([0, 1, 3, -700, 2**20, 2**31 - 1, -(2**31)])
SHAPES = ((2, 7, 3, 128, 128), (1, 7, 9, 96, 40), (3, 7, 1, 20, 6))
"""B, S, H, D and r: whole rows, long tails, and rows that no wide access fits."""


def rows(framework: str, device: str) -> list[dict[str, Any]]:
    """Return for each call how many bits are those of the CPU, and how far the others are.

    Both results are within half a place and 5 roundings of the arithmetic of the exact one, in
    parts of |x1| + |x2|, and all ways to write one result on a device give the same bits.
    """
    names = [name for name in DTYPES if not (framework == "jax" and name == "float64")]
    kinds = itertools.product(names, (True, False), SHAPES)
    return [_row(framework, device, *kind) for kind in kinds]


def _row(
    framework: str, device: str, dtype: str, interleaved: bool, shape: tuple[int, ...]
) -> dict[str, Any]:
    *dims, r = shape
    x = np.random.default_rng(sum(shape)).standard_normal(dims).astype(DTYPES[dtype])
    options: dict[str, Any] = {"interleaved": interleaved, "rotary_dim": r}
    expected = cpu.apply_rotary(x, POSITIONS, **options)
    ours = backend(framework)
    given = put(framework, device, x)
    # Positions beyond 32 bits of JAX without x64 are taken from NumPy.
    m = POSITIONS if framework == "jax" else put(framework, device, POSITIONS)
    found = back(framework, ours.apply_rotary(given, m, **options))
    forms = {}
    if framework != "jax":
        other = put(framework, device, np.zeros_like(x))
        forms["out"] = back(framework, ours.apply_rotary(given, m, **options, out=other))
        forms["in place"] = back(framework, ours.apply_rotary(given, m, **options, out=given))
    eps = float(ml_dtypes.finfo(x.dtype).eps)  # type: ignore[no-untyped-call]  # its own
    bound = eps + 10 * 2.0 ** (-53 if dtype == "float64" else -24)
    far = _far(x[..., :r], expected[..., :r], found[..., :r])
    return {
        "dtype": dtype,
        "interleaved": interleaved,
        "shape": list(shape),
        "equal": float(np.mean(_bits(expected) == _bits(found))),
        "far": far,
        "bound": bound,
        "tail": bool((_bits(found)[..., r:] == _bits(x)[..., r:]).all()),
        "forms": {name: bool((_bits(form) == _bits(found)).all()) for name, form in forms.items()},
        "right": bool(
            far <= bound
            and (_bits(found)[..., r:] == _bits(x)[..., r:]).all()
            and all((_bits(form) == _bits(found)).all() for form in forms.values())
        ),
    }


def _far(x: NDArray[Any], one: NDArray[Any], other: NDArray[Any]) -> float:
    """Return the largest difference in parts of the largest |x1| + |x2| of a head."""
    size = 2 * np.abs(x.astype(np.float64)).max(axis=-1, keepdims=True)
    return float((np.abs(one.astype(np.float64) - other.astype(np.float64)) / size).max())


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
