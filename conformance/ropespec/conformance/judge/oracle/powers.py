"""theta_i = base^(-2i/dim) and theta_i / (2 pi), to any number of digits."""

import functools
import itertools
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.oracle.exact import pi

__all__ = ["frequencies", "scaled_frequencies", "turns"]

_DIGITS = 60
_PER_BIT = 0.30103  # log10(2), rounded up


def frequencies(dim: int, base: float) -> NDArray[np.float64]:
    """theta_i = base^(-2i/dim), correctly rounded to float64 (FREQ-2).

    Parameters
    ----------
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Radians per position.
    """
    return np.array(_rounded(dim, float(base)))


@functools.lru_cache(maxsize=256)
def scaled_frequencies(dim: int, base: float) -> NDArray[np.float64]:
    """theta_i as (head + tail) * scale, right to a relative 2^-105.

    The scale is 1, or 2^-500 where theta_i is below 2^-500, so that neither the tail nor products
    with it leave the range of float64.

    Parameters
    ----------
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    ndarray of float64, shape (3, dim/2)
        Head, tail and scale; read-only.
    """
    tiny = 2.0**-500
    columns = []
    with localcontext(Context(prec=_DIGITS, rounding=ROUND_HALF_EVEN)):
        for theta in _powers(dim, base, _DIGITS):
            scale = tiny if theta < Decimal(tiny) else 1.0
            scaled = theta / Decimal(scale)
            head = float(scaled)
            columns.append((head, float(scaled - Decimal(head)), scale))
    table = np.array(columns).T.copy()
    table.flags.writeable = False
    return table


@functools.lru_cache(maxsize=256)
def turns(dim: int, base: float, bits: int) -> tuple[int, ...]:
    """theta_i / (2 pi) in units of 2^-bits of a turn, each within 2 units.

    Parameters
    ----------
    dim : int
        Even, at least 2.
    base : float
        Above 1.
    bits : int
        The number of bits after the binary point.

    Returns
    -------
    tuple of int
        One number for each of the dim/2 frequencies.
    """
    digits = int(bits * _PER_BIT) + 30
    with localcontext(Context(prec=digits, rounding=ROUND_FLOOR)):
        # 2^bits / (2 pi) = 2^bits * 2^(more - 1) / (pi * 2^more)
        more = bits + 64
        unit = Decimal(2 ** (bits + more - 1)) / Decimal(pi(more))
        return tuple(int(theta * unit) for theta in _powers(dim, base, digits))


@functools.lru_cache(maxsize=256)
def _rounded(dim: int, base: float) -> tuple[float, ...]:
    """theta_i as floats: more digits until both ends of the error interval round alike.

    This ends, because theta_i is never halfway between two floats. It would be k / 2^j with an odd
    k of 54 bits; theta_i^(dim/2) = base^-i makes base^i k^(dim/2) a power of two, and k = 1.
    """
    for digits in itertools.count(_DIGITS, _DIGITS):
        with localcontext(Context(prec=digits, rounding=ROUND_HALF_EVEN)):
            error = _relative_error(dim, digits)
            exact = _powers(dim, base, digits)
            low = tuple(float(theta * (1 - error)) for theta in exact)
            high = tuple(float(theta * (1 + error)) for theta in exact)
        if low == high:
            break
    return low


def _relative_error(dim: int, digits: int) -> Decimal:
    """Bound the relative error of `_powers`.

    One rounding to p digits costs e = 10^(1-p)/2. The exponent -2 ln(base)/dim has three, and i
    times it is below 710 in size, so the exponent of theta_i is within 2200 e; `exp` and the
    product of each of the i < dim/2 steps cost 2 e.
    """
    return Decimal(2200 + dim) * Decimal(10) ** (1 - digits)


def _powers(dim: int, base: float, digits: int) -> tuple[Decimal, ...]:
    """theta_i as the powers of theta_1, each from the one before."""
    with localcontext(Context(prec=digits, rounding=ROUND_HALF_EVEN)):
        step = (-2 * Decimal(base).ln() / dim).exp()
        return tuple(
            itertools.accumulate(
                itertools.repeat(step, dim // 2 - 1), lambda a, b: a * b, initial=Decimal(1)
            )
        )
