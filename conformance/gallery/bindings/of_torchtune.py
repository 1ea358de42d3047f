"""torchtune: `RotaryPositionalEmbeddings` with `input_pos`."""

import functools

import torch
from below import below

# The package itself needs a torchao that no longer is; the modules do not.
module = below("torchtune.modules.position_embeddings")


@functools.cache
def embedding(head_dim: int) -> torch.nn.Module:
    """Make the module of a model of 32768 tokens."""
    return module.RotaryPositionalEmbeddings(head_dim, max_seq_len=32768)


def apply(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x."""
    return embedding(x.shape[-1])(x, input_pos=positions)
