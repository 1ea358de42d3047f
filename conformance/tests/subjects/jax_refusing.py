"""Rotations in JAX that some transforms cannot go through."""

import jax
import jax.numpy as jnp

PROFILE = {"interleaved": False, "array": "jax", "dtypes": ["float32"], "max_position": 4095}
_KEPT = {}


def _turned(x, positions):
    theta = 10000.0 ** (-jnp.arange(0, x.shape[-1], 2) / x.shape[-1])
    angle = (positions[..., None].astype(jnp.float32) * theta)[..., None, :]
    a, b = jnp.split(x, 2, axis=-1)
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jnp.concatenate([a * c - b * s, b * c + a * s], -1)


def reads_positions(x, positions):
    """Look at the values of positions before turning."""
    if positions.size and positions.max() > 5000:
        raise ValueError
    return _turned(x, positions)


def keeps_what_was_traced(x, positions):
    """Keep the frequencies that were made first, be they traced."""
    dim = x.shape[-1]
    if isinstance(x, jax.core.Tracer):
        _KEPT[dim] = x[..., :1] * 0 + 1
    if dim in _KEPT:
        return _turned(x, positions) * _KEPT[dim].ravel()[0]
    return _turned(x, positions)
