"""coreai-torch: the composite operator `RoPE`, with position_ids."""

import functools

import torch
from below import below

module = below("coreai_torch.composite_ops._rope")
rope = functools.cache(lambda interleaved: module.RoPE(interleaved=interleaved))


def apply(x: torch.Tensor, positions: torch.Tensor, *, interleaved: bool) -> torch.Tensor:
    """Rotate x."""
    return rope(interleaved)(x, position_ids=positions)
