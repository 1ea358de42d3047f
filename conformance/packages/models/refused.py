"""Rotations of released packages that are not what they are configured to be."""

import functools
import importlib
from collections.abc import Callable

import torch

PROFILE = {
    "interleaved": False,
    "array": "torch",
    "axes": "bhsd",
    "head_dims": [128],
    "negative_positions": False,
    "max_position": 8191,
    "empty": False,
}
"""litgpt makes a table of so many positions here, and bert4torch looks for the largest one."""

Array = torch.Tensor


@functools.cache
def _bert4torch() -> Callable[[Array, Array], Array]:
    numbers = {
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    module = importlib.import_module("bert4torch.layers.position_encoding")
    layer: Callable[[Array, Array], Array] = module.RopeLlama3PositionEncoding(
        128, rope_rank="rotate_half", scaling_factor=8.0, rope_theta=500000.0, **numbers
    )
    return layer


def bert4torch_llama3(x: Array, positions: Array) -> Array:
    """Rotate by its layer called `llama3`."""
    return _bert4torch()(x, positions)


@functools.cache
def _litgpt() -> tuple[Array, Array]:
    model = importlib.import_module("litgpt.model")
    yarn = {"factor": 16.0, "beta_fast": 32.0, "beta_slow": 1.0, "original_max_seq_len": 4096}
    tables: tuple[Array, Array] = model.build_rope_cache(8192, 128, extra_config=yarn)
    return tables


def litgpt_yarn(x: Array, positions: Array) -> Array:
    """Rotate by its table for YaRN."""
    cos, sin = (table[positions] for table in _litgpt())
    turned: Array = importlib.import_module("litgpt.model").apply_rope(x, cos, sin)
    return turned


@functools.cache
def _keras_hub() -> Callable[..., Array]:
    layer: Callable[..., Array] = importlib.import_module("keras_hub.layers").RotaryEmbedding(
        scaling_factor=4.0, rope_type="dynamic", sequence_axis=2
    )
    return layer


def keras_hub_dynamic(x: Array, positions: Array) -> Array:
    """Rotate by its layer of type `dynamic`, with torch behind it."""
    return _keras_hub()(x, positions=positions)
