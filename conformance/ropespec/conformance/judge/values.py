"""Arrays for a case, made from its seed alone."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge import angles
from ropespec.conformance.judge.precision import SMALLEST
from ropespec.conformance.judge.rotation import from_pairs, pairs_of, rest_of
from ropespec.spec.convention import Convention

__all__ = [
    "ALIKE",
    "BELOW_ZERO",
    "POSITIONS",
    "UNLIKE",
    "VALUES",
    "make_positions",
    "make_values",
    "numpy_dtype",
]

POSITIONS = (
    *("arange", "ragged", "shuffled", "repeated", "negative", "spread"),
    *("gaps", "signs", "restarts", "descending", "ends"),
)
"""Patterns of positions, simplest first."""

UNLIKE = ("first runs", "last runs")
"""Patterns whose rows are unlike: the first is a run, or the last, and no other."""

BELOW_ZERO = ("negative", "signs")
"""Those of them that have positions below zero."""

ALIKE: dict[str, Callable[[NDArray[np.int64]], NDArray[np.int64]]] = {
    "ends and the sum": lambda p: np.concatenate([p[:, :1], p[:, -2:0:-1], p[:, -1:]], axis=1),
    "ends": lambda p: np.concatenate([p[:, :1], p[:, :1], p[:, 2:]], axis=1),
    "first positions": lambda p: p + np.arange(p.shape[1]),
    "last positions": lambda p: p + np.arange(p.shape[1])[::-1],
    "largest and smallest": lambda p: p[:, ::-1],
    "rows, in another order,": lambda p: p[::-1],
    "first row": lambda p: np.concatenate([p[:1], p[1:] + 1]),
}
"""Other positions, made of (B, S) with S >= 3, by what of both is the same."""

VALUES = (
    *("normal", "ones", "basis", "null", "heavy"),
    *("subnormal", "signed_zero", "huge", "special", "padded"),
)
"""Patterns of x, simplest first."""

_LARGEST = {
    "float64": 2.0**1023 * (2 - 2.0**-52),
    "float32": 2.0**127 * (2 - 2.0**-23),
    "float16": 65504.0,
    "bfloat16": 2.0**127 * (2 - 2.0**-7),
}
_SCALINGS = 2.0 ** (np.arange(24) / 24)


def numpy_dtype(name: str) -> np.dtype:
    """Return the NumPy dtype of a name; bfloat16 is that of ml_dtypes."""
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def make_positions(
    kind: str, batch: int, seq: int, start: int, limit: int, seed: int
) -> NDArray[np.int64]:
    """Make positions of shape (batch, seq).

    Parameters
    ----------
    kind : str
        One of `POSITIONS` or `UNLIKE`: the same run in every row; a run of its own in every row;
        runs in random order; one position throughout; a run below zero; random over all
        magnitudes; every seventh; now above, now below zero; two runs, one after the other; from
        the last down; 0, the powers of two up to the limit, and their neighbours; a run in one row,
        and in turn gaps, restarts and repeats in the others.
    batch, seq : int
        Shape.
    start : int
        First position.
    limit : int
        Largest absolute position.
    seed : int
        For the random kinds.
    """
    run = np.empty((batch, seq), np.int64)
    run[:] = np.arange(start, start + seq)
    match kind:
        case "ragged":
            shift = _random(seed).integers(0, 5)
            run = run + 3 * np.arange(batch, dtype=np.int64)[::-1, None] ** 2 + shift
        case "shuffled":
            run = _random(seed).permuted(run, axis=1)
        case "repeated":
            run = np.full_like(run, start)
        case "negative":
            run = -run - 1
        case "spread":
            run = np.exp(_random(seed).uniform(0, np.log(limit), run.shape)).astype(np.int64)
        case _:
            run = _in_other_order(kind, run, start, limit)
    return np.minimum(np.maximum(run, -limit), limit)


def _random(seed: int) -> np.random.Generator:
    """Return the source of random positions, which is dear to make."""
    return np.random.default_rng([seed, 1])


def _in_other_order(kind: str, run: NDArray[np.int64], start: int, limit: int) -> NDArray[np.int64]:
    """Make of runs what is no run."""
    seq = run.shape[1]
    match kind:
        case "gaps":
            return start + 7 * (run - start)
        case "signs":
            return np.where(run % 2 == 0, run, -run)
        case "restarts":
            half = (seq + 1) // 2
            return np.where(np.arange(seq) < half, run, np.arange(seq) - half)
        case "descending":
            return run[:, ::-1].copy()
        case "ends":
            ends = np.array([2**k + j for k in range(limit.bit_length()) for j in (0, -1, 1)])
            return np.broadcast_to(np.resize(ends[ends <= limit][::-1], seq), run.shape).copy()
        case "first runs" | "last runs":
            others = [_in_other_order(one, run, start, limit) for one in ("gaps", "restarts")]
            others.append(np.full_like(run, start))
            rows = [run[0], *(others[row % 3][row] for row in range(len(run) - 1))]
            return np.array(rows[:: 1 if kind == "first runs" else -1])
    return run


def make_values(
    kind: str,
    shape: tuple[int, int, int, int],
    dtype: str,
    seed: int,
    *,
    positions: NDArray[np.int64],
    by: Convention,
) -> NDArray[np.floating]:
    """Make x of shape (batch, seq, heads, head_dim).

    Parameters
    ----------
    kind : str
        One of `VALUES`. `null` makes one member of each rotated pair almost zero, so that the
        rounding of the result cannot hide errors of the angle or of the table. `heavy` spreads
        magnitudes up to 2^14 for float16 and 2^60 for the others; `huge` ones are as large as a
        pair may have without being longer than the largest number when rotated, of float64 an
        eighth of that.
        `special` has infinities, NaN, zeros, the largest and the smallest numbers in the tail.
        `padded` has vectors of zeros among the others, or nothing else.
    shape : tuple of int
        Shape.
    dtype : str
        dtype by name.
    seed : int
        For the random kinds.
    positions, by
        The rotation that `null` is made for.
    """
    rng = np.random.default_rng([seed, 2])
    target = numpy_dtype(dtype)
    x = rng.standard_normal(shape)
    match kind:
        case "ones":
            x = np.ones(shape)
        case "basis":
            x = np.zeros(shape)
            np.put_along_axis(x, rng.integers(0, by.dim(shape[-1]), (*shape[:-1], 1)), 1.0, axis=-1)
        case "null":
            x = _null(x, target, positions, by)
        case "heavy":
            # A turn may lengthen a component by sqrt(2), and some take the square of it.
            top = 14 if dtype == "float16" else 60
            x = np.clip(x * 2.0 ** rng.uniform(0, top, shape), -(2.0**top), 2.0**top)
        case "subnormal":
            tiny = {"float64": 2.0**-1030, "float16": 2.0**-18}.get(dtype, 2.0**-130)
            x = x * tiny
        case "huge":
            # The judge sums what a pair may be off by in float64.
            most = 0.7 * _LARGEST[dtype] / (8.0 if dtype == "float64" else 1.0)
            most /= max(float(by.frequencies.gain), 1.0)
            x = np.copysign(most * rng.uniform(0.5, 1.0, shape), x)
        case "special":
            few = (np.inf, np.nan, -np.inf, -0.0, _LARGEST[dtype], SMALLEST[dtype], 0.0)
            tail = np.array(few)
            rest = x[..., by.places(shape[-1])[2]]
            rest[...] = np.resize(tail, rest.shape)
        case "padded":
            x = x * (rng.random((*shape[:-1], 1)) >= rng.choice((0.5, 0.5, 1.0)))
        case "signed_zero":
            x = np.where(rng.random(shape) < 0.5, np.copysign(0.0, x), x)
    return x.astype(target)


def _null(
    x: NDArray[np.float64], target: np.dtype, positions: NDArray[np.int64], by: Convention
) -> NDArray[np.float64]:
    """Replace each pair by one that the rotation turns onto an axis, as nearly as dtype allows."""
    dim = by.dim(x.shape[-1])
    cos, sin = (part[..., None, :] for part in angles.rotating(positions, dim, by))
    x1, _ = pairs_of(x, by)
    onto_second = np.signbit(x1)  # which member becomes zero, by the sign of the random draw
    first = np.where(onto_second, sin, cos) * np.ones_like(x1)
    second = np.where(onto_second, cos, -sin) * np.ones_like(x1)
    a = (first * _SCALINGS[:, None, None, None, None]).astype(target).astype(np.float64)
    b = (second * _SCALINGS[:, None, None, None, None]).astype(target).astype(np.float64)
    left = np.where(onto_second, a * cos - b * sin, a * sin + b * cos)
    best = np.argmin(np.abs(left), axis=0)[None]
    chosen = [np.take_along_axis(part, best, axis=0)[0] for part in (a, b)]
    return from_pairs(chosen[0], chosen[1], rest_of(x, by), by)
