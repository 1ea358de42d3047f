"""The shared API in CuPy, with `apply_rotary` as a CUDA kernel of its own.

`status` says whether a GPU can run it here; importing it needs no GPU.
"""

from ropespec.backends.cupy.attention import attention
from ropespec.backends.cupy.complex_plane import from_complex, to_complex
from ropespec.backends.cupy.decay import decay_bound
from ropespec.backends.cupy.frequencies import angles, cos_sin, inv_freq
from ropespec.backends.cupy.projection import project_key, project_query, project_value
from ropespec.backends.cupy.published import (
    RoPE,
    apply_rotary_emb,
    precompute_freqs_cis,
    reshape_for_broadcast,
    sinusoidal_position_embedding,
)
from ropespec.backends.cupy.relative import relative_score
from ropespec.backends.cupy.rotation import (
    apply_rotary,
    apply_rotary_complex,
    apply_rotary_cos_sin,
    apply_rotary_dense,
    apply_rotary_vjp,  # noqa: F401  # beside the API, for those who ask for gradients by that name
    half_to_interleaved,
    interleaved_to_half,
    rotation_matrix,
)
from ropespec.backends.cupy.sinusoidal import sinusoidal_embedding

__all__ = [
    "RoPE",
    "angles",
    "apply_rotary",
    "apply_rotary_complex",
    "apply_rotary_cos_sin",
    "apply_rotary_dense",
    "apply_rotary_emb",
    "attention",
    "cos_sin",
    "decay_bound",
    "from_complex",
    "half_to_interleaved",
    "interleaved_to_half",
    "inv_freq",
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
