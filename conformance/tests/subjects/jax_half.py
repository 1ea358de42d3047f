# ruff: noqa: ARG001, ARG005  # arguments of a subject are its own
"""Half-split rotation in JAX."""

import types

import jax
import jax.numpy as jnp
import numpy as np

PROFILE = {"interleaved": False, "array": "jax", "dtypes": [jnp.float32]}


@jax.jit
def apply(x, positions):
    """Rotate x (B, S, H, D) by positions (B, S)."""
    half = x.shape[-1] // 2
    inv_freq = 10000.0 ** (-jnp.arange(half) / half)
    angle = positions[..., None, None] * inv_freq
    a, b = x[..., :half], x[..., half:]
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)


def kinds(x, positions):
    """Return both arguments."""
    return x, positions


donates = jax.jit(lambda x, positions: x * 2, donate_argnums=0)


def by_numpy(x, positions):
    """Leave JAX on the way."""
    return jnp.asarray(np.asarray(x) * 2)


api = types.SimpleNamespace(
    apply_rotary=apply,
    apply_rotary_dense=by_numpy,
    apply_rotary_complex=kinds,
    half_to_interleaved=donates,
)
