"""curated-transformers: `RotaryEmbeddings` with positions."""

import functools

import torch
from below import below, stubs

stubs("curated_transformers.layers.cache")
module = below("curated_transformers.layers.embeddings")


@functools.cache
def embeddings(head_dim: int) -> torch.nn.Module:
    """Make the module of a model of 32768 tokens."""
    return module.RotaryEmbeddings(head_dim, seq_len=32768)


def apply(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x."""
    return embeddings(x.shape[-1])(x, positions=positions)
