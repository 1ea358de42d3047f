"""keras-hub: the layer `RotaryEmbedding` in the dtype of x, on JAX."""

import functools
import os

import jax

os.environ["KERAS_BACKEND"] = "jax"

from keras_hub.src.layers.modeling.rotary_embedding import RotaryEmbedding

PROFILE = {
    "interleaved": False,
    "array": "jax",
    "dtypes": ["float32", "bfloat16", "float16"],
}

layer = functools.cache(lambda dtype: RotaryEmbedding(dtype=dtype))


def apply(x: jax.Array, positions: jax.Array) -> jax.Array:
    """Rotate x."""
    return layer(str(x.dtype))(x, positions=positions)
