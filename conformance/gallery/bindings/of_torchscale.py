"""torchscale: `apply_rotary_pos_emb` with the tables of `fixed_pos_embedding`, without decay."""

import functools

import torch
from below import below

module = below("torchscale.component.xpos_relative_position")


@functools.cache
def tables(head_dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return sin and cos of 32768 positions."""
    return module.fixed_pos_embedding(torch.ones(32768, head_dim // 2))


def apply(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x (B, H, S, D) by rows of the tables, as rows of (B H, S, D)."""
    sin, cos = (table[positions] for table in tables(x.shape[-1]))
    return module.apply_rotary_pos_emb(x.flatten(0, 1), sin, cos).view_as(x)
