"""The shared API in torch: any device, with gradients, under every transform and compiler.

A kernel compiled by Numba on the CPU, Triton kernels on CUDA, ordinary operations elsewhere, where
the device needs float64, in which cos and sin are taken.
"""

from ropespec.backends.torch.attention import attention
from ropespec.backends.torch.complex_plane import from_complex, to_complex
from ropespec.backends.torch.decay import decay_bound
from ropespec.backends.torch.frequencies import angles, cos_sin, inv_freq
from ropespec.backends.torch.projection import project_key, project_query, project_value
from ropespec.backends.torch.published import (
    RoPE,
    apply_rotary_emb,
    precompute_freqs_cis,
    reshape_for_broadcast,
    sinusoidal_position_embedding,
)
from ropespec.backends.torch.relative import relative_score
from ropespec.backends.torch.rotation import (
    apply_rotary,
    apply_rotary_complex,
    apply_rotary_cos_sin,
    apply_rotary_dense,
    half_to_interleaved,
    interleaved_to_half,
    rotation_matrix,
)
from ropespec.backends.torch.sinusoidal import sinusoidal_embedding

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
