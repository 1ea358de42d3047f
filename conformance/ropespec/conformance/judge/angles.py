"""cos and sin of the oracle, kept: a check asks for the angles of its case several times."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge import oracle
from ropespec.spec.convention import Convention, Frequencies

__all__ = ["cos_sin", "followed", "rotating"]

_MOST = 2**16  # angles that are kept; no drawn case has more

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


def cos_sin(positions: NDArray[np.integer[Any]], dim: int, of: Frequencies) -> Pair:
    """Return `oracle.cos_sin`, in arrays of the caller's own."""
    if positions.size * dim > _MOST:
        return oracle.cos_sin(positions, dim, of)
    cos, sin = _kept(positions.tobytes(), positions.dtype.str, positions.shape, dim, of)
    return cos.copy(), sin.copy()


def rotating(positions: NDArray[np.integer[Any]], dim: int, by: Convention) -> Pair:
    """Return what pairs are rotated by: cos and sin with their gain, and sin by its direction.

    Positions are of shape (...), or (..., n) where pairs follow n numbers; the result is of shape
    (..., dim/2).
    """
    cos, sin = cos_sin(positions, dim, by.frequencies)
    if by.axes:
        cos, sin = (part[..., list(by.axes), np.arange(dim // 2)] for part in (cos, sin))
    gain = float(by.frequencies.gain)
    if gain != 1.0:
        cos, sin = gain * cos, gain * sin
    return cos, -sin if by.clockwise else sin


def followed(positions: NDArray[np.int64], by: Convention) -> NDArray[np.int64]:
    """Return the position of each pair: of shape (..., dim/2), or (..., 1) where all have one."""
    return positions[..., list(by.axes)] if by.axes else positions[..., None]


@functools.lru_cache(maxsize=128)
def _kept(positions: bytes, kind: str, shape: tuple[int, ...], dim: int, of: Frequencies) -> Pair:
    return oracle.cos_sin(np.frombuffer(positions, kind).reshape(shape), dim, of)
