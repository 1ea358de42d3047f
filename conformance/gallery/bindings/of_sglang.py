"""sglang: `apply_rotary_emb`, which its rotary modules call without a kernel."""

import functools

import torch
from below import below, stubs

stubs("sglang.srt.utils", is_cpu=lambda: False, is_npu=lambda: False)
module = below("sglang.srt.layers.rotary_embedding.utils")


@functools.cache
def _tables(head_dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Make float32 tables of float32 angles, as `RotaryEmbedding` does."""
    theta = 1.0 / 10000.0 ** (torch.arange(0, head_dim, 2, dtype=torch.float) / head_dim)
    angles = torch.outer(torch.arange(32768, dtype=torch.float), theta)
    return angles.cos(), angles.sin()


def apply(x: torch.Tensor, positions: torch.Tensor, *, interleaved: bool) -> torch.Tensor:
    """Rotate x (B, S, H, D), flat as the scheduler hands it over."""
    cos, sin = (table[positions.flatten()] for table in _tables(x.shape[-1]))
    return module.apply_rotary_emb(x.flatten(0, 1), cos, sin, not interleaved).view_as(x)
