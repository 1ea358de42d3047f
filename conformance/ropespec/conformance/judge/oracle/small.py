"""cos and sin of small angles, without a detour over turns."""

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.oracle.expansion import Expansion
from ropespec.conformance.judge.oracle.powers import frequencies, scaled_frequencies
from ropespec.spec.convention import Frequencies

__all__ = ["COLUMNS", "SMALL", "TINY", "columns_below", "expand_small", "expand_tiny", "is_below"]

SMALL = 2.0**-5
"""The largest angle of `expand_small`, in radians."""

COLUMNS = 2.0**-8
"""Where `expand_small` leaves so few angles open that it is the fastest way."""

TINY = 2.0**-35
"""The largest angle of `expand_tiny`."""

_LEAST = 2.0**-1020
_32 = np.uint64(32)
_U32 = np.uint64(0xFFFFFFFF)
_SPLITTER = 2.0**27 + 1


def is_below(most: float, m: NDArray[np.uint64], theta: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether m theta is in [2^-1020, most], where sin is an ordinary float and no subnormal one.

    Parameters
    ----------
    most : float
        Radians.
    m : ndarray of uint64, shape (n,)
        Positions.
    theta : ndarray of float64, shape (3, n)
        Columns of `scaled_frequencies`.

    Returns
    -------
    ndarray of bool, shape (n,)
        True where the angle is in this range.
    """
    head, _, scale = theta
    angle = m * head * scale
    below: NDArray[np.bool_] = (angle >= _LEAST) & (angle <= most)
    return below


def columns_below(most: float, m: NDArray[np.uint64], dim: int, of: Frequencies) -> slice:
    """Frequencies at which the angles of all these positions satisfy `is_below`.

    Parameters
    ----------
    most : float
        Radians.
    m : ndarray of uint64, shape (n,)
        Positions, at least one, and none of them zero.
    dim : int
        Even, at least 2.
    of : Frequencies
        Base and scheme.

    Returns
    -------
    slice
        Of the dim/2 frequencies; empty, at their end, where there are none or a scheme leaves
        frequencies in no order.
    """
    half = dim // 2
    smallest, largest = m.min(keepdims=True), m.max(keepdims=True)
    slowest = np.abs(frequencies(dim, of))
    if float(largest[0]) * slowest[-1] > 2 * most or np.any(slowest[1:] > slowest[:-1]):
        return slice(half, half)  # most calls end here, before the frequencies to sixty digits
    theta = scaled_frequencies(dim, of)
    columns = np.flatnonzero(is_below(most, smallest, theta) & is_below(most, largest, theta))
    return slice(columns[0], columns[-1] + 1) if columns.size else slice(half, half)


def expand_small(m: NDArray[np.uint64], theta: NDArray[np.float64]) -> Expansion:
    """Cos and sin / scale of r = m theta by their series at 0.

    r / scale is a + b as `_product` returns them. With r <= 2^-5 and u = 2^-53, and for scale 1
    (otherwise r is below 2^-436, and the series is r itself):

    - sin r = a + (b + r p(r^2)), p between -r^2/6 and 0. The nine roundings of r p, with three of r
      among them, are below 1.5 u r^3, and r^11 / 11! is below 2^-11 u r^3. The sum of b and r p and
      tail +- slack are rounded by 0.34 u r^3 + 2^-76.5 r. Altogether below 2 u r^3 + 2^-75 r. The
      slack is 4 u r^3 + 2^-74 r.
    - cos r = 1 + q(r^2), q between -r^2/2 and 0. The rounding of r counts twice; with the square,
      the last sum and product of Horner's scheme and tail +- slack there are 6 roundings of r^2/2.
      Those before, and r^10 / 10!, are below 2^-7 u r^2. Altogether below 3.1 u r^2. The slack is
      8 u r^2 + 2^-200.

    Parameters
    ----------
    m : ndarray of uint64
        Positions whose angles are in [2^-1020, 2^-5].
    theta : ndarray of float64, shape (3, ...)
        Columns of `scaled_frequencies`, whose rows are broadcast with m.

    Returns
    -------
    Expansion
        Of cos and of sin / scale.
    """
    a, b = _product(m, theta)
    head, tail, slack = np.empty((3, 2, *a.shape))
    head[0], head[1] = 1.0, a
    a += b
    square = a * theta[2]
    square *= square

    p = square * (1 / 362880)
    for coefficient in (-1 / 5040, 1 / 120, -1 / 6):
        p += coefficient
        p *= square
    p *= a
    np.add(p, b, out=tail[1])
    q = np.multiply(square, 1 / 40320, out=tail[0])
    for coefficient in (-1 / 720, 1 / 24, -1 / 2):
        q += coefficient
        q *= square

    np.multiply(square, 2.0**-50, out=slack[0])
    slack[0] += 2.0**-200
    square *= 2.0**-51
    square += 2.0**-74
    np.multiply(square, a, out=slack[1])
    return Expansion(head, tail, slack)


def expand_tiny(m: NDArray[np.uint64], theta: NDArray[np.float64]) -> Expansion:
    """Cos and sin / scale of r = m theta <= 2^-35.

    r / scale is a + b as `_product` returns them. With u = 2^-53:

    - sin r = a + b within r^3 / 6, below 2^-72.5 r. What is wrong with a + b and the rounding of
      tail +- slack are below 2^-74 r. The slack is 2^-71 r, of which a is all but 2^-24.
    - cos r = 1 within r^2 / 2, at most 2^-71. The slack is 2^-70.

    Parameters
    ----------
    m : ndarray of uint64
        Positions whose angles are in [2^-1020, 2^-35].
    theta : ndarray of float64, shape (3, ...)
        Columns of `scaled_frequencies`, whose rows are broadcast with m.

    Returns
    -------
    Expansion
        Of cos and of sin / scale.
    """
    a, b = _product(m, theta)
    head, tail, slack = np.empty((3, 2, *a.shape))
    head[0], head[1] = 1.0, a
    tail[0], tail[1] = 0.0, b
    slack[0] = 2.0**-70
    np.multiply(a, 2.0**-71, out=slack[1])
    return Expansion(head, tail, slack)


def _product(
    m: NDArray[np.uint64], theta: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return m theta / scale as the sum of two floats.

    m and theta are cut after 26 bits. The product a of the leading parts is exact. The rests are
    2^-26 of m and of theta at most, so that b is below 2^-24.9 a; its roundings, of two products
    and their sum, and the product of the rest of m and the tail of theta, left out, are together
    below 2^-76.5 a.
    """
    theta_head, theta_tail, _ = theta
    leading = _leading(theta_head)
    position, left = _cut(m)
    a = position * leading
    b = position * ((theta_head - leading) + theta_tail)
    if left.any():
        b += left * theta_head
    return a, b


def _cut(m: NDArray[np.uint64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cut m into a float of 26 bits and the rest, exactly."""
    high = (m >> _32).astype(np.float64) * 2.0**32
    low = (m & _U32).astype(np.float64)
    position = _leading(high + low)
    return position, (high - position) + low


def _leading(a: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round a to 26 bits (Veltkamp 1968)."""
    big = a * _SPLITTER
    return big - (big - a)
