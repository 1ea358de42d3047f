"""gemma: `apply_rope`, compiled as in a model."""

import jax
from below import below

module = below("gemma.gm.math._positional_embeddings")


@jax.jit
def apply(x: jax.Array, positions: jax.Array) -> jax.Array:
    """Rotate x."""
    return module.apply_rope(x, positions, base_frequency=10000)


@jax.jit
def linear(x: jax.Array, positions: jax.Array) -> jax.Array:
    """Rotate x as full layers of Gemma 3 do: positions divided by 8, base 10^6."""
    return module.apply_rope(x, positions, base_frequency=1_000_000, scale_factor=8.0)


@jax.jit
def proportional(x: jax.Array, positions: jax.Array) -> jax.Array:
    """Rotate x as full layers of Gemma 4 do: a quarter of the pairs."""
    return module.apply_rope(x, positions, base_frequency=1_000_000, rope_proportion=0.25)
