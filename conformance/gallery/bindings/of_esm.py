"""esm: the tables of `RotaryEmbedding` and `apply_rotary_emb_torch`."""

import functools

import torch
from below import below

module = below("esm.layers.rotary")


@functools.cache
def _tables(head_dim: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    embedding = module.RotaryEmbedding(head_dim)
    embedding._update_cos_sin_cache(32768, dtype=dtype)  # noqa: SLF001  # what its forward calls
    return embedding._cos_cached, embedding._sin_cached  # noqa: SLF001


def apply(x: torch.Tensor, positions: torch.Tensor, *, interleaved: bool) -> torch.Tensor:
    """Rotate x by rows of the tables."""
    cos, sin = _tables(x.shape[-1], x.dtype)
    return module.apply_rotary_emb_torch(x, cos[positions], sin[positions], interleaved)
