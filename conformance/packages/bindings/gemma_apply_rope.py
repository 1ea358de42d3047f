"""gemma: `apply_rope`."""

import jax

from ropespec.bench.speed.subjects.base import import_below_stubs

PROFILE = {
    "interleaved": False,
    "array": "jax",
    "dtypes": ["float32", "bfloat16", "float16"],
}

# The packages around the module need a whole training library.
module = import_below_stubs("gemma.gm.math._positional_embeddings")


def apply(x: jax.Array, positions: jax.Array) -> jax.Array:
    """Rotate x."""
    return module.apply_rope(x, positions, base_frequency=10000)
