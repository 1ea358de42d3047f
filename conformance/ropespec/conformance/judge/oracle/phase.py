"""m * theta_i / (2 pi) modulo one turn, exact in integers: a direction and the rest."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.oracle.powers import turns
from ropespec.conformance.judge.oracle.table import CELL_BITS, UNIT_BITS
from ropespec.spec.convention import Frequencies

__all__ = ["LIMB_BITS", "Phase", "limbs", "phase"]

LIMB_BITS = 160
"""A frequency has 160 bits after the binary point of a turn: one limb of 64 and three of 32."""

_32 = np.uint64(32)
_U32 = np.uint64(0xFFFFFFFF)
_CELL_SHIFT = np.uint64(64 - CELL_BITS)
_HALF_CELL = np.uint64(1 << (63 - CELL_BITS))
_CELL_LEFT = np.uint64(CELL_BITS)
_LOW_BITS = 64 - UNIT_BITS  # of the leading 64, below the unit of the rest
_UNIT_SHIFT = np.int64(CELL_BITS + _LOW_BITS)
_LOW_MASK = np.uint64((1 << _LOW_BITS) - 1)
_LOW_SCALE = 2.0 ** (UNIT_BITS - 96)


class Phase(NamedTuple):
    """An angle as cell / 2048 + (units + part) * 2^-35 of a turn.

    Attributes
    ----------
    cell : ndarray of intp
        The nearest of the 2048 directions.
    units : ndarray of float64
        Integers, at most 2^23 in absolute value.
    part : ndarray of float64
        From 0 to 1, within 2^-53.
    """

    cell: NDArray[np.intp]
    units: NDArray[np.float64]
    part: NDArray[np.float64]


def limbs(dim: int, of: Frequencies) -> NDArray[np.uint64]:
    """theta_i / (2 pi) modulo one turn with 160 bits, each within 2 units of the last one.

    Parameters
    ----------
    dim : int
        Even, at least 2.
    of : Frequencies
        Base and scheme.

    Returns
    -------
    ndarray of uint64, shape (4, dim/2)
        Bits 1 to 64 of a turn, 65 to 96, 97 to 128 and 129 to 160.
    """
    fixed = turns(dim, of, LIMB_BITS)
    mask = 0xFFFFFFFF
    rows = [[(value >> 96) & 0xFFFFFFFFFFFFFFFF for value in fixed]]
    rows += [[(value >> shift) & mask for value in fixed] for shift in (64, 32, 0)]
    return np.array(rows, dtype=np.uint64)


def phase(m: NDArray[np.uint64], frequency: NDArray[np.uint64], *, wide: bool) -> Phase:
    """Reduce m theta / (2 pi) modulo one turn, to within 2^-88 of a turn.

    The product is computed modulo one turn in units of 2^-96, where it is too small by at most 5
    units: m < 2^64 times the rest of theta beyond 160 bits is 2 units of either sign, and two or
    three products are cut off. What lies below the unit of the rest has 61 bits, and becomes a
    float with an error of at most 2^-90 of a turn.

    Parameters
    ----------
    m : ndarray of uint64, shape (n,)
        Positions.
    frequency : ndarray of uint64, shape (4, n)
        `limbs`, one column for each position.
    wide : bool
        Whether some position is 2^32 or above; if not, half of the work is left out.

    Returns
    -------
    Phase
        Three arrays of shape (n,).
    """
    leading, third, fourth, fifth = frequency
    high = m * leading
    m0 = m & _U32 if wide else m
    middle = m0 * third
    low = m0 * fourth
    low >>= _32
    if wide:
        m1 = m >> _32
        high += m1 * third
        high += middle >> _32
        middle &= _U32
        middle += low
        crossed = m1 * fourth
        high += crossed >> _32
        crossed &= _U32
        middle += crossed
        np.multiply(m1, fifth, out=low)
        low >>= _32
    middle += low
    np.right_shift(middle, _32, out=low)
    high += low
    middle &= _U32
    return _split(high, middle)


def _split(high: NDArray[np.uint64], low: NDArray[np.uint64]) -> Phase:
    """Take the fraction of a turn high * 2^-64 + low * 2^-96 apart."""
    cell = high + _HALF_CELL
    cell >>= _CELL_SHIFT
    # Shifting the number of the cell out to the left leaves the signed distance to its centre.
    units = ((high << _CELL_LEFT).view(np.int64) >> _UNIT_SHIFT).astype(np.float64)
    high &= _LOW_MASK
    high <<= _32
    high |= low
    part = high.astype(np.float64)
    part *= _LOW_SCALE
    return Phase(cell.view(np.int64).astype(np.intp, copy=False), units, part)
