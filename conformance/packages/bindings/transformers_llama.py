"""transformers, Llama: `LlamaRotaryEmbedding` and `apply_rotary_pos_emb`."""

import functools

import torch
from transformers.models.llama import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

PROFILE = {
    "interleaved": False,
    "array": "torch",
    "axes": "bhsd",
    "dtypes": ["float32", "bfloat16", "float16"],
}

embedding = functools.cache(lambda head_dim: LlamaRotaryEmbedding(LlamaConfig(head_dim=head_dim)))


def apply(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x as q is."""
    cos, sin = embedding(x.shape[-1])(x, positions)
    q, _ = apply_rotary_pos_emb(x, x, cos, sin)
    return q
