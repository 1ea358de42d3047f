"""The chapters of the specification in NumPy: pure, slow, clear and literal.

One module a chapter, with every printed form of a formula; here are the functions of the shared
API, and the class that document 004 prints. Everything is computed in float64 and rounded once, to
the dtype of x, at the end.
"""

from ropespec.reference.attention import attention
from ropespec.reference.axes import apply_rotary_axes, cos_sin_axes
from ropespec.reference.complex_plane import from_complex, to_complex
from ropespec.reference.decay import decay_bound
from ropespec.reference.frequencies import angles, cos_sin, inv_freq
from ropespec.reference.projection import project_key, project_query, project_value
from ropespec.reference.published import (
    PositionalEncoding,
    RoPE,
    apply_rotary_emb,
    precompute_freqs_cis,
    reshape_for_broadcast,
    sinusoidal_position_embedding,
)
from ropespec.reference.relative import relative_score
from ropespec.reference.rotation import (
    apply_rotary,
    apply_rotary_complex,
    apply_rotary_cos_sin,
    apply_rotary_dense,
    half_to_interleaved,
    interleaved_to_half,
    rotation_matrix,
)
from ropespec.reference.scaling import apply_rotary_scaled, cos_sin_scaled, inv_freq_scaled
from ropespec.reference.sinusoidal import sinusoidal_embedding

__all__ = [
    "PositionalEncoding",
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
