"""The shared API in JAX; every function can be traced by jit, vmap, grad and jvp.

Dimensions, `base` and the flags are Python values and static under jit.
"""

from ropespec.backends.jax.calls import functions

__all__ = [
    "RoPE",
    "angles",
    "apply_rotary",
    "apply_rotary_axes",
    "apply_rotary_complex",
    "apply_rotary_cos_sin",
    "apply_rotary_dense",
    "apply_rotary_emb",
    "apply_rotary_scaled",
    "attention",
    "cos_sin",
    "cos_sin_axes",
    "cos_sin_scaled",
    "decay_bound",
    "from_complex",
    "half_to_interleaved",
    "interleaved_to_half",
    "inv_freq",
    "inv_freq_scaled",
    "precompute_freqs_cis",
    "project_key",
    "project_query",
    "project_value",
    "relative_score",
    "reshape_for_broadcast",
    "rotation_matrix",
    "sinusoidal_embedding",
    "sinusoidal_position_embedding",
    "to_complex",
]

RoPE = functions.RoPE
angles = functions.angles
apply_rotary = functions.apply_rotary
apply_rotary_axes = functions.apply_rotary_axes
apply_rotary_complex = functions.apply_rotary_complex
apply_rotary_cos_sin = functions.apply_rotary_cos_sin
apply_rotary_dense = functions.apply_rotary_dense
apply_rotary_emb = functions.apply_rotary_emb
apply_rotary_scaled = functions.apply_rotary_scaled
attention = functions.attention
cos_sin = functions.cos_sin
cos_sin_axes = functions.cos_sin_axes
cos_sin_scaled = functions.cos_sin_scaled
decay_bound = functions.decay_bound
from_complex = functions.from_complex
half_to_interleaved = functions.half_to_interleaved
interleaved_to_half = functions.interleaved_to_half
inv_freq = functions.inv_freq
inv_freq_scaled = functions.inv_freq_scaled
precompute_freqs_cis = functions.precompute_freqs_cis
project_key = functions.project_key
project_query = functions.project_query
project_value = functions.project_value
relative_score = functions.relative_score
reshape_for_broadcast = functions.reshape_for_broadcast
rotation_matrix = functions.rotation_matrix
sinusoidal_embedding = functions.sinusoidal_embedding
sinusoidal_position_embedding = functions.sinusoidal_position_embedding
to_complex = functions.to_complex
