"""Rotated values in eighty digits, rounded once; mpmath belongs to the extra `vectors`."""

import math
from collections.abc import Iterable
from decimal import Decimal, localcontext

import mpmath  # type: ignore[import-untyped]  # publishes no types
import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.precision import SMALLEST, UNIT_ROUNDOFF
from ropespec.conformance.judge.rotation import from_pairs, pairs_of, rest_of
from ropespec.conformance.judge.values import numpy_dtype
from ropespec.spec.convention import Convention

__all__ = ["DIGITS", "next_to_quarter_turns", "rotated", "thetas"]

DIGITS = 80
"""Decimal digits: a position takes 10, and up to 20 more go where cos or sin is nearly zero."""

_CLOSE = mpmath.mpf(10) ** -40
"""What is nearer to the middle between two numbers is not decided by `DIGITS`."""


def thetas(by: Convention, dim: int) -> tuple[Decimal, ...]:
    """Return the frequencies in radians per position, to `DIGITS` digits."""
    with localcontext(prec=DIGITS + 10):
        return by.frequencies.theta(dim)


def next_to_quarter_turns(theta: Decimal, limit: int) -> list[int]:
    """Positions m below a limit with m theta next to a multiple of pi/2.

    These are the denominators m of the convergents n/m of the continued fraction of 2 theta / pi,
    n > 0: no smaller m comes closer to a multiple of pi/2 other than 0.

    Parameters
    ----------
    theta : Decimal
        Radians per position, to `DIGITS` digits.
    limit : int
        Below which positions are.

    Returns
    -------
    list of int
        In rising order; empty if theta is too small.
    """
    with mpmath.workdps(DIGITS + 10):
        ratio = 2 * mpmath.mpf(str(theta)) / mpmath.pi
        numerator, denominator = int(mpmath.floor(mpmath.ldexp(ratio, 250))), 2**250
    found = []
    n, n_before = 1, 0
    m, m_before = 0, 1
    while denominator:
        quotient, remainder = divmod(numerator, denominator)
        n, n_before = quotient * n + n_before, n
        m, m_before = quotient * m + m_before, m
        if m >= limit:
            break
        if n > 0:
            found.append(m)
        numerator, denominator = denominator, remainder
    return found


def rotated(
    x: NDArray[np.generic], positions: NDArray[np.int64], by: Convention, dtypes: Iterable[str]
) -> tuple[NDArray[np.generic], ...]:
    """Rotate x of shape (B, S, H, D), and round each component once to each dtype.

    Parameters
    ----------
    x : ndarray
        Of any floating dtype; taken as it is.
    positions : ndarray of int64
        Of shape (B, S), or (B, S, n) where a token has n numbers.
    by : Convention
        How it rotates.
    dtypes : iterable of str
        Of the results.

    Raises
    ------
    ArithmeticError
        If `DIGITS` digits do not tell to which of two neighbours a value is rounded.
    """
    dim = by.dim(x.shape[-1])
    with mpmath.workdps(DIGITS):
        cos, sin = _tables(positions, by, dim)
        wide = np.frompyfunc(mpmath.mpf, 1, 1)(x.astype(np.float64))
        x1, x2 = pairs_of(wide, by)
        y = from_pairs(x1 * cos - x2 * sin, x1 * sin + x2 * cos, rest_of(wide, by), by)
        return tuple(_rounded(y, dtype) for dtype in dtypes)


def _tables(
    positions: NDArray[np.int64], by: Convention, dim: int
) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """Return cos and sin with their gain, of shape (B, S, 1, dim/2)."""
    follow = by.axes or (0,) * (dim // 2)
    numbers = positions if by.axes else positions[..., None]
    theta = np.array([mpmath.mpf(str(one)) for one in thetas(by, dim)], dtype=object)
    angles = numbers[..., list(follow)].astype(object) * theta
    gain = mpmath.mpf(str(by.frequencies.gain))
    direction = -1 if by.clockwise else 1
    cos, sin = (np.frompyfunc(f, 1, 1)(angles)[..., None, :] for f in (mpmath.cos, mpmath.sin))
    return gain * cos, direction * gain * sin


def _rounded(y: NDArray[np.object_], dtype: str) -> NDArray[np.generic]:
    """Round to nearest, ties to even; a tie is only decided where it is one."""
    kind = numpy_dtype(dtype)
    bits, least = (round(math.log2(one)) for one in (UNIT_ROUNDOFF[dtype], SMALLEST[dtype]))

    def nearest(value: mpmath.mpf) -> float:
        unit = max(mpmath.frexp(value)[1] + bits, least) if value else least
        scaled = mpmath.ldexp(value, -unit)
        whole = mpmath.nint(scaled)
        off = abs(abs(scaled - whole) - mpmath.mpf("0.5"))
        if 0 < off < _CLOSE:
            raise ArithmeticError(f"{DIGITS} digits do not decide how {value} is rounded")
        return float(mpmath.ldexp(whole, unit))

    wide: NDArray[np.generic] = np.frompyfunc(nearest, 1, 1)(y).astype(np.float64).astype(kind)
    return wide
