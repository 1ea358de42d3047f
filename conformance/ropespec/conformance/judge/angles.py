"""cos and sin of the oracle, kept: a check asks for the angles of its case several times."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge import oracle
from ropespec.spec.axes import Told
from ropespec.spec.convention import Convention, Frequencies

__all__ = ["cos_sin", "reached", "rotating", "speeds"]

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
    if by.axes and isinstance(by.frequencies.scheme, Told):
        cos, sin = _mixed(positions, dim, by.frequencies.scheme)
        return cos, -sin if by.clockwise else sin
    cos, sin = cos_sin(positions, dim, by.frequencies)
    if by.axes:
        cos, sin = (part[..., list(by.axes), np.arange(dim // 2)] for part in (cos, sin))
    gain = float(by.frequencies.gain)
    if gain != 1.0:
        cos, sin = gain * cos, gain * sin
    return cos, -sin if by.clockwise else sin


def _mixed(positions: NDArray[np.integer[Any]], dim: int, of: Told) -> Pair:
    """Return cos and sin of a sum of angles, as the product of what each number turns by."""
    turn = np.ones((*positions.shape[:-1], dim // 2), dtype=complex)
    for number, one in enumerate(of.each):
        cos, sin = cos_sin(positions[..., number], dim, Frequencies(scheme=one))
        turn = turn * (cos + 1j * sin)
    return turn.real, turn.imag


def reached(positions: NDArray[np.integer[Any]], by: Convention) -> NDArray[np.float64]:
    """Return what `speeds` are multiplied by to bound the angles: (..., dim/2), or (..., 1).

    It is the position that a pair follows; where it follows several, their mean by speed.
    """
    size, scheme = np.abs(positions.astype(np.float64)), by.frequencies.scheme
    if not by.axes:
        return size[..., None]
    if not isinstance(scheme, Told):
        return size[..., list(by.axes)]
    rows = np.abs(np.array(scheme.frequencies))
    whole = rows.sum(axis=0)
    return np.asarray((size @ rows) / np.where(whole > 0.0, whole, 1.0))


def speeds(dim: int, of: Frequencies) -> NDArray[np.float64]:
    """Return the frequencies, or the sums of their sizes where a pair follows several numbers."""
    if isinstance(of.scheme, Told):
        return np.asarray(np.abs(np.array(of.scheme.frequencies)).sum(axis=0))
    return oracle.frequencies(dim, of)


@functools.lru_cache(maxsize=128)
def _kept(positions: bytes, kind: str, shape: tuple[int, ...], dim: int, of: Frequencies) -> Pair:
    return oracle.cos_sin(np.frombuffer(positions, kind).reshape(shape), dim, of)
