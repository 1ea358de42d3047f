"""The lines of an adapter, and the tables that most rotations take."""

from typing import Any, NamedTuple

from ropespec.conformance.profile import Profile

__all__ = ["Body", "angles"]


class Body(NamedTuple):
    """The lines of an adapter, and what it claims because it is written so."""

    lines: list[str]
    claims: dict[str, Any]


def angles(profile: Profile) -> list[str]:
    """Write the lines that make the angles of all positions and pairs."""
    words, dim = profile.framework.words, profile.rotary_dim or "d"
    frequencies = f"{words.name}.arange(0, {dim}, 2{words.on}) / {dim}"
    return [
        *([] if profile.rotary_dim else ["d = x.shape[-1]"]),
        f"theta = {float(profile.base)!r} ** (-{frequencies})",
        "angle = positions[..., None] * theta",
    ]
