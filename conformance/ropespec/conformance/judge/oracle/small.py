"""cos and sin of small angles, without a detour over turns."""

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.oracle.expansion import Expansion

__all__ = ["expand_small", "is_small"]

_LEAST, _MOST = 2.0**-1000, 2.0**-10  # radians
_EXACT = np.uint64(1 << 53)
_SPLITTER = 2.0**27 + 1


def is_small(m: NDArray[np.uint64], theta: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether `expand_small` may be used: m exact as a float, m theta in [2^-1000, 2^-10].

    Parameters
    ----------
    m : ndarray of uint64, shape (n,)
        Positions.
    theta : ndarray of float64, shape (3, n)
        Columns of `scaled_frequencies`.

    Returns
    -------
    ndarray of bool, shape (n,)
        True where the angle is small.
    """
    head, _, scale = theta
    angle = m * head * scale
    small: NDArray[np.bool_] = (m < _EXACT) & (angle >= _LEAST) & (angle <= _MOST)
    return small


def expand_small(m: NDArray[np.uint64], theta: NDArray[np.float64]) -> Expansion:
    """Cos and sin / scale of r = m theta by their series at 0.

    r / scale is a float plus a tail, right to a relative 2^-104. With r <= 2^-10 and u = 2^-53, and
    for scale 1 (otherwise r is below 2^-440, and the series is r itself):

    - sin r = r + (tail + r p(r^2)), p below 2^-22.5. The eight roundings of r p, those of its sum
      with the tail and of tail +- slack, the factor cos r left out of the tail (2^-53 * 2^-21) and
      the terms left out (2^-98) are together below 2^-71.8 r. The slack is 2^-71 r.
    - cos r = 1 + q(r^2), q between -r^2/2 and 0. The tail left out of r^2, the square, the last sum
      and product of Horner's scheme and tail +- slack are at most 7 roundings of r^2/2, which is
      below 2^-51 r^2. The slack is 2^-50 r^2 + 2^-200.

    Parameters
    ----------
    m : ndarray of uint64, shape (n,)
        Positions for which `is_small` holds.
    theta : ndarray of float64, shape (3, n)
        Columns of `scaled_frequencies`.

    Returns
    -------
    Expansion
        Of cos and of sin / scale.
    """
    head, tail, scale = theta
    position = m.astype(np.float64)
    r = position * head
    rest = _product_error(position, head, r) + position * tail
    square = (r * scale) ** 2
    sine = r * (square * (-1 / 6 + square * (1 / 120 - square * (1 / 5040))))
    cosine = square * (-1 / 2 + square * (1 / 24 - square * (1 / 720)))
    return Expansion(
        np.stack([np.ones_like(r), r]),
        np.stack([cosine, rest + sine]),
        np.stack([2.0**-50 * square + 2.0**-200, 2.0**-71 * r]),
    )


def _product_error(
    a: NDArray[np.float64], b: NDArray[np.float64], product: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a * b - product, exactly (Dekker 1971), without a fused multiply-add."""
    a1, a0 = _halves(a)
    b1, b0 = _halves(b)
    error: NDArray[np.float64] = ((a1 * b1 - product) + a1 * b0 + a0 * b1) + a0 * b0
    return error


def _halves(a: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Split a into two numbers of 26 bits (Veltkamp 1968)."""
    big = _SPLITTER * a
    high = big - (big - a)
    return high, a - high
