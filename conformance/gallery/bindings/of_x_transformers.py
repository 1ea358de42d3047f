"""x-transformers: `RotaryEmbedding` and `apply_rotary_pos_emb`."""

import functools

import torch
from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

embedding = functools.cache(RotaryEmbedding)


def apply(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x."""
    freqs, scale = embedding(x.shape[-1])(positions)
    return apply_rotary_pos_emb(x, freqs, scale)
