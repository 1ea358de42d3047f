"""fla-core: `rotary_embedding_ref`, with tables as its module makes them; no kernel."""

import functools

import torch
from below import below, stubs

# Its kernels stand in the same module, and need Triton and a GPU.
stubs("triton", "triton.language", "triton.language.extra", "fla.utils", "fla.ops.utils")
stubs("fla.ops", "fla.ops.backends", "fla.ops.utils.index", "fla.backends", "fla.modules.backends")
module = below("fla.modules.rotary.ops")


@functools.cache
def tables(head_dim: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Make cos and sin of 32768 positions as its RotaryEmbedding does."""
    embedding = module.RotaryEmbedding(head_dim)
    embedding._update_cos_sin_cache(32768, dtype=dtype)  # noqa: SLF001  # its forward needs a GPU
    return embedding._cos_cached, embedding._sin_cached  # noqa: SLF001


def apply(x: torch.Tensor, positions: torch.Tensor, *, interleaved: bool) -> torch.Tensor:
    """Rotate x by rows of the tables."""
    cos, sin = tables(x.shape[-1], x.dtype)
    return module.rotary_embedding_ref(x, cos[positions], sin[positions], interleaved)
