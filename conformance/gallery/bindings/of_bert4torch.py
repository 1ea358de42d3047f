"""bert4torch: layers of position encodings."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from below import below

__all__ = ["llama3", "mrope", "plain"]

module = below("bert4torch.layers.position_encoding")

Array = torch.Tensor


def _made(kind: str, **config: Any) -> Callable[[Array, Array], Array]:  # noqa: ANN401  # numbers
    @functools.cache
    def layer(head_dim: int) -> Callable[[Array, Array], Array]:
        return getattr(module, kind)(head_dim, rope_rank="rotate_half", **config)

    def rotate(x: Array, positions: Array) -> Array:
        """Rotate x."""
        return layer(x.shape[-1])(x, positions)

    return rotate


plain = _made("RopePositionEncoding")
llama3 = _made(
    "RopeLlama3PositionEncoding",
    scaling_factor=8.0,
    rope_theta=500000.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=8192,
)
mrope = _made("RopeMropePositionEncoding", mrope_section=[16, 24, 24])
