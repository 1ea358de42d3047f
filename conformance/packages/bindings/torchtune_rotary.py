"""torchtune: `RotaryPositionalEmbeddings` with `input_pos`."""

import functools

import torch

from ropespec.bench.speed.subjects.base import import_below_stubs

PROFILE = {
    "interleaved": True,
    "array": "torch",
    "dtypes": ["float32", "bfloat16", "float16"],
    "max_position": 32767,
    "negative_positions": False,
    "empty": False,
}

# The package itself needs a torchao that no longer is; the module does not.
module = import_below_stubs("torchtune.modules.position_embeddings")


@functools.cache
def embedding(head_dim: int) -> torch.nn.Module:
    """Make the module of a model of 32768 tokens."""
    return module.RotaryPositionalEmbeddings(head_dim, max_seq_len=32768)


def apply(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x."""
    return embedding(x.shape[-1])(x, input_pos=positions)
