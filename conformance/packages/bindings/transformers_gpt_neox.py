"""transformers, GPT-NeoX: `GPTNeoXRotaryEmbedding`, of which 16 components turn in each head."""

import functools

import torch
from transformers.models.gpt_neox import GPTNeoXConfig
from transformers.models.gpt_neox.modeling_gpt_neox import (
    GPTNeoXRotaryEmbedding,
    apply_rotary_pos_emb,
)

PROFILE = {
    "interleaved": False,
    "array": "torch",
    "axes": "bhsd",
    "dtypes": ["float32", "bfloat16", "float16"],
    "rotary_dim": 16,
    "head_dims": [32, 64, 80, 96, 128],
}


@functools.cache
def embedding(head_dim: int) -> GPTNeoXRotaryEmbedding:
    """Make the tables of a model whose heads turn in their first 16 components."""
    rope = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 16 / head_dim}
    return GPTNeoXRotaryEmbedding(
        GPTNeoXConfig(hidden_size=head_dim, num_attention_heads=1, rope_parameters=rope)
    )


def apply(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x as q is."""
    cos, sin = embedding(x.shape[-1])(x, positions)
    q, _ = apply_rotary_pos_emb(x, x, cos, sin)
    return q
