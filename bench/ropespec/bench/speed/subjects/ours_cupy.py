"""The CuPy backend, on a GPU alone; going backward is calling it with the opposite angle."""

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np
from numpy.typing import NDArray

import ropespec.backends.cupy as backend
from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import (
    ALL_WAYS,
    Subject,
    UnavailableError,
    there_and_back,
)
from ropespec.bench.speed.subjects.ours import rotation_of
from ropespec.bench.speed.timing import LEAST_CALLS, Clock, Operation

__all__ = ["OursCupy"]


class OursCupy(Subject):
    """`apply_rotary`, or `apply_rotary_cos_sin` with its tables made beforehand.

    Parameters
    ----------
    device : str
        As for every subject.
    tables : bool
        Pass cos and sin in float32.
    """

    device = "cuda"
    ways = ALL_WAYS

    def __init__(self, device: str, *, tables: bool = False) -> None:
        if device == "cpu" or not cupy.cuda.is_available():
            raise UnavailableError("CuPy needs a GPU")
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self.device_name = properties["name"].decode()
        self._tables = tables

    def release(self) -> None:
        """Empty the pool of the GPU."""
        cupy.get_default_memory_pool().free_all_blocks()

    def clock(self) -> Clock:
        """CUDA events."""
        return _CupyClock()

    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Return the call on an array of its own, twice for both passes."""
        if case.direction == "both":
            return there_and_back(self.operation, case, x, positions)
        apply = rotation_of(backend, case, tables=self._tables)
        own = cupy.array(x)
        keywords: dict[str, Any] = {"interleaved": case.interleaved}
        if case.into != "new":
            keywords["out"] = own if case.into == "self" else cupy.empty_like(own)
        turned = cupy.asarray(positions)
        tables: tuple[Any, ...] = (turned,)
        if self._tables:
            tables = tuple(
                table.astype(cupy.float32) for table in backend.cos_sin(turned, case.shape[-1])
            )
        return Operation(lambda: apply(own, *tables, **keywords))

    def copy(self, case: Case, x: NDArray[Any]) -> tuple[str, Operation]:
        """`copy` into memory of the pool, else `copyto`."""
        source = cupy.array(x)
        if case.into == "new":
            return "cupy copy", Operation(source.copy)
        target = cupy.empty_like(source)
        return "cupy copyto", Operation(lambda: cupy.copyto(target, source))

    def read(self, result: Any, tokens: NDArray[np.intp]) -> NDArray[np.float64]:  # noqa: ANN401  # as Subject
        """Return tokens as float64."""
        values: NDArray[np.float64] = cupy.asnumpy(result[:, cupy.asarray(tokens)]).astype(
            np.float64
        )
        return values


class _CupyClock:
    """Time between two events on the current stream."""

    least_calls = LEAST_CALLS

    def seconds(self, work: Callable[[], object]) -> float:
        """Return the seconds on the device from the first launch to the last result."""
        began, ended = cupy.cuda.Event(), cupy.cuda.Event()
        began.record()
        work()
        ended.record()
        ended.synchronize()
        return float(cupy.cuda.get_elapsed_time(began, ended)) / 1000
