"""Frequencies, angles, and cos and sin by exact phase (chapter `frequencies`)."""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import ArrayLike

from ropespec.backends.jax.arrays import (
    Array,
    Limbs,
    Positions,
    arithmetic,
    beside,
    both_limbs,
    check_array,
    check_device,
    default_dtype,
    limbs_of,
    positions_of,
    split_limbs,
    traced,
)
from ropespec.backends.jax.tables import made_once
from ropespec.backends.phase import turns
from ropespec.spec.arguments import check_base, check_dim, check_inv_freq

__all__ = ["Circle", "angles", "circle_of", "cos_sin", "inv_freq", "turns_of", "unit_circle"]

Circle = tuple[Array, Array]
"""cos and sin of every position and frequency."""


def inv_freq(dim: int, base: float = 10000.0, *, device: jax.Device | None = None) -> Array:
    """theta_i = base^(-2i/dim), i = 0..dim/2-1 (FREQ-2; F-001).

    Parameters
    ----------
    dim : int
        Even, at least 2.
    base : float
        Above 1.
    device : jax.Device, optional
        Where the result lies; JAX's default device by default.

    Returns
    -------
    jax.Array, shape (dim/2,)
        Radians per position: float64 if JAX has it switched on, else float32.

    Raises
    ------
    ArgumentTypeError
        If `dim` is not an integer, `base` not a real number, or `device` no `jax.Device`.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    dim, base = check_dim(dim), check_base(base)
    check_device(device)
    theta = base ** (-2.0 * np.arange(dim // 2) / dim)
    return jnp.asarray(theta, dtype=default_dtype(), device=device)


def angles(positions: ArrayLike, inv_freq: Array) -> Array:
    """Angles m * theta_i for every position m and frequency theta_i (FREQ-7; F-017).

    Parameters
    ----------
    positions : array_like of int
        Any shape; either sign.
    inv_freq : jax.Array of float, shape (dim/2,)
        Radians per position.

    Returns
    -------
    jax.Array, shape positions.shape + (dim/2,)
        Radians, not reduced to one turn: float64 if JAX has it switched on, else float32. On the
        device of an array of positions, else on that of `inv_freq`.

    Raises
    ------
    ArgumentTypeError
        If `positions` are not integers, or `inv_freq` is no float array of JAX.
    ArgumentValueError
        If `inv_freq` does not have exactly one axis.
    """
    m = positions_of(positions)
    check_array("inv_freq", inv_freq)
    check_inv_freq(inv_freq)
    dtype = default_dtype()
    return jnp.asarray(m.astype(dtype))[..., None] * beside(inv_freq, m).astype(dtype)


def cos_sin(positions: ArrayLike, dim: int, base: float = 10000.0) -> tuple[Array, Array]:
    """cos(m theta_i) and sin(m theta_i) by exact phase (FREQ-9).

    Parameters
    ----------
    positions : array_like of int
        Any shape; either sign. NumPy integers above 2^31 are exact without x64, too.
    dim, base
        As in `inv_freq`.

    Returns
    -------
    cos, sin : jax.Array, shape positions.shape + (dim/2,)
        float64 if JAX has it switched on, else float32; as accurate at position 2^31 as at 3, but
        for the rounding of T_i: |m| * 2^-65 turns. On the device of a JAX array of positions, else
        on the default one.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `angles` and `inv_freq` do.
    """
    m = positions_of(positions)
    dim, base = check_dim(dim), check_base(base)
    return unit_circle(limbs_of(m), turns_of(dim, base), default_dtype())


@functools.lru_cache(maxsize=64)
def turns_of(dim: int, base: float) -> Limbs:
    """T_i in two limbs of shape (dim/2,): arrays, so that another base is no other program."""
    return split_limbs(turns(dim, base))


@traced("dtype")
def unit_circle(positions: Limbs | Array, turn: Limbs, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Return cos and sin of m * theta_i in float32 or float64: positions.shape + (dim/2,)."""
    low, high = _phase(both_limbs(positions), turn)
    # The nearest quarter turn, and what is left: rest * 2^-32 + low * 2^-64 turns, an eighth of a
    # turn at most.
    quarter = (high + np.uint32(2**29)) >> 30
    rest = lax.bitcast_convert_type(high - (quarter << 30), jnp.int32)
    angle = _reduced_angle(rest, low, dtype)
    c, s = jnp.cos(angle), jnp.sin(angle)
    odd, late = (quarter & 1) == 1, quarter >= 2
    cos, sin = jnp.where(odd, -s, c), jnp.where(odd, c, s)
    return made_once(jnp.where(late, -cos, cos)), made_once(jnp.where(late, -sin, sin))


def circle_of(positions: Positions, dim: int, base: float, dtype: np.dtype[Any]) -> Circle:
    """Return `unit_circle` of checked positions and numbers, for an array of this dtype.

    A program of its own: it is made once for all heads, layouts and dtypes of x. Under a
    surrounding `jax.jit` it becomes part of that program.
    """
    return unit_circle(limbs_of(positions), turns_of(dim, base), arithmetic(dtype))


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
