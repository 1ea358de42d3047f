"""transformers, with tables as its models make them: float32 angles, cast to the dtype of x.

llama and llama4 rotate q and k in one call, so two tensors are passed and the time is halved.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.torch_base import TorchSubject, rounded_up

__all__ = ["GPTJ", "Llama", "Llama4"]


def _models(name: str) -> Any:  # noqa: ANN401  # a module without types
    return importlib.import_module(f"transformers.models.{name}")


@functools.lru_cache(maxsize=4)
def _gptj_table(length: int, head_dim: int) -> torch.Tensor:
    create = _models("gptj.modeling_gptj").create_sinusoidal_positions
    table: torch.Tensor = create(length, head_dim)
    return table


class Llama(TorchSubject):
    """`apply_rotary_pos_emb` of llama: half-split, on (B, H, S, D) views of (B, S, H, D)."""

    layouts: ClassVar[tuple[bool, ...]] = (False,)
    tensors = 2
    heads_first = True

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """cos and sin (1, S, D) of LlamaRotaryEmbedding."""
        _, length, heads, head_dim = case.shape
        config = _models("llama.configuration_llama").LlamaConfig(
            hidden_size=heads * head_dim,
            num_attention_heads=heads,
            max_position_embeddings=max(length, 2048),
        )
        embedding = _models("llama.modeling_llama").LlamaRotaryEmbedding(config).to(self.device)
        like = torch.empty(0, dtype=getattr(torch, case.dtype), device=self.device)
        cos, sin = embedding(like, torch.from_numpy(positions).to(self.device)[None])
        return cos, sin

    def function(self, case: Case) -> Callable[..., Any]:  # noqa: ARG002  # one layout
        """Return the function of the model."""
        apply: Callable[..., Any] = _models("llama.modeling_llama").apply_rotary_pos_emb
        return apply


class Llama4(TorchSubject):
    """`apply_rotary_emb` of llama4: interleaved, by complex multiplication in float32."""

    layouts: ClassVar[tuple[bool, ...]] = (True,)
    tensors = 2

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """e^{i m theta} (1, S, D/2), of float32 angles as Llama4TextRotaryEmbedding makes it."""
        head_dim = case.shape[-1]
        inv_freq = 1.0 / 10000.0 ** (torch.arange(0, head_dim, 2).float() / head_dim)
        angles = torch.from_numpy(positions).float()[:, None] * inv_freq
        return (torch.polar(torch.ones_like(angles), angles)[None].to(self.device),)

    def function(self, case: Case) -> Callable[..., Any]:  # noqa: ARG002  # one layout
        """Return the function of the model."""
        apply: Callable[..., Any] = _models("llama4.modeling_llama4").apply_rotary_emb
        return apply


class GPTJ(TorchSubject):
    """`apply_rotary_pos_emb` of gptj: interleaved; float32 comes out whatever goes in."""

    layouts: ClassVar[tuple[bool, ...]] = (True,)

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """sin and cos (1, S, D/2), rows of create_sinusoidal_positions."""
        table = _gptj_table(rounded_up(int(positions[-1]) + 1), case.shape[-1])
        sin, cos = table[torch.from_numpy(positions)].to(self.device)[None].chunk(2, dim=-1)
        return sin, cos

    def function(self, case: Case) -> Callable[..., Any]:  # noqa: ARG002  # one layout
        """Return the function of the model."""
        apply: Callable[..., Any] = _models("gptj.modeling_gptj").apply_rotary_pos_emb
        return apply
