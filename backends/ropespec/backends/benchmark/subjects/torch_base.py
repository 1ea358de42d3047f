"""What all subjects in torch share: tensors, autograd, compilation, the copy, the clock."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ropespec.backends.benchmark.case import Case
from ropespec.backends.benchmark.subjects.base import Subject, UnavailableError
from ropespec.backends.benchmark.timing import Clock, Operation, WallClock

__all__ = ["TorchSubject", "rounded_up"]

Function = Callable[..., Any]

FLUSH_BYTES = 2**29
"""Written between repetitions on a GPU, several times what its cache holds."""


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
        """Forget what was compiled: the shape is fixed, as the copy's is."""
        if self.compiled and (self._kept is None or self._kept[0] != case):
            torch.compiler.reset()

    def clock(self) -> Clock:
        """CUDA events on a GPU."""
        return _CudaClock() if self.device == "cuda" else WallClock()

    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Return the call of the function on tensors of its own."""
        inputs = tuple(self._arranged(self.tensor(x)) for _ in range(self.tensors))
        tables = self.tables(case, positions)
        function = self._callable(case)
        size = x.nbytes
        if case.direction == "backward" and case.into == "new":
            return self._backward(function, inputs, tables, size)
        keywords: dict[str, Any] = {}
        if case.into == "out":
            keywords = {"out": torch.empty_like(inputs[0])}
        elif case.into == "self":
            keywords = {"out": inputs[0]}

        def call(state: object) -> object:  # noqa: ARG001  # nothing is used up
            return function(*inputs, *tables, **keywords)

        return Operation(call, tensors=self.tensors, size=size)

    def copy(self, case: Case, x: NDArray[Any]) -> tuple[str, Operation]:
        """`clone` into new memory, else `copy_`."""
        source = self.tensor(x)
        if case.into == "new":
            return "torch clone", Operation(lambda _: source.clone(), size=x.nbytes)
        target = torch.empty_like(source)
        return "torch copy_", Operation(lambda _: target.copy_(source), size=x.nbytes)

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
        if self._kept is None or self._kept[0] != case:
            function = self.function(case)
            if self.compiled:
                function = torch.compile(function, dynamic=False)
            self._kept = (case, function)
        return self._kept[1]

    def _backward(
        self,
        function: Function,
        inputs: tuple[torch.Tensor, ...],
        tables: tuple[Any, ...],
        size: int,
    ) -> Operation:
        """Autograd from the result back to x; the forward pass is not timed."""
        gradients = tuple(x.clone() for x in inputs)

        def prepare() -> tuple[Any, ...]:
            leaves = tuple(x.detach().requires_grad_() for x in inputs)
            results = function(*leaves, *tables)
            results = results if isinstance(results, tuple) else (results,)
            given = tuple(g.to(y.dtype) for g, y in zip(gradients, results, strict=True))
            return results, leaves, given

        return Operation(
            lambda state: torch.autograd.grad(*state), prepare, tensors=self.tensors, size=size
        )


def rounded_up(length: int) -> int:
    """Return a length for a table of which the first `length` rows are used: few tables suffice."""
    return -(-length // TABLE_ROWS) * TABLE_ROWS


class _CudaClock:
    """Time between two events on the current stream; the cache is overwritten in between."""

    loop_seconds = 1e-5
    """A kernel that is shorter is repeated: of it the launch is what takes the time."""

    def __init__(self) -> None:
        self._scratch = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")

    def seconds(self, work: Callable[[], object]) -> float:
        """Return the seconds on the device from the first launch to the last result."""
        began = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch's
        ended = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch's
        began.record()
        work()
        ended.record()
        ended.synchronize()
        return float(began.elapsed_time(ended)) / 1000

    def flush(self) -> None:
        """Write to more memory than the cache holds."""
        self._scratch.zero_()
