"""rotary-embedding-torch and x-transformers: interleaved, cos and sin taken in every call."""

import importlib
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.torch_base import TorchSubject

__all__ = ["RotaryTorch", "XTransformers"]


class RotaryTorch(TorchSubject):
    """`RotaryEmbedding.rotate_queries_or_keys` with `offset`; it makes positions in x's dtype."""

    layouts: ClassVar[tuple[bool, ...]] = (True,)
    heads_first = True

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """The module, fresh (it keeps what a half-precision call left behind), and the offset."""
        module = importlib.import_module("rotary_embedding_torch")
        return module.RotaryEmbedding(case.shape[-1]).to(self.device), int(positions[0])

    def function(self, case: Case) -> Callable[..., Any]:  # noqa: ARG002  # one layout
        """Return the call of the module."""
        return lambda x, module, offset: module.rotate_queries_or_keys(x, offset=offset)


class XTransformers(TorchSubject):
    """`apply_rotary_pos_emb` with the angles of its RotaryEmbedding."""

    layouts: ClassVar[tuple[bool, ...]] = (True,)
    heads_first = True

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """Angles (1, S, D) in float32 and the scale."""
        module = importlib.import_module("x_transformers.x_transformers")
        embedding = module.RotaryEmbedding(case.shape[-1]).to(self.device)
        freqs, scale = embedding(torch.from_numpy(positions).to(self.device))
        return freqs, scale

    def function(self, case: Case) -> Callable[..., Any]:  # noqa: ARG002  # one layout
        """Return the function."""
        module = importlib.import_module("x_transformers.x_transformers")
        apply: Callable[..., Any] = module.apply_rotary_pos_emb
        return apply
