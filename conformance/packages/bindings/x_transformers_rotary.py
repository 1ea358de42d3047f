"""x-transformers: `RotaryEmbedding` and `apply_rotary_pos_emb`."""

import functools

import torch
from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

PROFILE = {
    "interleaved": True,
    "array": "torch",
    "axes": "bhsd",
    "dtypes": ["float32", "bfloat16", "float16"],
    "min_head_dim": 4,
    "empty": False,
}

embedding = functools.cache(RotaryEmbedding)


def apply(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x."""
    freqs, scale = embedding(x.shape[-1])(positions)
    return apply_rotary_pos_emb(x, freqs, scale)
