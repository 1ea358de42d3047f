"""The functions that the reference and every backend offer, with their exact signatures.

Shapes: B batch, S sequence, H heads, D head_dim, r = rotary_dim (even, at most D).
`x` is (..., S, H, D); `positions` is integer, (S,) or (..., S).
`interleaved` is keyword-only and has no default: nothing in this field is got wrong more often.
"""

from typing import Protocol

from ropespec.spec.api.arrays import ArrayT, Device, Positions
from ropespec.spec.api.attending import AttendingAPI
from ropespec.spec.api.axes import AxesAPI
from ropespec.spec.api.rotating import RotatingAPI
from ropespec.spec.api.scaling import ScalingAPI

__all__ = ["CHAPTERS", "FUNCTIONS", "PARTS", "ArrayT", "Device", "Positions", "RopeAPI"]

PARTS: dict[str, tuple[str, ...]] = {
    "RoPE": (
        "conventions",
        "frequencies",
        "sinusoidal",
        "complex_plane",
        "rotation",
        "projection",
        "relative",
        "derivation",
        "attention",
        "parallelism",
        "decay",
        "published",
        "errata",
        "disagreements",
        "names",
        "weights",
        "scaling",
        "axes",
    ),
    "The API": ("contract",),
    "Judging": ("judging",),
}
"""The parts: what RoPE is, what an implementation promises, when it is right."""

CHAPTERS = tuple(chapter for chapters in PARTS.values() for chapter in chapters)
"""The chapters in reading order."""

FUNCTIONS: dict[str, tuple[str, ...]] = {
    "frequencies": ("inv_freq", "angles", "cos_sin"),
    "sinusoidal": ("sinusoidal_embedding",),
    "complex_plane": ("to_complex", "from_complex"),
    "rotation": (
        "rotation_matrix",
        "apply_rotary_dense",
        "apply_rotary",
        "apply_rotary_cos_sin",
        "apply_rotary_complex",
        "interleaved_to_half",
        "half_to_interleaved",
    ),
    "projection": ("project_query", "project_key", "project_value"),
    "relative": ("relative_score",),
    "attention": ("attention",),
    "decay": ("decay_bound",),
    "published": (
        "sinusoidal_position_embedding",
        "RoPE",
        "precompute_freqs_cis",
        "reshape_for_broadcast",
        "apply_rotary_emb",
    ),
    "scaling": ("inv_freq_scaled", "cos_sin_scaled", "apply_rotary_scaled"),
    "axes": ("cos_sin_axes", "apply_rotary_axes"),
}
"""The functions of the shared API by chapter; chapters that are not listed offer none."""


class RopeAPI(
    RotatingAPI[ArrayT], AttendingAPI[ArrayT], ScalingAPI[ArrayT], AxesAPI[ArrayT], Protocol[ArrayT]
):
    """The shared API as a protocol: a module that has these functions is an implementation.

    What each function computes is written in the chapter that carries its name; the clauses in
    parentheses say it exactly. `ArrayT` is the framework's array. A framework with several devices
    takes what is not rotated, positions and tables, to the device of what is.
    """
