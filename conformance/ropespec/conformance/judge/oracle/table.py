"""Cos and sin of the 2048 directions k/2048 of a turn, with what the expansion needs of them."""

import functools
import math

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.oracle.exact import pi, sine_cosine

__all__ = ["CELL_BITS", "GRID_BITS", "UNIT_BITS", "radians_per_unit", "table"]

CELL_BITS = 11
"""log2 of the number of directions in a turn."""

UNIT_BITS = 35
"""The rest of the angle is counted in units of 2^-35 of a turn."""

GRID_BITS = 52
"""Leading parts are multiples of 2^-52, so that sums of them up to 2 are exact."""

_BITS = 256  # of the integers the table is made from


@functools.cache
def table() -> NDArray[np.float64]:
    """Eight numbers for each direction a = 2 pi k / 2048.

    With the slopes cos' = -w sin a and sin' = w cos a per unit of angle, w = 2 pi 2^-35, the rows
    are the pairs

    - cos a, sin a, rounded to a multiple of 2^-52,
    - what that rounding left out, at most 2^-53, to a relative 2^-53,
    - the slopes rounded to a multiple of 2^-52: at most 20 bits, since w < 2^-32.3,
    - what that rounding left out, likewise.

    The integers behind them are right to 2^-200. Only an eighth of the turn is computed, the rest
    are reflections.

    Returns
    -------
    ndarray of float64, shape (8, 2048)
        Read-only.
    """
    octant = 1 << (CELL_BITS - 3)
    ends = [sine_cosine(k << (_BITS - CELL_BITS), _BITS) for k in range(octant + 1)]
    sin8 = np.array([_split(sine) for sine, _ in ends]).T
    cos8 = np.array([_split(cosine) for _, cosine in ends]).T
    mirror = slice(octant - 1, 0, -1)
    cos4 = np.concatenate([cos8, sin8[:, mirror]], axis=1)
    sin4 = np.concatenate([sin8, cos8[:, mirror]], axis=1)
    cos = np.concatenate([cos4, -sin4, -cos4, sin4], axis=1)
    sin = np.concatenate([sin4, cos4, -sin4, -cos4], axis=1)
    rows = np.stack(
        [cos[0], sin[0], cos[1], sin[1], -sin[2], cos[2], -sin[3], cos[3]],
    )
    rows.flags.writeable = False
    return rows


@functools.cache
def radians_per_unit() -> float:
    """Return w = 2 pi 2^-35, rounded to float64.

    Returns
    -------
    float
        Radians.
    """
    return pi(_BITS) / (1 << (_BITS + UNIT_BITS - 1))


def _split(value: int) -> tuple[float, float, float, float]:
    """Return value as two floats, and w * value as two floats, the first on the grid."""
    slope = (value * pi(_BITS)) >> (_BITS + UNIT_BITS - 1)
    return *_on_grid(value), *_on_grid(slope)


def _on_grid(value: int) -> tuple[float, float]:
    """Return the nearest multiple of 2^-52 and the rest."""
    step = _BITS - GRID_BITS
    steps = (value + (1 << (step - 1))) >> step
    return math.ldexp(steps, -GRID_BITS), (value - (steps << step)) / (1 << _BITS)
