"""torchtitan: `ComplexRoPE` and `CosSinRoPE`, called with positions as its attention calls them."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from below import below, stubs

__all__ = ["complex_llama3", "complex_plain", "cos_sin", "cos_sin_yarn"]


class _Module(torch.nn.Module):
    """Stands for a module of its trainer."""

    Config = type("Config", (), {"__slots__": ()})


def _unchanged(**_: object) -> Callable[[Any], Any]:
    """Stand for a decorator that places tensors on many devices."""
    return lambda function: function


stubs("spmd_types", no_typecheck=_unchanged, local_map=_unchanged)
stubs("torchtitan.protocols.module", Module=_Module)
rope = below("torchtitan.models.common.rope")

Array = torch.Tensor


def _made(kind: Any, **config: Any) -> Callable[[Array, Array], Array]:  # noqa: ANN401  # a class, its numbers
    @functools.cache
    def module(head_dim: int) -> Callable[..., tuple[Array, Array]]:
        return kind(kind.Config(dim=head_dim, max_seq_len=32768, **config))

    def rotate(x: Array, positions: Array) -> Array:
        """Rotate x as q is."""
        return module(x.shape[-1])(x, x, positions)[0]

    return rotate


complex_plain = _made(rope.ComplexRoPE)
complex_llama3 = _made(rope.ComplexRoPE, theta=500000.0, scaling="llama")
cos_sin = _made(rope.CosSinRoPE)
cos_sin_yarn = _made(rope.CosSinRoPE, scaling="yarn", rope_factor=8.0)
