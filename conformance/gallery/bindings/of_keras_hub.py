"""keras-hub: the layer `RotaryEmbedding` in the dtype of x, on JAX."""

import functools
import os
from collections.abc import Callable

import jax
from below import below

__all__ = ["apply", "dynamic", "linear", "yarn"]

os.environ["KERAS_BACKEND"] = "jax"
# The package itself needs tokenizers, and what they need.
module = below("keras_hub.src.layers.modeling.rotary_embedding")

Rotation = Callable[[jax.Array, jax.Array], jax.Array]


def _made(**words: object) -> Rotation:
    layer = functools.cache(lambda dtype: module.RotaryEmbedding(dtype=dtype, **words))

    @jax.jit
    def rotate(x: jax.Array, positions: jax.Array) -> jax.Array:
        """Rotate x, compiled as in a model."""
        return layer(str(x.dtype))(x, positions=positions)

    return rotate


apply = _made()
linear = _made(scaling_factor=4.0)
dynamic = _made(rope_type="dynamic", scaling_factor=4.0)
yarn = _made(rope_type="yarn", scaling_factor=4.0, original_max_position_embeddings=4096)
