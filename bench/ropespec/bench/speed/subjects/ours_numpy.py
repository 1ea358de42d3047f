"""The NumPy backend; going backward is calling it with the opposite angle."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import ropespec.backends.numpy as backend
from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import ALL_WAYS, there_and_back
from ropespec.bench.speed.subjects.numpy_base import NumpySubject
from ropespec.bench.speed.subjects.ours import rotation_of
from ropespec.bench.speed.timing import Operation

__all__ = ["OursNumpy"]


class OursNumpy(NumpySubject):
    """`apply_rotary`, or `apply_rotary_cos_sin` with its tables made beforehand.

    Parameters
    ----------
    device : str
        As for every subject.
    tables : bool
        Pass cos and sin in float32.
    """

    ways = ALL_WAYS

    def __init__(self, device: str, *, tables: bool = False) -> None:
        super().__init__(device)
        self._tables = tables

    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Return the call on an array of its own, twice for both passes."""
        if case.direction == "both":
            return there_and_back(self.operation, case, x, positions)
        apply = rotation_of(backend, case, tables=self._tables)
        keywords: dict[str, Any] = {"interleaved": case.interleaved}
        own = x.copy()
        if case.into != "new":
            keywords["out"] = own if case.into == "self" else np.zeros_like(own)
        tables: tuple[Any, ...] = (positions,)
        if self._tables:
            cos, sin = backend.cos_sin(positions, case.shape[-1])
            tables = (cos.astype(np.float32), sin.astype(np.float32))
        return Operation(lambda: apply(own, *tables, **keywords))
