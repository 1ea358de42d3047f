"""cos and sin of a phase as the sum of two floats, with a bound of the error."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.oracle.phase import Phase
from ropespec.conformance.judge.oracle.table import radians_per_unit, table

__all__ = ["Expansion", "expand"]

_W = radians_per_unit()
# cos r - 1 and (sin r - r) / w as polynomials of t = r / w.
_A1, _A2, _A3 = -(_W**2) / 2, _W**4 / 24, -(_W**6) / 720
_B1, _B2 = -(_W**2) / 6, _W**4 / 120
_SLACK = 8 * 2.0**-53 * _W**2
_LEAST_SLACK = 2.0**-80


class Expansion(NamedTuple):
    """Numbers within `slack` of head + tail.

    Attributes
    ----------
    head, tail : ndarray of float64, shape (2, n)
        For cos and sin.
    slack : ndarray of float64, shape (n,) or (2, n)
        Positive. The sums tail + slack and tail - slack may be rounded: that is allowed for.
    """

    head: NDArray[np.float64]
    tail: NDArray[np.float64]
    slack: NDArray[np.float64]


def expand(phase: Phase) -> Expansion:
    """Cos and sin of a + r, where a is one of the 2048 directions and r the rest of the angle.

    With t = units + part, r = w t, and c, s the cos and sin of a::

        cos(a + r) = c - w s (t + (sin r - r) / w) + c (cos r - 1)
        sin(a + r) = s + w c (t + (sin r - r) / w) + s (cos r - 1)

    Table values and slopes are in two parts, the leading ones multiples of 2^-52. The product of
    the leading slope, 20 bits, and units, 23 bits, is such a multiple too, and exact, and so is its
    sum with the leading value: this is the head. All else is the tail.

    Error bound, for u = 2^-53, |r| <= 2^-9.3 and h = r^2/2 (below 2^-19.6), to first order:

    - t squared (3 roundings), the coefficient, the last sum and product of Horner's scheme and the
      product with a rounded table value (2) are 8 roundings, 8 u h; the terms left out are below
      u h / 100;
    - sin r - r is below h r / 3, its 14 roundings are below 0.01 u h, and the terms left out,
      r^7 / 5040, below 0.04 u h;
    - the sums of the second order with the first, with the value's other part, and with the slack:
      3 u h;
    - what does not shrink with r: the error of the phase is below 2^-85.3 radians. slope * part is
      below 2^-32.3 and rounded twice (sum, product) by 2^-85.3; the other part of the slope, at
      most 2^-53, times t is below 2^-30 and rounded three times (t, sum, product) by 2^-84. Their
      sum is below 2^-29.7 and rounded by 2^-83; in the three sums above that size adds 2^-82.7
      each. The table's own errors are below 2^-100.

    Altogether below 12 u h + 2^-80.2. The slack is 16 u h + 2^-80.

    Parameters
    ----------
    phase : Phase
        n angles.

    Returns
    -------
    Expansion
        Of cos and sin.
    """
    _, units, part = phase
    # The index is never out of range; "clip" saves a copy of the result.
    rows = np.take(table(), phase.cell, axis=1, mode="clip")
    value, tail, slope, slope_rest = rows.reshape(4, 2, units.size)
    head = slope * units
    head += value
    t = units + part
    square = t * t
    cos1 = _A3 * square
    cos1 += _A2
    cos1 *= square
    cos1 += _A1
    cos1 *= square
    sin1 = _B2 * square
    sin1 += _B1
    sin1 *= square
    sin1 *= t

    value *= cos1
    part += sin1
    slope *= part
    t += sin1
    slope_rest *= t
    slope += slope_rest
    slope += value
    tail += slope

    square *= _SLACK
    square += _LEAST_SLACK
    return Expansion(head, tail, square)
