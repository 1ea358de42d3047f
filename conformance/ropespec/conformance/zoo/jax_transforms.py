"""Transforms in JAX; imported by a worker only, listed in `frameworks`."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from ropespec.conformance.zoo.jax_subjects import jax_jitted

__all__ = [
    "jax_back_in_few_bits",
    "jax_backward_in_numbers",
    "jax_custom_gradient",
    "jax_jvp_backwards",
    "jax_map_of_one_row",
    "jax_table_of_what_is_traced",
    "jax_traced_path",
]


def _kept(x: Array, positions: Array) -> tuple[Array, Array]:
    return jax_jitted(x, positions), positions


@jax.custom_vjp
def jax_custom_gradient(x: Array, positions: Array) -> Array:
    """Rotate, with a gradient of its own, which can be differentiated again."""
    y: Array = jax_jitted(x, positions)
    return y


def _back(positions: Array, cotangent: Array) -> tuple[Array, None]:
    return jax_custom_gradient(cotangent, -positions.astype(jnp.int32)), None


jax_custom_gradient.defvjp(_kept, _back)


@jax.custom_vjp
def jax_back_in_few_bits(x: Array, positions: Array) -> Array:
    """Rotate; the step back negates the positions as they came."""
    y: Array = jax_jitted(x, positions)
    return y


def _unsigned(positions: Array, cotangent: Array) -> tuple[Array, None]:
    return jax_jitted(cotangent, -positions), None


jax_back_in_few_bits.defvjp(_kept, _unsigned)


@jax.custom_vjp
def jax_backward_in_numbers(x: Array, positions: Array) -> Array:
    """Rotate; the gradient stops at its cotangent."""
    y: Array = jax_jitted(x, positions)
    return y


def _stopped(positions: Array, cotangent: Array) -> tuple[Array, None]:
    return jax_jitted(jax.lax.stop_gradient(cotangent), -positions), None


jax_backward_in_numbers.defvjp(_kept, _stopped)


@jax.custom_jvp
def jax_jvp_backwards(x: Array, positions: Array) -> Array:
    """Rotate; the tangent turns by -m, and so the cotangent by +m."""
    y: Array = jax_jitted(x, positions)
    return y


@jax_jvp_backwards.defjvp
def _tangent(primals: tuple[Array, Array], tangents: tuple[Array, Any]) -> tuple[Array, Array]:
    x, positions = primals
    return jax_jitted(x, positions), jax_jitted(tangents[0], -positions)


@jax.custom_batching.custom_vmap
def _one_row(x: Array, positions: Array) -> Array:
    y: Array = jax_jitted(x, positions)
    return y


@_one_row.def_vmap
def _mapped(size: int, batched: list[bool], x: Array, positions: Array) -> tuple[Array, bool]:
    one = positions[0] if batched[1] else positions
    many = x if batched[0] else jnp.broadcast_to(x, (size, *x.shape))
    return jnp.stack([jax_jitted(item, one) for item in many]), True


@jax.custom_vjp
def jax_map_of_one_row(x: Array, positions: Array) -> Array:
    """Rotate; under vmap the first of the positions serves for all."""
    y: Array = _one_row(x, positions)
    return y


jax_map_of_one_row.defvjp(_kept, _back)


def jax_traced_path(x: Array, positions: Array) -> Array:
    """Count tokens from 0 where positions are traced, for their values are not known there."""
    if isinstance(positions, jax.core.Tracer):
        positions = jnp.broadcast_to(jnp.arange(positions.shape[-1]), positions.shape)
    y: Array = jax_jitted(x, positions)
    return y


def jax_table_of_what_is_traced(x: Array, positions: Array) -> Array:
    """Look up in a table that is long enough where positions are known, and of 8192 rows else."""
    if isinstance(positions, jax.core.Tracer):
        positions = jnp.clip(positions, -8191, 8191)
    y: Array = jax_jitted(x, positions)
    return y
