"""Frequencies, angles, and cos and sin by exact phase (FREQ-2, FREQ-7, FREQ-9)."""

import math

from ropespec.backends.phase import turns
from ropespec.backends.xp import Array, Dtype, Namespace

__all__ = ["angles", "cos_sin", "inv_freq", "phase"]

RADIANS = math.ldexp(math.tau, -64)
"""Radians in one unit of phase, a 2^-64 turn."""


def inv_freq(xp: Namespace, dim: int, base: float) -> Array:
    """theta_i = base^(-2i/dim): float64 (dim/2,), radians per position (FREQ-2)."""
    return xp.power(xp.float64(base), xp.arange(0, dim, 2, dtype=xp.float64) / -dim)


def angles(xp: Namespace, positions: Array, inv_freq: Array) -> Array:
    """M * theta_i: float64, positions.shape + (dim/2,), radians (FREQ-7)."""
    return positions[..., None].astype(xp.float64) * inv_freq.astype(xp.float64)


def phase(xp: Namespace, positions: Array, dim: int, base: float) -> Array:
    """(m * T_i) mod 2^64 as int64 in units of 2^-64 turn: positions.shape + (dim/2,).

    Read as a signed number it is the angle reduced to half a turn, without any rounding.
    """
    table = xp.asarray(turns(dim, base))
    return (positions.astype(xp.int64).view(xp.uint64)[..., None] * table).view(xp.int64)


def cos_sin(
    xp: Namespace, positions: Array, dim: int, base: float, dtype: Dtype = "float64"
) -> tuple[Array, Array]:
    """Return cos and sin of m * theta_i by exact phase (FREQ-9).

    Parameters
    ----------
    xp : module
        numpy or cupy.
    positions : array of integers, any shape
        m.
    dim : int
        Even.
    base : float
        Above 1.
    dtype : dtype
        What the values, computed in float64, are rounded to once.

    Returns
    -------
    cos, sin : array of dtype, positions.shape + (dim/2,)
        An int64 becomes a float64 by one rounding, relative to the reduced angle.
    """
    angle = phase(xp, positions, dim, base).astype(xp.float64)
    angle *= RADIANS
    return xp.cos(angle).astype(dtype, copy=False), xp.sin(angle).astype(dtype, copy=False)
