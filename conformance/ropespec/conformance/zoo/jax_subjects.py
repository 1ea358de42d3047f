"""Implementations in JAX, right and wrong; imported by a worker only, listed in `frameworks`."""

import jax
import jax.numpy as jnp
from jax import Array

__all__ = [
    "jax_complex",
    "jax_first_positions_baked",
    "jax_jitted",
    "jax_mapped",
    "jax_not_conjugated",
    "jax_stopped_gradient",
    "jax_table_in_dtype",
]


def _angles(positions: Array, dim: int) -> Array:
    theta = 1.0 / 10000.0 ** (jnp.arange(0, dim, 2, dtype=jnp.float32) / dim)
    return positions.astype(jnp.float32)[..., None] * theta


def _half(x: Array, cos: Array, sin: Array) -> Array:
    c, s = cos[..., None, :], sin[..., None, :]
    a, b = jnp.split(x.astype(c.dtype), 2, axis=-1)
    return jnp.concatenate([a * c - b * s, b * c + a * s], axis=-1).astype(x.dtype)


@jax.jit
def jax_jitted(x: Array, positions: Array) -> Array:
    """Rotate halves; XLA contracts products and sums as it likes."""
    angle = _angles(positions, x.shape[-1])
    return _half(x, jnp.cos(angle), jnp.sin(angle))


@jax.jit
def jax_complex(x: Array, positions: Array) -> Array:
    """Multiply pairs as complex64 numbers, interleaved."""
    pairs = x.astype(jnp.float32).reshape(*x.shape[:-1], x.shape[-1] // 2, 2)
    turned = jax.lax.complex(pairs[..., 0], pairs[..., 1]) * jnp.exp(
        1j * _angles(positions, x.shape[-1])[..., None, :]
    )
    return jnp.stack([turned.real, turned.imag], axis=-1).reshape(x.shape).astype(x.dtype)


@jax.jit
def jax_table_in_dtype(x: Array, positions: Array) -> Array:
    """Round cos and sin to the dtype of x, and multiply in it."""
    angle = _angles(positions, x.shape[-1])
    return _half(x, jnp.cos(angle).astype(x.dtype), jnp.sin(angle).astype(x.dtype))


@jax.jit
def jax_mapped(x: Array, positions: Array) -> Array:
    """Rotate token by token under vmap."""

    def token(one: Array, position: Array) -> Array:
        angle = _angles(position, one.shape[-1])
        return _half(one, jnp.cos(angle), jnp.sin(angle))

    return jax.vmap(jax.vmap(token))(x, positions)


def jax_stopped_gradient(x: Array, positions: Array) -> Array:
    """Stop the gradient."""
    y: Array = jax.lax.stop_gradient(jax_jitted(x, positions))
    return y


@jax.custom_vjp
def jax_not_conjugated(x: Array, positions: Array) -> Array:
    """Rotate forward in the backward pass."""
    y: Array = jax_jitted(x, positions)
    return y


def _forward(x: Array, positions: Array) -> tuple[Array, Array]:
    return jax_jitted(x, positions), positions


def _backward(positions: Array, cotangent: Array) -> tuple[Array, None]:
    return jax_jitted(cotangent, positions), None


jax_not_conjugated.defvjp(_forward, _backward)


class _Baked:
    """Positions that a trace of each shape has taken for constants."""

    def __init__(self) -> None:
        self.traced: dict[tuple[int, ...], Array] = {}

    def __call__(self, x: Array, positions: Array) -> Array:
        """Use the positions of the first call of this shape."""
        first = self.traced.setdefault(x.shape, positions)
        y: Array = jax_jitted(x, first)
        return y


jax_first_positions_baked = _Baked()
