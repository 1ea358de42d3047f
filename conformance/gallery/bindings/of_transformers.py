"""transformers: rotations of models whose tables are not those of a rotary module."""

import functools
import importlib
from collections.abc import Callable
from typing import Any

import torch

__all__ = ["deepseek_v2", "gptj"]

Array = torch.Tensor


def _module(name: str) -> Any:  # noqa: ANN401  # a module
    return importlib.import_module(f"transformers.models.{name}.modeling_{name}")


_table = functools.cache(lambda dim: _module("gptj").create_sinusoidal_positions(2048, dim))


def gptj(x: Array, positions: Array) -> Array:
    """Rotate x by rows of a table of 2048 positions, in the dtype of x."""
    sin, cos = _table(x.shape[-1])[positions].to(x.dtype).chunk(2, dim=-1)
    turned: Array = _module("gptj").apply_rotary_pos_emb(x, sin, cos)
    return turned


@functools.cache
def _deepseek_v2(head_dim: int) -> Callable[..., Array]:
    config = importlib.import_module("transformers.models.deepseek_v2").DeepseekV2Config
    told = config(qk_rope_head_dim=head_dim)
    found: Callable[..., Array] = _module("deepseek_v2").DeepseekV2RotaryEmbedding(told)
    return found


def deepseek_v2(x: Array, positions: Array) -> Array:
    """Rotate x as q is, by complex numbers."""
    table = _deepseek_v2(x.shape[-1])(x, positions)
    turned: Array = _module("deepseek_v2").apply_rotary_emb(x, x, table)[0]
    return turned
