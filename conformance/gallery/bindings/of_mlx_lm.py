"""mlx-lm: rotary modules of `rope_utils`, with an offset for each token."""

import functools
from collections.abc import Callable
from typing import Any

import mlx.core as mx
from below import below

__all__ = ["llama3", "proportional", "yarn"]

module = below("mlx_lm.models.rope_utils")


def _made(kind: str, **config: Any) -> Callable[[mx.array, mx.array], mx.array]:  # noqa: ANN401  # numbers
    rope = functools.cache(lambda head_dim: getattr(module, kind)(head_dim, **config))

    def rotate(x: mx.array, positions: mx.array) -> mx.array:
        """Rotate x (B, S, H, D), as B S rows of H heads and one token."""
        rows, tokens, heads, head_dim = x.shape
        own = x.reshape(rows * tokens, heads, 1, head_dim)
        offset = positions.flatten().astype(mx.int32)
        return rope(head_dim)(own, offset=offset).reshape(x.shape)

    return rotate


llama3 = _made(
    "Llama3RoPE",
    base=500000.0,
    scaling_config={
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
)
yarn = _made("YarnRoPE", scaling_factor=8.0)


@functools.cache
def _proportional(head_dim: int) -> Callable[..., mx.array]:
    return module.ProportionalRoPE(head_dim, head_dim // 4, base=1_000_000.0)


def proportional(x: mx.array, positions: mx.array) -> mx.array:
    """Rotate a quarter of the pairs, as full layers of Gemma 4 do."""
    rows, tokens, heads, head_dim = x.shape
    own = x.reshape(rows * tokens, heads, 1, head_dim)
    offset = positions.flatten().astype(mx.int32)
    return _proportional(head_dim)(own, offset=offset).reshape(x.shape)
