"""vLLM: `RotaryEmbedding.forward_native`, one module per dtype, as a model holds one."""

import functools
from typing import Any
from unittest.mock import MagicMock

import torch

from ropespec.bench.speed.subjects.base import import_below_stubs

PROFILE = {
    "layouts": [True, False],
    "array": "torch",
    "dtypes": ["float32", "bfloat16", "float16"],
    "max_position": 32767,
    "negative_positions": False,
    "empty": False,
}

COMPILATION = MagicMock(custom_ops=["none"])  # the form in torch, and not compiled

# The packages around the module need the whole server.
module = import_below_stubs(
    "vllm.model_executor.layers.rotary_embedding.base",
    vllm___aiter_ops=MagicMock(),
    vllm__config=MagicMock(get_cached_compilation_config=lambda: COMPILATION),
    vllm__config__compilation=MagicMock(),
    vllm__logger=MagicMock(),
    vllm__model_executor__utils=MagicMock(),
    vllm__platforms=MagicMock(),
    vllm__utils__torch_utils=MagicMock(),
)


@functools.cache
def embedding(head_dim: int, interleaved: bool, dtype: torch.dtype) -> Any:  # noqa: ANN401
    """Make the module of a model of 32768 tokens in this dtype."""
    return module.RotaryEmbedding(
        head_dim, head_dim, 32768, 10000.0, is_neox_style=not interleaved, dtype=dtype
    )


def apply(x: torch.Tensor, positions: torch.Tensor, *, interleaved: bool) -> torch.Tensor:
    """Rotate x (B, S, H, D), flat as the scheduler hands it over: (B S, H D)."""
    query = x.flatten(2).flatten(0, 1)
    rotary = embedding(x.shape[-1], interleaved, x.dtype)
    turned, _ = rotary.forward_native(positions.flatten(), query)
    return turned.view_as(x)
