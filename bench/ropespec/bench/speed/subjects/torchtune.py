"""torchtune's RotaryPositionalEmbeddings: interleaved, float32 table and arithmetic."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import import_below_stubs
from ropespec.bench.speed.subjects.torch_base import TorchSubject, rounded_up

__all__ = ["TorchTune"]


class TorchTune(TorchSubject):
    """The module, called with `input_pos`; its table is made beforehand."""

    layouts: ClassVar[tuple[bool, ...]] = (True,)

    def __init__(self, device: str, *, compiled: bool = False) -> None:
        super().__init__(device, compiled=compiled)
        module = import_below_stubs("torchtune.modules.position_embeddings")
        self._make = module.RotaryPositionalEmbeddings
        self._modules: dict[tuple[int, int], Any] = {}

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """Return the module with a table that is long enough, and positions (B, S)."""
        kind = case.shape[-1], rounded_up(int(positions[-1]) + 1)
        if kind not in self._modules:
            module = self._make(kind[0], max_seq_len=kind[1])
            self._modules[kind] = module.to(self.device)
        m = torch.from_numpy(positions).to(self.device)
        return self._modules[kind], m.expand(case.shape[0], -1)

    def function(self, case: Case) -> Callable[..., Any]:  # noqa: ARG002  # one layout
        """Return the call of the module."""
        return lambda x, module, positions: module(x, input_pos=positions)
