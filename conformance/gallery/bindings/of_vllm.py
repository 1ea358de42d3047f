"""vLLM: `RotaryEmbedding.forward_native`, one module per dtype, as a model holds one."""

import functools
from typing import Any
from unittest.mock import MagicMock

import torch
from below import below, stubs

COMPILATION = MagicMock(custom_ops=["none"])  # the form in torch, and not compiled

# The packages around the module need the whole server.
stubs(
    *("vllm._aiter_ops", "vllm.config.compilation", "vllm.logger", "vllm.platforms"),
    *("vllm.model_executor.utils", "vllm.utils.torch_utils"),
)
stubs("vllm.triton_utils")
stubs("vllm.config", get_cached_compilation_config=lambda: COMPILATION)
module = below("vllm.model_executor.layers.rotary_embedding.base")


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


@functools.cache
def _yarn(head_dim: int, dtype: torch.dtype) -> Any:  # noqa: ANN401
    scaled = below("vllm.model_executor.layers.rotary_embedding.yarn_scaling_rope")
    made = scaled.YaRNScalingRotaryEmbedding
    return made(head_dim, head_dim, 4096, 10000.0, True, 8.0, dtype)


def yarn(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x as a model of factor 8 and original length 4096 does."""
    query = x.flatten(2).flatten(0, 1)
    turned, _ = _yarn(x.shape[-1], x.dtype).forward_native(positions.flatten(), query)
    return turned.view_as(x)


@functools.cache
def _llama3(head_dim: int, dtype: torch.dtype) -> Any:  # noqa: ANN401
    scaled = below("vllm.model_executor.layers.rotary_embedding.llama3_rope")
    made = scaled.Llama3RotaryEmbedding
    return made(head_dim, head_dim, 32768, 500000.0, True, dtype, 8.0, 1.0, 4.0, 8192)


def llama3(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x as Llama 3.1 does."""
    query = x.flatten(2).flatten(0, 1)
    turned, _ = _llama3(x.shape[-1], x.dtype).forward_native(positions.flatten(), query)
    return turned.view_as(x)


@functools.cache
def _mrope(head_dim: int, in_turn: bool, dtype: torch.dtype) -> Any:  # noqa: ANN401
    sections = below("vllm.model_executor.layers.rotary_embedding.mrope")
    words = [24, 20, 20] if in_turn else [16, 24, 24]
    made = sections.MRotaryEmbedding
    return made(head_dim, head_dim, 8192, 1e6, True, dtype, words, mrope_interleaved=in_turn)


def _by_sections(x: torch.Tensor, positions: torch.Tensor, *, in_turn: bool) -> torch.Tensor:
    """Rotate x by positions of three numbers, (3, B S)."""
    query = x.flatten(2).flatten(0, 1)
    rotary = _mrope(x.shape[-1], in_turn, x.dtype)
    turned, _ = rotary.forward_native(positions.flatten(1), query, query)
    return turned.view_as(x)


mrope = functools.partial(_by_sections, in_turn=False)
mrope_in_turn = functools.partial(_by_sections, in_turn=True)
