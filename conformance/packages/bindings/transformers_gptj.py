"""transformers, GPT-J: `apply_rotary_pos_emb` with rows of its table in the dtype of x."""

import functools

import torch
from transformers.models.gptj.modeling_gptj import (
    apply_rotary_pos_emb,
    create_sinusoidal_positions,
)

PROFILE = {
    "interleaved": True,
    "array": "torch",
    "dtypes": ["float32", "bfloat16", "float16"],
    "max_position": 2047,
    "negative_positions": False,
}

table = functools.cache(lambda head_dim: create_sinusoidal_positions(2048, head_dim))


def apply(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x as q is."""
    sin, cos = table(x.shape[-1])[positions].to(x.dtype).chunk(2, dim=-1)
    return apply_rotary_pos_emb(x, sin, cos)
