"""cos and sin by exact phase in two limbs of 32 bits (chapter `frequencies`).

In operations of `jax.lax`, here and in the loop over x: those of `jax.numpy` are traced each on its
own for every new shape, which is the longer part of tracing a program.
"""

import functools
import math
from typing import Any

import jax
import numpy as np
from jax import lax

from ropespec.backends.jax.arrays import Array, Limbs, both_limbs, split_limbs, traced
from ropespec.backends.jax.tables import made_once, row
from ropespec.backends.phase import turns

__all__ = ["Circle", "cos_sin", "turns_kept", "turns_of", "unit_circle"]

Circle = tuple[Array, Array]
"""cos and sin of every position and frequency."""


@functools.lru_cache(maxsize=64)
def turns_of(dim: int, base: float) -> Limbs:
    """T_i in two limbs of shape (dim/2,): arrays, so that another base is no other program."""
    return split_limbs(turns(dim, base))


@functools.lru_cache(maxsize=64)
def turns_kept(dim: int, base: float, device: jax.Device | None) -> Limbs:
    """Return `turns_of` as arrays that lie on a device, or the default one: no call copies them."""
    with jax.ensure_compile_time_eval():  # also while something else is traced
        low, high = (jax.device_put(limb, device) for limb in turns_of(dim, base))
    return low, high


@traced("dtype")
def unit_circle(
    positions: Limbs | Array, turns: Limbs, dtype: np.dtype[Any], gain: float | None = None
) -> Array:
    """Return cos and sin of m * theta_i in float32 or float64: (2, ..., dim/2) for positions (...).

    A program of its own: it is made once for all heads, layouts and dtypes of x. Under a
    surrounding `jax.jit` it becomes part of that program.

    Parameters
    ----------
    positions : jax.Array or limbs of integers, shape (...) or (n, ...)
        With a row for each position number of a token, if `turns` have one.
    turns : limbs, shape (dim/2,) or (n, dim/2)
        T_i; of several numbers the angle is the sum.
    dtype : dtype
        Of the result.
    gain : float, optional
        A factor.

    Returns
    -------
    jax.Array
        Both in one array.
    """
    return _circle(_phase(both_limbs(positions), turns), dtype, gain)


@traced("dtype")
def cos_sin(
    positions: Limbs | Array, turns: Limbs, dtype: np.dtype[Any], gain: float | None = None
) -> Circle:
    """Return `unit_circle` as two arrays, for those who are not about to rotate."""
    both = unit_circle(positions, turns, dtype, gain)
    return row(both, 0), row(both, 1)


def _add(one: Limbs, other: Limbs) -> Limbs:
    """Add two integers of 64 bits, modulo 2^64."""
    low = lax.add(one[0], other[0])
    carry = lax.convert_element_type(lax.lt(low, one[0]), np.uint32)
    return low, lax.add(lax.add(one[1], other[1]), carry)


def _circle(phase: Limbs, dtype: np.dtype[Any], gain: float | None) -> Array:
    """Return cos and sin of a phase in units of 2^-64 turn, with an axis of two before."""
    low, high = phase
    # The nearest quarter turn, and what is left: rest * 2^-32 + low * 2^-64 turns, an eighth of a
    # turn at most.
    quarter = lax.shift_right_logical(lax.add(high, np.uint32(2**29)), np.uint32(30))
    rest = lax.sub(high, lax.shift_left(quarter, np.uint32(30)))
    angle = _reduced_angle(lax.bitcast_convert_type(rest, np.int32), low, dtype)
    # sin of an angle is cos three quarters of a turn further: one loop makes both.
    shape = (2, *angle.shape)
    cos, sin, quarter = (
        lax.broadcast_in_dim(one, shape, range(1, len(shape)))
        for one in (lax.cos(angle), lax.sin(angle), quarter)
    )
    quarter = lax.add(quarter, lax.mul(lax.broadcasted_iota(np.uint32, shape, 0), np.uint32(3)))
    odd = lax.eq(lax.bitwise_and(quarter, np.uint32(1)), np.uint32(1))
    late = lax.eq(lax.bitwise_and(quarter, np.uint32(2)), np.uint32(2))
    turned = lax.select(odd, lax.neg(sin), cos)
    circle = lax.select(late, lax.neg(turned), turned)
    if gain is not None:
        circle = lax.mul(circle, lax.broadcast(lax.convert_element_type(gain, dtype), shape))
    return made_once(circle)


def _phase(positions: Limbs, turns: Limbs) -> Limbs:
    """(m * T_i) mod 2^64 in two limbs, summed over the position numbers of a token."""
    if turns[0].ndim == 1:
        return _product(positions, turns)
    rows = [[row(limb, a) for limb in (*positions, *turns)] for a in range(len(turns[0]))]
    return functools.reduce(_add, (_product((r[0], r[1]), (r[2], r[3])) for r in rows))


def _product(positions: Limbs, turn: Limbs) -> Limbs:
    """(m * T_i) mod 2^64 in two limbs, exact: the limbs wrap as they should."""
    shape = (*positions[0].shape, *turn[0].shape)
    last = len(shape) - 1
    m_low, m_high = (lax.broadcast_in_dim(limb, shape, range(last)) for limb in positions)
    t_low, t_high = (lax.broadcast_in_dim(limb, shape, (last,)) for limb in turn)
    low, carry = _multiply(m_low, t_low)
    return low, lax.add(carry, lax.add(lax.mul(m_low, t_high), lax.mul(m_high, t_low)))


def _multiply(a: Array, b: Array) -> Limbs:
    """Multiply uint32 by uint32 into two limbs, by halves of 16 bits."""
    (a0, a1), (b0, b1) = ((_lower(one), _upper(one)) for one in (a, b))
    cross, other = lax.mul(a0, b1), lax.mul(a1, b0)
    middle = lax.add(_upper(lax.mul(a0, b0)), lax.add(_lower(cross), _lower(other)))
    parts = (_upper(one) for one in (cross, other, middle))
    return lax.mul(a, b), functools.reduce(lax.add, parts, lax.mul(a1, b1))


def _lower(limb: Array) -> Array:
    return lax.bitwise_and(limb, np.uint32(0xFFFF))


def _upper(limb: Array) -> Array:
    return lax.shift_right_logical(limb, np.uint32(16))


def _reduced_angle(rest: Array, low: Array, dtype: np.dtype[Any]) -> Array:
    """Radians of rest * 2^-32 + low * 2^-64 turns, rounded about once.

    With rest = a * 2^k + b the angle is coarse * a + (fine * a + unit * (b + low * 2^-32)), where
    `coarse` has so few bits that its product is exact.
    """
    bits, k = (9, 17) if dtype == np.float32 else (23, 0)
    unit = math.ldexp(math.tau, -32)
    scale = math.ldexp(1.0, bits + 29 - k)  # 2 pi * 2^(k - 32) has its last `coarse` bit there
    coarse = round(unit * 2**k * scale) / scale
    # tau as a float64 lacks 2.4e-16, which only float64 can tell.
    fine = (unit * 2**k - coarse) + math.ldexp(2.4492935982947064e-16, k - 32)
    a = lax.shift_right_arithmetic(lax.add(rest, np.int32(1 << k >> 1)), np.int32(k))
    b = lax.sub(rest, lax.shift_left(a, np.int32(k)))
    a, b, low = (lax.convert_element_type(one, dtype) for one in (a, b, low))
    b = lax.add(b, lax.mul(low, dtype.type(2.0**-32)))
    small = lax.add(lax.mul(a, dtype.type(fine)), lax.mul(b, dtype.type(unit)))
    return lax.add(lax.mul(a, dtype.type(coarse)), small)
