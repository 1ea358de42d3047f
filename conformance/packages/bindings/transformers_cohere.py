"""transformers, Cohere: `CohereRotaryEmbedding` and `apply_rotary_pos_emb`."""

import functools

import torch
from transformers.models.cohere import CohereConfig
from transformers.models.cohere.modeling_cohere import CohereRotaryEmbedding, apply_rotary_pos_emb

PROFILE = {
    "interleaved": True,
    "array": "torch",
    "axes": "bhsd",
    "dtypes": ["float32", "bfloat16", "float16"],
    "base": 500000.0,
}


@functools.cache
def embedding(head_dim: int) -> CohereRotaryEmbedding:
    """Make the tables of a model with one head of this size."""
    return CohereRotaryEmbedding(CohereConfig(hidden_size=head_dim, num_attention_heads=1))


def apply(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x as q is."""
    cos, sin = embedding(x.shape[-1])(x, positions)
    q, _ = apply_rotary_pos_emb(x, x, cos, sin)
    return q
