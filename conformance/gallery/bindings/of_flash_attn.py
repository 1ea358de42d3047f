"""flash-attn: `apply_rotary_emb_torch`, with the tables of its module; no kernel."""

import functools

import torch
from below import below, stubs

stubs("flash_attn.ops.triton.rotary")  # its kernel needs Triton and a GPU
module = below("flash_attn.layers.rotary")


@functools.cache
def tables(head_dim: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Make cos and sin of 32768 positions as its RotaryEmbedding does."""
    embedding = module.RotaryEmbedding(head_dim)
    embedding._update_cos_sin_cache(32768, dtype=dtype)  # noqa: SLF001  # its forward needs a GPU
    return embedding._cos_cached, embedding._sin_cached  # noqa: SLF001


def apply(x: torch.Tensor, positions: torch.Tensor, *, interleaved: bool) -> torch.Tensor:
    """Rotate x."""
    cos, sin = tables(x.shape[-1], x.dtype)
    return module.apply_rotary_emb_torch(x, cos[positions], sin[positions], interleaved)
