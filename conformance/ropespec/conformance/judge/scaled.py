"""What a scheme adds to the rounding of frequencies, in unit roundoffs (clause JDG-2).

theta_i itself is off by k = 1 + P + 3 e_i roundings: P of the power, and e_i = -ln theta_i of the
exponent. A scheme makes omega_i of it, step by step:

* theta / s: s is rounded and divided by. theta / e of LongRoPE: e, a product, a reciprocal.
* base r^(d/(d-2)): the ratio r off by q, the exponent, the power, the product, and the new base.
  What the base is off by counts 2i/d times, so r counts 2i/(d-2) times, which is at most 1.
  Of r = s l/L - (s-1) the two terms have 3 and 2 roundings, and the difference cancels.
* a blend w theta + (1-w) theta/s: five roundings of what is positive, and where w is off by D, it
  moves omega by D (theta - theta/s): relative to omega that is up to s - 1 times as much.

w = (v - a)/(b - a), clipped, is off where the line is not flat: by what v, a and b are off by, over
b - a, and three roundings. For the turns of a pair, v = L theta / 2 pi, that is (k + 4) v + a + b;
for its index the ends may be off, if they are not whole numbers.
"""

import functools
import math

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge import oracle
from ropespec.spec.axes import Anew, Told
from ropespec.spec.convention import Frequencies
from ropespec.spec.scaling import (
    DynamicNtk,
    Llama3,
    LongRope,
    NtkAware,
    NtkByParts,
    PaperDynamicNtk,
    Yarn,
)

__all__ = ["roundings"]

Float = NDArray[np.float64]
_U = 2.0**-24
"""A blend may be off in float32; float64 loses fewer units, and no more."""


@functools.lru_cache(maxsize=256)
def roundings(dim: int, of: Frequencies, power: float) -> Float:
    """Return by how many unit roundoffs each omega_i may be further off than a theta_i.

    Parameters
    ----------
    dim : int
        How many components rotate.
    of : Frequencies
        Base and scheme.
    power : float
        `Machine.power`.

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Zero where nothing is scaled.
    """
    scheme, theta = of.scheme, oracle.frequencies(dim, Frequencies(of.base))
    match scheme:
        case None:
            return np.zeros(dim // 2)
        case Anew():
            return _anew(scheme, of.base, power)
        case Told(frequencies):
            return np.full(dim // 2, 2.0 + len(frequencies))  # a product and a sum for each
        case NtkAware(factor):
            return _stretched(dim, factor, 1.0, power)
        case PaperDynamicNtk(original, length):
            return _stretched(dim, max(length / original, 1.0), 1.0, power)
        case DynamicNtk(factor, original, length):
            return _dynamic(dim, factor, max(length / original, 1.0), power)
        case LongRope():
            return _divided(theta, oracle.frequencies(dim, of))
        case Yarn():
            share, off = _by_index(dim, of.base, scheme)
        case Llama3(_, low, high, length) | NtkByParts(_, length, low, high):
            share, off = _by_turns(theta, length, (low, high), power)
        case _:
            return np.full(dim // 2, 2.0)
    return _blended(scheme.factor, share, off)


def _anew(scheme: Anew, base: float, power: float) -> Float:
    of = Frequencies(base, scheme.scheme)
    return np.concatenate([roundings(2 * pairs, of, power) for pairs in scheme.sections if pairs])


def _divided(theta: Float, omega: Float) -> Float:
    """Count from omega, which may be faster than theta, and so have a smaller exponent."""
    return np.asarray(3 + 3 * np.log(np.maximum(omega / theta, 1.0)))


def _dynamic(dim: int, factor: float, longer: float, power: float) -> Float:
    grown = factor * longer
    ratio = grown - (factor - 1)
    return _stretched(dim, ratio, 1 + (3 * grown + 2 * (factor - 1)) / ratio, power)


def _stretched(dim: int, ratio: float, off: float, power: float) -> Float:
    counted = np.arange(dim // 2) / (dim / 2 - 1) if dim > 2 else np.zeros(1)
    return np.asarray(3 + power + counted * (off + math.log(ratio)))


def _by_index(dim: int, base: float, scheme: Yarn) -> tuple[Float, Float]:
    """Return the share that is divided, before it is clipped, and what it is off by."""
    index = np.arange(dim // 2, dtype=np.float64)
    scale = dim / (2 * math.log(base))
    turns = np.array([scheme.beta_fast, scheme.beta_slow])
    ends = scale * np.log(scheme.original_length / (math.tau * turns))
    off = 4 * scale + 4 * np.abs(ends)
    if scheme.truncate:
        ends, off = np.array([np.floor(ends[0]), np.ceil(ends[1])]), np.zeros(2)
    low, high = max(ends[0], 0.0), min(ends[1], dim - 1.0)
    width = high - low or 1e-3
    steep = np.abs((index - low) / width)
    moved = (off.max() * (1 + steep) + (index + low) * (not scheme.truncate)) / abs(width)
    return (index - low) / width, moved + 3 * steep


def _by_turns(
    theta: Float, length: int, ends: tuple[float, float], power: float
) -> tuple[Float, Float]:
    low, high = ends
    if low == high:  # a step: nothing is blended
        return np.full(len(theta), 2.0), np.zeros(len(theta))
    turns = length * theta / math.tau
    known = 1 + power + 3 * -np.log(theta)
    share = (turns - low) / (high - low)
    steep = (low + high) * np.abs(share) / (high - low)
    return share, ((known + 4) * turns + low) / (high - low) + steep + 3 * np.abs(share)


def _blended(factor: float, share: Float, off: Float) -> Float:
    """Return five roundings, and what the share may be off by within its ends.

    A share of what is divided or one of what is kept: that of the other is 1 less it, so both move
    by as much; the difference is two roundings more.
    """
    around = np.clip(share - off * _U, 0, 1), np.clip(share + off * _U, 0, 1)
    moved = (around[1] - around[0]) / _U + 2 * (around[1] > around[0])
    return np.asarray(5 + moved * (factor - 1))
