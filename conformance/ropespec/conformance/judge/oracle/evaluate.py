"""cos and sin in blocks that fit the cache, and what is left to decide afterwards."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.oracle import exact
from ropespec.conformance.judge.oracle.expansion import Expansion, expand
from ropespec.conformance.judge.oracle.phase import limbs, phase
from ropespec.conformance.judge.oracle.powers import (
    backwards,
    frequencies,
    scaled_frequencies,
    turns,
)
from ropespec.conformance.judge.oracle.small import (
    COLUMNS,
    SMALL,
    TINY,
    columns_below,
    expand_small,
    expand_tiny,
    is_below,
)
from ropespec.spec.convention import Frequencies

__all__ = ["cos_sin"]

_BLOCK = 8192  # angles; what is alive at a time takes 1.5 megabytes
_Series = Callable[[NDArray[np.uint64], NDArray[np.float64]], Expansion]
_NONE = np.zeros(0, dtype=np.intp)


class _Angles(NamedTuple):
    """The angles m theta_i of one call; m is positive."""

    m: NDArray[np.uint64]
    dim: int
    of: Frequencies


def cos_sin(
    positions: NDArray[np.integer], dim: int, of: Frequencies
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cos and sin of m * theta_i, correctly rounded (FREQ-9).

    Parameters
    ----------
    positions : ndarray of integers, any shape
        Below 2^63 in absolute value.
    dim : int
        Even, at least 2.
    of : Frequencies
        Base and scheme.

    Returns
    -------
    tuple of ndarray of float64
        cos and sin, of shape positions.shape + (dim/2,).
    """
    positions = np.asarray(positions)
    if positions.dtype.kind == "u":
        m, negative = positions.astype(np.uint64).ravel(), _NONE
    else:
        signed = positions.astype(np.int64).ravel()
        m, negative = np.abs(signed).view(np.uint64), np.flatnonzero(signed < 0)
    zero = np.flatnonzero(m == 0)
    m[zero] = 1  # in place of the one exact angle, which is filled in at the end
    values = np.empty((2, m.size, dim // 2))
    if m.size:
        _evaluate(_Angles(m, dim, of), values)
    cos, sin = values
    cos[zero], sin[zero] = 1.0, 0.0
    if negative.size:
        sin[negative] *= -1
    if (turned := backwards(dim, of)).size:
        sin[:, turned] *= -1
    shape = (*positions.shape, dim // 2)
    return cos.reshape(shape), sin.reshape(shape)


def _evaluate(angles: _Angles, values: NDArray[np.float64]) -> None:
    """Fill values, of shape (2, n, dim/2)."""
    small = columns_below(COLUMNS, *angles)
    tiny = columns_below(TINY, *angles) if small.start < small.stop else small
    undecided = [
        _by_table(angles, values, slice(0, small.start)),
        _by_series(angles, values, slice(small.start, min(small.stop, tiny.start)), expand_small),
        _by_series(angles, values, tiny, expand_tiny),
        _by_table(angles, values, slice(small.stop, angles.dim // 2)),
    ]
    places = np.concatenate(undecided)
    turning = frequencies(angles.dim, angles.of) != 0.0
    places = places[turning[places % turning.size]]
    for start in range(0, places.size, _BLOCK):
        _decide(angles, values.reshape(2, -1), places[start : start + _BLOCK])
    values[0, :, ~turning], values[1, :, ~turning] = 1.0, 0.0


def _by_table(angles: _Angles, values: NDArray[np.float64], columns: slice) -> NDArray[np.intp]:
    """Fill these columns by `expand`, and return the places that are not decided."""
    width = columns.stop - columns.start
    if not width:
        return _NONE
    frequency = _limbs(angles.dim, angles.of)[:, None, columns]
    # One frequency for each angle of a block: products of equal shapes are the fastest.
    frequency = np.repeat(frequency, _rows(angles, width), axis=1).reshape(4, -1)
    wide = bool(angles.m.max() >> np.uint64(32))

    def expansion(m: NDArray[np.uint64]) -> Expansion:
        spread = np.repeat(m, width)
        found = expand(phase(spread, frequency[:, : spread.size], wide=wide))
        return Expansion(*(part.reshape(-1, m.size, width) for part in found))

    return _fill(angles, values, columns, expansion)


def _by_series(
    angles: _Angles, values: NDArray[np.float64], columns: slice, series: _Series
) -> NDArray[np.intp]:
    """Fill these columns by a series for small angles; return the places that are not decided."""
    if columns.start == columns.stop:
        return _NONE
    theta = scaled_frequencies(angles.dim, angles.of)[:, columns]
    undecided = _fill(angles, values, columns, lambda m: series(m[:, None], theta))
    values[1, :, columns] *= theta[2]
    return undecided


def _fill(
    angles: _Angles,
    values: NDArray[np.float64],
    columns: slice,
    expansion: Callable[[NDArray[np.uint64]], Expansion],
) -> NDArray[np.intp]:
    """Fill these columns block by block, and return the places that are not decided."""
    rows = _rows(angles, columns.stop - columns.start)
    undecided = [_NONE]
    for start in range(0, angles.m.size, rows):
        block = slice(start, start + rows)
        parted = _round(expansion(angles.m[block]), values[:, block, columns])
        if parted.size:
            row, column = np.divmod(parted, columns.stop - columns.start)
            undecided.append((row + start) * (angles.dim // 2) + column + columns.start)
    return np.concatenate(undecided)


def _rows(angles: _Angles, width: int) -> int:
    """Return how many positions a block has, for so many frequencies."""
    return min(angles.m.size, max(1, _BLOCK // width))


def _round(expansion: Expansion, values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Round both ends of the interval; return the places where they part (Ziv's test).

    Rounding is monotonic: where both ends give one float, each number between them does.
    """
    head, tail, slack = expansion
    high = tail + slack
    high += head
    values[...] = high
    tail -= slack
    tail += head
    parted = high != tail
    if not parted.any():
        return _NONE
    return np.flatnonzero(parted[0] | parted[1])


def _decide(angles: _Angles, values: NDArray[np.float64], places: NDArray[np.intp]) -> None:
    """Replace the values at these places, of shape (2, n dim/2), by ones that are decided."""
    _, dim, of = angles
    m, index = angles.m[places // (dim // 2)], places % (dim // 2)
    pair = np.empty((2, places.size))
    left = _round(expand(phase(m, _limbs(dim, of)[:, index], wide=True)), pair)
    values[:, places] = pair

    places, m, index = places[left], m[left], index[left]
    theta = scaled_frequencies(dim, of)[:, index]
    small = np.flatnonzero(is_below(SMALL, m, theta))
    pair = np.empty((2, small.size))
    left = _round(expand_small(m[small], theta[:, small]), pair)
    pair[1] *= theta[2, small]
    values[:, places[small]] = pair

    bits_to_turns = functools.partial(turns, dim, of)
    decided = np.delete(small, left)
    for j in np.delete(np.arange(places.size), decided):
        values[:, places[j]] = exact.rounded(int(m[j]), bits_to_turns, int(index[j]))


@functools.lru_cache(maxsize=256)
def _limbs(dim: int, of: Frequencies) -> NDArray[np.uint64]:
    """`limbs`, kept."""
    return limbs(dim, of)
