"""theta_i and theta_i / (2 pi), to any number of digits."""

import functools
import itertools
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.oracle.exact import pi
from ropespec.spec.convention import Frequencies

__all__ = ["backwards", "frequencies", "scaled_frequencies", "turns"]

_DIGITS = 60
_PER_BIT = 0.30103  # log10(2), rounded up
_RATIONAL = 2000
"""Digits beyond which a frequency that does not round one way is a number that ends."""
_LOST = 8  # digits that `Scheme.theta` may lose


def frequencies(dim: int, of: Frequencies) -> NDArray[np.float64]:
    """theta_i, correctly rounded to float64 (FREQ-2).

    Parameters
    ----------
    dim : int
        Even, at least 2.
    of : Frequencies
        Base and scheme.

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Radians per position; read-only.
    """
    return _rounded(dim, of)


@functools.lru_cache(maxsize=256)
def backwards(dim: int, of: Frequencies) -> NDArray[np.intp]:
    """Which pairs have a negative frequency; the functions below return sizes."""
    return np.flatnonzero(_rounded(dim, of) < 0)


@functools.lru_cache(maxsize=256)
def scaled_frequencies(dim: int, of: Frequencies) -> NDArray[np.float64]:
    """theta_i as (head + tail) * scale, right to a relative 2^-105.

    The scale is 1, or 2^-500 where theta_i is below 2^-500, so that neither the tail nor products
    with it leave the range of float64.

    Parameters
    ----------
    dim : int
        Even, at least 2.
    of : Frequencies
        Base and scheme.

    Returns
    -------
    ndarray of float64, shape (3, dim/2)
        Head, tail and scale; read-only.
    """
    tiny = 2.0**-500
    columns = []
    with localcontext(Context(prec=_DIGITS, rounding=ROUND_HALF_EVEN)):
        for theta in map(abs, of.theta(dim)):
            scale = tiny if theta < Decimal(tiny) else 1.0
            scaled = theta / Decimal(scale)
            head = float(scaled)
            columns.append((head, float(scaled - Decimal(head)), scale))
    table = np.array(columns).T.copy()
    table.flags.writeable = False
    return table


@functools.lru_cache(maxsize=256)
def turns(dim: int, of: Frequencies, bits: int) -> tuple[int, ...]:
    """theta_i / (2 pi) in units of 2^-bits of a turn, each within 2 units.

    Parameters
    ----------
    dim : int
        Even, at least 2.
    of : Frequencies
        Base and scheme.
    bits : int
        The number of bits after the binary point.

    Returns
    -------
    tuple of int
        One number for each of the dim/2 frequencies.
    """
    digits = int(bits * _PER_BIT) + 30
    with localcontext(Context(prec=digits, rounding=ROUND_HALF_EVEN)):
        theta = of.theta(dim)
    with localcontext(Context(prec=digits, rounding=ROUND_FLOOR)):
        # 2^bits / (2 pi) = 2^bits * 2^(more - 1) / (pi * 2^more)
        more = bits + 64
        unit = Decimal(2 ** (bits + more - 1)) / Decimal(pi(more))
        return tuple(int(abs(one) * unit) for one in theta)


@functools.lru_cache(maxsize=256)
def _rounded(dim: int, of: Frequencies) -> NDArray[np.float64]:
    """theta_i as floats: more digits until both ends of the error interval round alike.

    This ends, because theta_i is never halfway between two floats. Unscaled it would be k / 2^j
    with an odd k of 54 bits; theta_i^(dim/2) = base^-i makes base^i k^(dim/2) a power of two, and
    k = 1. A frequency that is given, or a sum of such, may be halfway, and has an end itself.
    """
    for digits in itertools.count(_DIGITS, _DIGITS):
        with localcontext(Context(prec=digits, rounding=ROUND_HALF_EVEN)):
            error = Decimal(10) ** (_LOST - digits)
            exact = of.theta(dim)
            low = [float(theta * (1 - error)) for theta in exact]
            high = [float(theta * (1 + error)) for theta in exact]
        if low == high:
            break
        if digits > _RATIONAL:
            low = [float(theta) for theta in exact]
            break
    rounded = np.array(low)
    rounded.flags.writeable = False
    return rounded
