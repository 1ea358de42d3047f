"""timm: `build_rotary_pos_embed` and `apply_rot_embed_cat`, of places in a line."""

import functools

import torch
from below import below

module = below("timm.layers.pos_embed_sincos")


@functools.cache
def _table(head_dim: int, *, half: bool) -> torch.Tensor:
    """Return sin and cos of 32768 places; it counts with two axes, each of half a head."""
    tables = module.build_rotary_pos_embed(
        [32768], dim=2 * head_dim, temperature=10000.0, in_pixels=False, rotate_half=half
    )
    return torch.cat(tables, -1)


def apply(x: torch.Tensor, positions: torch.Tensor, *, interleaved: bool) -> torch.Tensor:
    """Rotate x by rows of the table."""
    rows = _table(x.shape[-1], half=not interleaved)[positions].unsqueeze(1)
    return module.apply_rot_embed_cat(x, rows, half=not interleaved)
