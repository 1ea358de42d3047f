"""palm-rlhf-pytorch: `RotaryEmbedding` without its decay, and `apply_rotary_pos_emb`."""

import functools

import torch
from below import below, stubs

stubs("beartype", "palm_rlhf_pytorch.attention", "palm_rlhf_pytorch.utils")
stubs("palm_rlhf_pytorch.lora")
module = below("palm_rlhf_pytorch.palm")


@functools.cache
def angles(head_dim: int) -> torch.Tensor:
    """Return the angles of 32768 positions."""
    return module.RotaryEmbedding(head_dim, use_xpos=False)(32768, "cpu")[0]


def apply(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x by rows of its angles."""
    return module.apply_rotary_pos_emb(angles(x.shape[-1])[positions].unsqueeze(1), x)
