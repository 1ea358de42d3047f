"""One product of each number of a tensor: what little arithmetic takes torch itself."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import ALL_WAYS, there_and_back
from ropespec.bench.speed.subjects.torch_base import TorchSubject
from ropespec.bench.speed.timing import Operation

__all__ = ["ProductTorch"]


class ProductTorch(TorchSubject):
    """`torch.mul` by -1, and its gradient: no rotation, but what one may be held against."""

    rotates = False
    ways = ALL_WAYS

    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Autograd has no given memory: there it is two products."""
        if case.direction == "both" and case.into != "new":
            return there_and_back(self.operation, case, x, positions)
        return super().operation(case, x, positions)

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """None: the factor is a number."""
        del case, positions
        return ()

    def function(self, case: Case) -> Callable[..., Any]:
        """Return the product, in whichever pairs."""
        del case
        return _product


def _product(x: torch.Tensor, **out: torch.Tensor) -> torch.Tensor:
    return torch.mul(x, -1.0, **out)
