"""What the chapters share: dtypes, and reading arrays and positions."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeGuard, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ropespec.backends.positions import read_positions
from ropespec.spec.arguments import (
    ArrayFacts,
    check_array_type,
    check_float_array,
    check_positions,
)
from ropespec.spec.errors import ArgumentTypeError

__all__ = [
    "EXACT",
    "Array",
    "Limbs",
    "Positions",
    "arithmetic",
    "beside",
    "both_limbs",
    "check_array",
    "check_device",
    "check_floats",
    "default_dtype",
    "limbs_of",
    "positions_of",
    "split_limbs",
    "traced",
]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

Array = jax.Array

Dtype = np.dtype[Any]

Positions = Array | np.ndarray[Any, Any]
"""Checked positions: a traced or concrete `jax.Array`, or a NumPy array."""

Limbs = tuple[Array, Array]
"""A 64-bit integer as its low and its high 32 bits, both uint32: JAX has no int64 by default."""

EXACT = lax.Precision.HIGHEST
"""Products of matrices in full float32: by default accelerators multiply in less."""


def check_array(name: str, value: object) -> None:
    """Require a `jax.Array`, which a traced array is too."""
    check_array_type(name, value, jax.Array, "jax.Array")


def check_floats(name: str, value: object, *, ndim: int) -> ArrayFacts:
    """Require a `jax.Array` of a floating-point dtype with at least `ndim` axes."""
    check_array(name, value)
    return check_float_array(name, value, ndim=ndim)


def check_device(device: object) -> None:
    """Require a `jax.Device`, or None for the default device (API-2)."""
    if device is not None and not isinstance(device, jax.Device):
        raise ArgumentTypeError("device", "None or a jax.Device", device)


def default_dtype() -> Dtype:
    """Return float64 where JAX has it switched on, else float32."""
    return np.dtype(jnp.result_type(float))


def arithmetic(dtype: Dtype) -> Dtype:
    """Return float64 for float64, float32 for everything narrower (JDG-3)."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def positions_of(value: object, name: str = "positions") -> Positions:
    """Require positions: a `jax.Array` as it is, anything else as a NumPy array."""
    if isinstance(value, jax.Array):
        check_positions(value, name)
        return value
    return read_positions(value, name)


def beside(value: T, x: Positions) -> T:
    """Move positions or tables to the device of `x`, if both are committed to one device each.

    All else JAX brings together itself, or refuses to.
    """
    if not (_is_placed(value) and _is_placed(x)) or value.devices() == x.devices():
        return value
    (device,) = x.devices()
    return cast("T", jax.device_put(value, device))


def _is_placed(array: object) -> TypeGuard[Array]:
    if not isinstance(array, jax.Array) or isinstance(array, jax.core.Tracer):
        return False
    return array.committed and len(array.devices()) == 1


def limbs_of(positions: Positions) -> Limbs | Array:
    """Split positions of NumPy into two limbs, in two's complement; leave those of JAX.

    NumPy integers are split in NumPy: an int64 that becomes a `jax.Array` outside x64 wraps.
    Integers of JAX are split by `both_limbs`, inside the program that uses them.
    """
    if isinstance(positions, np.ndarray):
        return split_limbs(positions.astype(np.int64).view(np.uint64))
    return positions


def split_limbs(wide: np.ndarray[Any, np.dtype[np.uint64]]) -> Limbs:
    """Split integers of 64 bits in NumPy, which a compiled program takes as arrays of JAX."""
    low, high = wide.astype(np.uint32), (wide >> np.uint64(32)).astype(np.uint32)
    return cast("Limbs", (low, high))


def traced(*static: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function with `jax.jit`, with these arguments static, and keep its type."""
    return cast(
        "Callable[[Callable[P, R]], Callable[P, R]]",
        functools.partial(jax.jit, static_argnames=static),
    )


def both_limbs(positions: Limbs | Array) -> Limbs:
    """Split integers of JAX by their bits; limbs stay as they are."""
    if isinstance(positions, tuple):
        return positions
    if positions.dtype == np.int64:
        both = lax.bitcast_convert_type(positions, np.uint32)
        return both[..., 0], both[..., 1]
    if jnp.issubdtype(positions.dtype, jnp.unsignedinteger):
        unsigned = lax.convert_element_type(positions, np.uint32)
        return unsigned, lax.full_like(unsigned, 0)
    signed = lax.convert_element_type(positions, np.int32)
    sign = lax.shift_right_arithmetic(signed, np.int32(31))
    low, high = (lax.bitcast_convert_type(part, np.uint32) for part in (signed, sign))
    return low, high
