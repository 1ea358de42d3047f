"""cos and sin by exact phase in two limbs of 32 bits (chapter `frequencies`)."""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ropespec.backends.jax.arrays import Array, Limbs, both_limbs, split_limbs, traced
from ropespec.backends.jax.tables import made_once
from ropespec.backends.phase import turns

__all__ = ["Circle", "circle_of", "turns_kept", "turns_of", "unit_circle"]

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
def unit_circle(positions: Limbs | Array, turn: Limbs, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Return cos and sin of m * theta_i in float32 or float64: positions.shape + (dim/2,).

    A program of its own: it is made once for all heads, layouts and dtypes of x. Under a
    surrounding `jax.jit` it becomes part of that program.
    """
    return _circle(_phase(both_limbs(positions), turn), dtype)


@traced("dtype")
def circle_of(positions: Limbs | Array, turns: Limbs, dtype: np.dtype[Any]) -> Circle:
    """Return cos and sin of the sum of p_a * T_a over the position numbers of a token.

    Positions are (n, ...), `turns` (n, dim/2), and the result positions.shape[1:] + (dim/2,).
    """
    low, high = both_limbs(positions)
    parts = [_phase((low[a], high[a]), (turns[0][a], turns[1][a])) for a in range(len(turns[0]))]
    return _circle(functools.reduce(_add, parts), dtype)


def _add(one: Limbs, other: Limbs) -> Limbs:
    """Add two integers of 64 bits, modulo 2^64."""
    low = one[0] + other[0]
    return low, one[1] + other[1] + (low < one[0]).astype(jnp.uint32)


def _circle(phase: Limbs, dtype: np.dtype[Any]) -> Circle:
    """Return cos and sin of a phase in units of 2^-64 turn."""
    low, high = phase
    # The nearest quarter turn, and what is left: rest * 2^-32 + low * 2^-64 turns, an eighth of a
    # turn at most.
    quarter = (high + np.uint32(2**29)) >> 30
    rest = lax.bitcast_convert_type(high - (quarter << 30), jnp.int32)
    angle = _reduced_angle(rest, low, dtype)
    c, s = jnp.cos(angle), jnp.sin(angle)
    odd, late = (quarter & 1) == 1, quarter >= 2
    cos, sin = jnp.where(odd, -s, c), jnp.where(odd, c, s)
    return made_once(jnp.where(late, -cos, cos)), made_once(jnp.where(late, -sin, sin))


def _phase(positions: Limbs, turn: Limbs) -> Limbs:
    """(m * T_i) mod 2^64 in two limbs, exact: the limbs wrap as they should."""
    t_low, t_high = turn
    m_low, m_high = (limb[..., None] for limb in positions)
    low, carry = _multiply(m_low, t_low)
    return low, carry + m_low * t_high + m_high * t_low


def _multiply(a: Array, b: Array) -> Limbs:
    """Multiply uint32 by uint32 into two limbs, by halves of 16 bits."""
    a0, a1, b0, b1 = a & 0xFFFF, a >> 16, b & 0xFFFF, b >> 16
    cross, other = a0 * b1, a1 * b0
    middle = (a0 * b0 >> 16) + (cross & 0xFFFF) + (other & 0xFFFF)
    high = a1 * b1 + (cross >> 16) + (other >> 16) + (middle >> 16)
    return a * b, high


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
    a = (rest + (1 << k >> 1)) >> k
    b = (rest - (a << k)).astype(dtype) + low.astype(dtype) * 2.0**-32
    angle: Array = coarse * a.astype(dtype) + (fine * a.astype(dtype) + unit * b)
    return angle
