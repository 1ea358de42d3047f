"""penzai: the layer `ApplyRoPE` on named arrays."""

import jax
from penzai import pz

LAYER = pz.nn.ApplyRoPE(
    embedding_axis="head_dim", max_wavelength=10000.0, positions_input_name="positions"
)


@jax.jit
def apply(x: jax.Array, positions: jax.Array) -> jax.Array:
    """Rotate x, compiled as in a model."""
    names = ("batch", "sequence", "heads", "head_dim")
    named = pz.nx.wrap(x).tag(*names)
    turned = LAYER(named, positions=pz.nx.wrap(positions).tag(*names[:2]))
    return turned.untag(*names).unwrap()
