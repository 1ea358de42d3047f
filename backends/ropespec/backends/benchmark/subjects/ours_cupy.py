"""The CuPy backend, on a GPU alone; going backward is calling it with the opposite angle."""

from collections.abc import Callable
from typing import Any, ClassVar

import cupy
import numpy as np
from numpy.typing import NDArray

import ropespec.backends.cupy as backend
from ropespec.backends.benchmark.case import Case
from ropespec.backends.benchmark.subjects.base import Subject, UnavailableError
from ropespec.backends.benchmark.subjects.ours import rotation_of
from ropespec.backends.benchmark.timing import Clock, Operation

__all__ = ["OursCupy"]

FLUSH_BYTES = 2**29
"""Written between repetitions, several times what the cache of a GPU holds."""


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
    ways: ClassVar[frozenset[tuple[str, str]]] = frozenset(
        {
            ("forward", "new"),
            ("forward", "out"),
            ("forward", "self"),
            ("backward", "new"),
            ("backward", "out"),
        }
    )

    def __init__(self, device: str, *, tables: bool = False) -> None:
        if device == "cpu" or not cupy.cuda.is_available():
            raise UnavailableError("CuPy needs a GPU")
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self.device_name = properties["name"].decode()
        self._tables = tables

    def clock(self) -> Clock:
        """CUDA events."""
        return _CupyClock()

    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Return the call on an array of its own."""
        apply = rotation_of(backend, case, tables=self._tables)
        own = cupy.array(x)
        keywords: dict[str, Any] = {"interleaved": case.interleaved}
        if case.into != "new":
            keywords["out"] = own if case.into == "self" else cupy.empty_like(own)
        turned = cupy.asarray(positions if case.direction == "forward" else -positions)
        tables: tuple[Any, ...] = (turned,)
        if self._tables:
            tables = tuple(
                table.astype(cupy.float32) for table in backend.cos_sin(turned, case.shape[-1])
            )
        return Operation(lambda _: apply(own, *tables, **keywords), size=x.nbytes)

    def copy(self, case: Case, x: NDArray[Any]) -> tuple[str, Operation]:
        """`copy` into memory of the pool, else `copyto`."""
        source = cupy.array(x)
        if case.into == "new":
            return "cupy copy", Operation(lambda _: source.copy(), size=x.nbytes)
        target = cupy.empty_like(source)
        return "cupy copyto", Operation(lambda _: cupy.copyto(target, source), size=x.nbytes)

    def read(self, result: Any, tokens: NDArray[np.intp]) -> NDArray[np.float64]:  # noqa: ANN401  # as Subject
        """Return tokens as float64."""
        values: NDArray[np.float64] = cupy.asnumpy(result[:, cupy.asarray(tokens)]).astype(
            np.float64
        )
        return values


class _CupyClock:
    """Time between two events on the current stream; the cache is overwritten in between."""

    loop_seconds = 1e-5
    """A kernel that is shorter is repeated: of it the launch is what takes the time."""

    def __init__(self) -> None:
        self._scratch = cupy.empty(FLUSH_BYTES, dtype=cupy.uint8)

    def seconds(self, work: Callable[[], object]) -> float:
        """Return the seconds on the device from the first launch to the last result."""
        began, ended = cupy.cuda.Event(), cupy.cuda.Event()
        began.record()
        work()
        ended.record()
        ended.synchronize()
        return float(cupy.cuda.get_elapsed_time(began, ended)) / 1000

    def flush(self) -> None:
        """Write to more memory than the cache holds."""
        self._scratch.fill(0)
