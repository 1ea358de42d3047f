"""How each framework says what an adapter needs, and the tables that most rotations take."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from ropespec.conformance.profile import Profile

__all__ = ["WORDS", "Body", "Words", "angles"]


class Body(NamedTuple):
    """The lines of an adapter, and what it claims because it is written so."""

    lines: list[str]
    claims: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a framework.

    Attributes
    ----------
    name, imported : str
        Its usual name, and the line that imports it.
    cat, cast, copy, permute : str
        How it joins arrays, casts, copies, and reorders axes.
    on : str
        What makes an array lie where x does.
    """

    name: str
    imported: str
    cat: str = "concatenate"
    cast: str = "astype"
    copy: str = "copy()"
    permute: str = "transpose"
    on: str = ""


WORDS = {
    "numpy": Words("np", "import numpy as np"),
    "torch": Words("torch", "import torch", "cat", "to", "clone()", "permute", ", device=x.device"),
    "jax": Words("jnp", "import jax.numpy as jnp"),
    "cupy": Words("cp", "import cupy as cp"),
}


def angles(profile: Profile) -> list[str]:
    """Write the lines that make the angles of all positions and pairs."""
    words, dim = WORDS[profile.array], profile.rotary_dim or "d"
    frequencies = f"{words.name}.arange(0, {dim}, 2{words.on}) / {dim}"
    return [
        *([] if profile.rotary_dim else ["d = x.shape[-1]"]),
        f"theta = {float(profile.base)!r} ** (-{frequencies})",
        "angle = positions[..., None] * theta",
    ]
