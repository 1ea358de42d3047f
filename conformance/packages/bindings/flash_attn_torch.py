"""flash-attn: `apply_rotary_emb_torch`, with the tables of its module, no kernel."""

import functools
from types import ModuleType

import torch

from ropespec.bench.speed.subjects.base import import_below_stubs

PROFILE = {
    "layouts": [True, False],
    "array": "torch",
    "dtypes": ["float32", "bfloat16", "float16"],
    "max_position": 32767,
    "negative_positions": False,
}

# Its kernel stands in the same module, and needs Triton and a GPU.
KERNEL = ModuleType("kernel")
vars(KERNEL)["apply_rotary"] = None
module = import_below_stubs("flash_attn.layers.rotary", flash_attn__ops__triton__rotary=KERNEL)


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
