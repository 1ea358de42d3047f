"""Positions to verify the oracle at, and theta_i to a hundred digits, from mpmath."""

from decimal import Decimal

import mpmath  # type: ignore[import-untyped]  # publishes no types
import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.vectors import exact

__all__ = ["DIGITS", "next_to_quarter_turns", "positions", "theta"]

DIGITS = 100
"""Decimal digits: m takes 19, and up to 20 more go where cos or sin is nearly zero."""

_LIMIT = 2**63


def theta(dim: int, base: float, index: int) -> mpmath.mpf:
    """theta_i = base^(-2i/dim) in the precision mpmath is set to.

    Parameters
    ----------
    dim : int
        Even, at least 2.
    base : float
        Above 1.
    index : int
        Which frequency, below dim/2.

    Returns
    -------
    mpmath.mpf
        Radians per position.
    """
    return mpmath.power(mpmath.mpf(base), mpmath.mpf(-2 * index) / dim)


def next_to_quarter_turns(dim: int, base: float, index: int) -> list[int]:
    """Positions m below 2^63 with m theta_i next to a multiple of pi/2, as for the vectors.

    Parameters
    ----------
    dim : int
        Even, at least 2.
    base : float
        Above 1.
    index : int
        Which frequency, below dim/2.

    Returns
    -------
    list of int
        In rising order; empty if theta_i is too small.
    """
    with mpmath.workdps(DIGITS):
        told = mpmath.nstr(theta(dim, base, index), DIGITS)
    return exact.next_to_quarter_turns(Decimal(told), _LIMIT)


def positions(rng: np.random.Generator, count: int, hard: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of every size and both signs.

    Parameters
    ----------
    rng : numpy.random.Generator
        The source of the random ones.
    count : int
        How many.
    hard : ndarray of int64
        Chosen positions; at most half of the result is taken from them.

    Returns
    -------
    ndarray of int64, shape (count,)
        The ends of the range and numbers around powers of two, the chosen ones, and random ones.
    """
    ends = [0, 1, -1, _LIMIT - 1, 1 - _LIMIT]
    ends += [2**k + step for k in (2, 8, 16, 24, 31, 32, 33, 48, 53, 62) for step in (-1, 0, 1)]
    chosen = rng.permutation(hard)[: count // 2]
    random = rng.integers(0, _LIMIT, count, dtype=np.int64) >> rng.integers(0, 63, count)
    every = np.concatenate([rng.permutation(ends)[: count // 4], chosen, random])[:count]
    return np.asarray(every * rng.choice([-1, 1], count), dtype=np.int64)
