"""litgpt: `build_rope_cache` of 32768 positions and `apply_rope`."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from below import below, stubs

__all__ = ["llama3", "plain", "yarn"]

stubs("litgpt.config", "litgpt.scripts.convert_hf_checkpoint")  # weights, which are not wanted
module = below("litgpt.model")

Array = torch.Tensor


def _made(base: int = 10000, **config: Any) -> Callable[[Array, Array], Array]:  # noqa: ANN401  # numbers
    @functools.cache
    def tables(head_dim: int) -> tuple[Array, Array]:
        return module.build_rope_cache(32768, head_dim, base=base, extra_config=config or None)

    def rotate(x: Array, positions: Array) -> Array:
        """Rotate x by rows of the tables."""
        cos, sin = (table[positions] for table in tables(x.shape[-1]))
        return module.apply_rope(x, cos, sin)

    return rotate


plain = _made()
llama3 = _made(
    500000, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_seq_len=8192
)
yarn = _made(factor=16.0, beta_fast=32.0, beta_slow=1.0, original_max_seq_len=4096)
