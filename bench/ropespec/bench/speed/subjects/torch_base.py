"""What all subjects in torch share: tensors, autograd, compilation, the copy, the clock."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import Subject, UnavailableError
from ropespec.bench.speed.timing import LEAST_CALLS, Clock, Operation, WallClock

__all__ = ["TorchSubject", "rounded_up"]

Function = Callable[..., Any]

TABLE_ROWS = 2**13
"""Tables of peers that hold all positions from 0 on are a multiple of so long."""


class TorchSubject(Subject):
    """A rotation of torch tensors.

    Parameters
    ----------
    device : str
        `cpu`, `cuda`, or `auto`.
    compiled : bool
        Pass its function through `torch.compile`.
    """

    tensors = 1
    """How many tensors one call of the function rotates."""

    heads_first = False
    """Whether it has (B, H, S, D), here as a view of (B, S, H, D), as after a projection."""

    def __init__(self, device: str, *, compiled: bool = False) -> None:
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        if device == "cuda" and not torch.cuda.is_available():
            raise UnavailableError("torch sees no GPU")
        self.device = device
        self.device_name = torch.cuda.get_device_name() if device == "cuda" else ""
        self.compiled = compiled
        self._kept: tuple[Case, Function] | None = None

    @abstractmethod
    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """Return what is made once and passed with every call."""

    @abstractmethod
    def function(self, case: Case) -> Function:
        """Return what rotates: `tensors` tensors and the tables, to as many tensors.

        With into `out` or `self` the last keyword is `out`.
        """

    def begin(self, case: Case) -> None:
        """Forget what was compiled for anything but other sizes of the same."""
        if self.compiled and (self._kept is None or self._kept[0] != case.group):
            torch.compiler.reset()

    def release(self) -> None:
        """Empty the pool of the GPU."""
        if self.device == "cuda":
            torch.cuda.empty_cache()

    def clock(self) -> Clock:
        """CUDA events on a GPU."""
        return _CudaClock() if self.device == "cuda" else WallClock()

    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Return the call of the function on tensors of its own."""
        inputs = tuple(self._arranged(self.tensor(x)) for _ in range(self.tensors))
        tables = self.tables(case, positions)
        function = self._callable(case)
        if case.direction == "both":
            return self._both(function, inputs, tables)
        keywords: dict[str, Any] = {}
        if case.into == "out":
            keywords = {"out": torch.empty_like(inputs[0])}
        elif case.into == "self":
            keywords = {"out": inputs[0]}
        return Operation(lambda: function(*inputs, *tables, **keywords), tensors=self.tensors)

    def copy(self, case: Case, x: NDArray[Any]) -> tuple[str, Operation]:
        """`clone` into new memory, else `copy_`."""
        source = self.tensor(x)
        if case.into == "new":
            return "torch clone", Operation(source.clone)
        target = torch.empty_like(source)
        return "torch copy_", Operation(lambda: target.copy_(source))

    def read(self, result: Any, tokens: NDArray[np.intp]) -> NDArray[np.float64]:  # noqa: ANN401  # tensors
        """Return tokens of the first tensor."""
        first = result[0] if isinstance(result, (tuple, list)) else result
        chosen = self._arranged(first.detach())[:, torch.from_numpy(tokens).to(first.device)]
        values: NDArray[np.float64] = chosen.to("cpu", torch.float64).numpy()
        return values

    def tensor(self, x: NDArray[Any]) -> torch.Tensor:
        """Copy a NumPy array into memory of torch."""
        if x.dtype.name == "bfloat16":  # torch cannot read it by that name
            return (
                torch.from_numpy(x.view(np.int16)).view(torch.bfloat16).to(self.device, copy=True)
            )
        return torch.from_numpy(x).to(self.device, copy=True)

    def _arranged(self, x: torch.Tensor) -> torch.Tensor:
        """View (B, S, H, D) as the subject has it, or the other way round."""
        return x.transpose(1, 2) if self.heads_first else x

    def _callable(self, case: Case) -> Function:
        if self._kept is None or self._kept[0] != case.group:
            function = self.function(case)
            if self.compiled:
                function = torch.compile(function)
            self._kept = (case.group, function)
        return self._kept[1]

    def _both(
        self, function: Function, inputs: tuple[torch.Tensor, ...], tables: tuple[Any, ...]
    ) -> Operation:
        """The function under autograd, and back to x."""
        leaves = tuple(x.clone().requires_grad_() for x in inputs)

        def forward() -> tuple[torch.Tensor, ...]:
            results = function(*leaves, *tables)
            return results if isinstance(results, tuple) else (results,)

        given = tuple(
            x.to(result.dtype, copy=True) for x, result in zip(inputs, forward(), strict=True)
        )
        return Operation(
            lambda: torch.autograd.grad(forward(), leaves, given), tensors=2 * self.tensors
        )


def rounded_up(length: int) -> int:
    """Return a length for a table of which the first `length` rows are used: few tables suffice."""
    return -(-length // TABLE_ROWS) * TABLE_ROWS


class _CudaClock:
    """Time between two events on the current stream."""

    least_calls = LEAST_CALLS

    def seconds(self, work: Callable[[], object]) -> float:
        """Return the seconds on the device from the first launch to the last result."""
        began = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch's
        ended = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch's
        began.record()
        work()
        ended.record()
        ended.synchronize()
        return float(began.elapsed_time(ended)) / 1000
