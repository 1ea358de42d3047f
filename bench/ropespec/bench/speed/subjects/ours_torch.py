"""The torch backend, eager or compiled."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import ropespec.backends.torch as backend
from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import ALL_WAYS, there_and_back
from ropespec.bench.speed.subjects.ours import rotation_of
from ropespec.bench.speed.subjects.torch_base import TorchSubject
from ropespec.bench.speed.timing import Operation

__all__ = ["OursTorch"]


class OursTorch(TorchSubject):
    """`apply_rotary`, or `apply_rotary_cos_sin` with its tables made beforehand.

    Parameters
    ----------
    device, compiled
        As for every subject in torch.
    tables : bool
        Pass cos and sin, in the dtype of the arithmetic.
    """

    ways = ALL_WAYS

    def __init__(self, device: str, *, compiled: bool = False, tables: bool = False) -> None:
        super().__init__(device, compiled=compiled)
        self._tables = tables

    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Autograd has no given memory: there the gradient is turned by the opposite angle."""
        if case.direction == "both" and case.into != "new":
            return there_and_back(self.operation, case, x, positions)
        return super().operation(case, x, positions)

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """Positions, or cos and sin."""
        m = torch.from_numpy(positions).to(self.device)
        if not self._tables:
            return (m,)
        cos, sin = backend.cos_sin(m, case.shape[-1])
        return cos.float(), sin.float()

    def function(self, case: Case) -> Callable[..., Any]:
        """Return the function of the backend."""
        apply = rotation_of(backend, case, tables=self._tables)
        interleaved = case.interleaved

        def rotate(x: torch.Tensor, *tables: Any, **out: Any) -> Any:  # noqa: ANN401  # tensors
            return apply(x, *tables, interleaved=interleaved, **out)

        return rotate
