"""Bounds for laws that hold whatever angle was used: lengths, linearity (clause JDG-5).

An implementation may turn by a slightly wrong angle and still keep every length. So these bounds
leave the angle out of the budget, and see what the angle's share would hide far from zero.
"""

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.budget import Machine, rounding
from ropespec.conformance.judge.precision import Precision
from ropespec.conformance.judge.rotation import from_pairs, pairs_of, rest_of
from ropespec.spec.convention import Convention

__all__ = ["pair_lengths", "rounding_allowed"]

Float = NDArray[np.float64]


def pair_lengths(x: NDArray[np.floating], by: Convention) -> Float:
    """Length of each pair, in float64: hypot(x1, x2)."""
    first, second = pairs_of(x.astype(np.float64), by)
    return np.asarray(np.hypot(first, second))


def rounding_allowed(
    x: NDArray[np.floating], by: Convention, precision: Precision, machine: Machine
) -> Float:
    """Bound the error of R x that is not the angle's, for every component of x.

    Whatever the angle, abs(x1 C) + abs(x2 S) is at most the length r of the pair, times the gain,
    which replaces it in the budget's terms for table, arithmetic and store. The tail is not
    touched.
    """
    exact = x.astype(np.float64)
    radius, gain = np.hypot(*pairs_of(exact, by)), float(by.frequencies.gain)
    bound = rounding(radius, precision, x.dtype.name, machine, gain=gain)
    return from_pairs(bound, bound, np.zeros_like(rest_of(exact, by)), by)
