"""cos and sin in blocks that fit the cache, and what is left to decide afterwards."""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.oracle import exact
from ropespec.conformance.judge.oracle.expansion import Expansion, expand
from ropespec.conformance.judge.oracle.phase import limbs, phase
from ropespec.conformance.judge.oracle.powers import scaled_frequencies, turns
from ropespec.conformance.judge.oracle.small import expand_small, is_small

__all__ = ["cos_sin"]

_BLOCK = 6144  # angles; what is alive at a time takes about a megabyte
_NONE = np.zeros(0, dtype=np.intp)


class _Angles(NamedTuple):
    """The angles m theta_i of one call; m is not negative."""

    m: NDArray[np.uint64]
    dim: int
    base: float


def cos_sin(
    positions: NDArray[np.integer], dim: int, base: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cos and sin of m * base^(-2i/dim), correctly rounded (FREQ-9).

    Parameters
    ----------
    positions : ndarray of integers, any shape
        Below 2^63 in absolute value.
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    tuple of ndarray of float64
        cos and sin, of shape positions.shape + (dim/2,).
    """
    positions = np.asarray(positions)
    if positions.dtype.kind == "u":
        angles = _Angles(positions.astype(np.uint64).ravel(), dim, float(base))
        negative = _NONE
    else:
        signed = positions.astype(np.int64).ravel()
        angles = _Angles(np.abs(signed).view(np.uint64), dim, float(base))
        negative = np.flatnonzero(signed < 0)
    half = dim // 2
    values = np.empty((2, angles.m.size * half))
    undecided = _evaluate(angles, values)
    for start in range(0, undecided.size, _BLOCK):
        _decide(angles, values, undecided[start : start + _BLOCK])
    cos, sin = values.reshape(2, -1, half)
    if negative.size:
        sin[negative] *= -1
    return cos.reshape(*positions.shape, half), sin.reshape(*positions.shape, half)


def _evaluate(angles: _Angles, values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Fill values block by block, and return the places that are not decided."""
    m, dim, base = angles
    half = dim // 2
    rows = min(m.size, max(1, _BLOCK // half))
    if not rows:
        return _NONE
    frequency = _limbs(dim, base)
    # One frequency for each angle of a block: products of equal shapes are the fastest.
    frequency = np.repeat(frequency[:, None], rows, axis=1).reshape(4, rows * half)
    wide = bool(m.max() >> np.uint64(32))
    undecided = []
    for start in range(0, m.size, rows):
        block = np.repeat(m[start : start + rows], half)
        place = slice(start * half, start * half + block.size)
        expansion = expand(phase(block, frequency[:, : block.size], wide=wide))
        open_ = _round(expansion, values[:, place])
        if open_.size:
            undecided.append(open_ + place.start)
    return np.concatenate(undecided) if undecided else _NONE


def _round(expansion: Expansion, values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Round both ends of the interval; return the places where they part (Ziv's test).

    Rounding is monotonic: where both ends give one float, each number between them does.
    """
    head, tail, slack = expansion
    np.add(tail, slack, out=values)
    values += head
    tail -= slack
    tail += head
    parted = values != tail
    if not parted.any():
        return _NONE
    return np.flatnonzero(parted[0] | parted[1])


def _decide(angles: _Angles, values: NDArray[np.float64], places: NDArray[np.intp]) -> None:
    """Replace the values at these places by ones that are decided."""
    row, index = np.divmod(places, angles.dim // 2)
    m = angles.m[row]
    zero = m == 0
    values[0, places[zero]] = 1.0
    values[1, places[zero]] = 0.0

    scaled = scaled_frequencies(angles.dim, angles.base)[:, index]
    small = is_small(m, scaled)
    if small.any():
        pair = np.empty((2, np.count_nonzero(small)))
        still_open = _round(expand_small(m[small], scaled[:, small]), pair)
        pair[1] *= scaled[2, small]
        values[:, places[small]] = pair
        small[np.flatnonzero(small)[still_open]] = False

    bits_to_turns = functools.partial(turns, angles.dim, angles.base)
    for j in np.flatnonzero(~(zero | small)):
        values[:, places[j]] = exact.rounded(int(m[j]), bits_to_turns, int(index[j]))


@functools.lru_cache(maxsize=256)
def _limbs(dim: int, base: float) -> NDArray[np.uint64]:
    """`limbs`, kept."""
    return limbs(dim, base)
