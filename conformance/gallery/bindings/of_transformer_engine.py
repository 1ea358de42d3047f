"""transformer-engine: `RotaryPositionEmbedding` and `apply_rotary_pos_emb` with `fused=False`."""

import functools

import torch
from below import below, stubs

# Its kernels stand in the same module, and need a GPU.
stubs("transformer_engine_torch", "transformer_engine.pytorch.cpp_extensions.fused_attn")
module = below("transformer_engine.pytorch.attention.rope")
vars(torch.cuda)["current_device"] = lambda: "cpu"  # where it makes its frequencies


@functools.cache
def angles(head_dim: int, interleaved: bool) -> torch.Tensor:
    """Make the angles of 32768 positions, (32768, 1, 1, head_dim)."""
    return module.RotaryPositionEmbedding(head_dim, interleaved=interleaved)(32768)


def apply(x: torch.Tensor, positions: torch.Tensor, *, interleaved: bool) -> torch.Tensor:
    """Rotate x by rows of its table, one for each token."""
    rows = angles(x.shape[-1], interleaved)[positions.T].squeeze(2)  # (S, B, 1, D)
    return module.apply_rotary_pos_emb(x, rows, "bshd", interleaved=interleaved)
