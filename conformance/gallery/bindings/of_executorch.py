"""executorch: tables and rotations of its Llama, in both layouts, for one vector of positions."""

import functools

import torch
from below import below, stubs

stubs("executorch.examples.models.llama.model_args")
module = below("executorch.examples.models.llama.rope")

table = functools.cache(lambda head_dim: module.precompute_freqs_cis(head_dim, 32768))
half_table = functools.cache(
    lambda head_dim: module.hf_precompute_freqs_cis(head_dim, 32768, 10000.0)
)


def interleaved(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x (B, S, H, D)."""
    cos, sin = (one[positions] for one in table(x.shape[-1]))
    return module.apply_rotary_emb(x, x, cos, sin)[0]


def half(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x (B, H, S, D)."""
    cos, sin = (one[positions] for one in half_table(x.shape[-1]))
    return module.hf_apply_rotary_emb(x, x, cos, sin, unsqueeze_dim=0)[0]
