"""The exact rotation, and the error of what a subject returned.

cos and sin are taken in float64 of an angle reduced in integers (`ropespec.backends.phase`), so
they are off by at most 3.7e-10 radians at position 2^31 and by 1.8e-13 at 2^20, less than what
any of the dtypes here can hold.
"""

import numpy as np
from numpy.typing import NDArray

from ropespec.backends.phase import turns
from ropespec.bench.speed.case import Case

__all__ = ["TOKENS", "around", "error", "rotated", "sample"]

TOKENS = 16
"""Tokens of every sequence in which the error is looked for, all heads and components of each."""

RADIANS = 2 * np.pi / 2**64


def around(position: int, length: int) -> NDArray[np.int64]:
    """Return `length` consecutive positions, none negative, with `position` in their middle."""
    start = max(position - length // 2, 0)
    return np.arange(start, start + length, dtype=np.int64)


def sample(length: int) -> NDArray[np.intp]:
    """Return the indices of the tokens that are looked at, spread evenly, ends included."""
    return np.unique(np.linspace(0, length - 1, min(length, TOKENS)).astype(np.intp))


def rotated(
    x: NDArray[np.float64],
    positions: NDArray[np.int64],
    *,
    interleaved: bool,
    inverse: bool = False,
    base: float = 10000.0,
) -> NDArray[np.float64]:
    """R_m x in float64, or R_-m x, with the phase reduced exactly (ROT-6, ROT-7, FREQ-9).

    Parameters
    ----------
    x : ndarray of float64, shape (..., S, H, D)
        What is rotated.
    positions : ndarray of int64, shape (S,)
        Positions.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + D/2) if False.
    inverse : bool
        Rotate back: the gradient of x for the gradient x of the result.
    base : float
        Above 1.
    """
    half = x.shape[-1] // 2
    fraction = positions.view(np.uint64)[:, None] * turns(2 * half, base)  # wraps: whole turns
    angle = fraction.view(np.int64) * RADIANS
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    if inverse:
        sin = -sin
    parts = (
        (np.s_[..., 0::2], np.s_[..., 1::2])
        if interleaved
        else (
            np.s_[..., :half],
            np.s_[..., half:],
        )
    )
    first, second = x[parts[0]], x[parts[1]]
    out = np.empty_like(x)
    out[parts[0]] = first * cos - second * sin
    out[parts[1]] = second * cos + first * sin
    return out


def error(
    case: Case,
    x: NDArray[np.float64],
    positions: NDArray[np.int64],
    result: NDArray[np.float64],
) -> float:
    """Return the largest absolute error of `result`, the sampled tokens of what a subject gave.

    Parameters
    ----------
    case : Case
        What was asked for; of both passes the second is judged.
    x : ndarray of float64, shape (B, n, H, D)
        The sampled tokens of what was rotated, and of the gradient of the result.
    positions : ndarray of int64, shape (n,)
        Their positions.
    result : ndarray of float64, shape (B, n, H, D)
        What came back.
    """
    expected = rotated(x, positions, interleaved=case.interleaved, inverse=case.direction == "both")
    return float(np.max(np.abs(result - expected)))
