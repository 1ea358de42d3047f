"""The rotation as it is commonly written in NumPy, with tables made beforehand."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import there_and_back
from ropespec.bench.speed.subjects.numpy_base import NumpySubject
from ropespec.bench.speed.timing import Operation

__all__ = ["NaiveNumpy"]


class NaiveNumpy(NumpySubject):
    """Two halves of the result from two of x; float32 angles, tables and arithmetic."""

    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Return the call on an array of its own, twice for both passes."""
        if case.direction == "both":
            return there_and_back(self.operation, case, x, positions)
        half = case.shape[-1] // 2
        inv_freq = 1.0 / np.float32(10000.0) ** (np.arange(half, dtype=np.float32) / half)
        angles = (positions.astype(np.float32)[:, None] * inv_freq)[:, None, :]
        cos, sin = np.cos(angles), np.sin(angles)
        parts: tuple[Any, Any] = np.s_[..., :half], np.s_[..., half:]
        if case.interleaved:
            parts = np.s_[..., 0::2], np.s_[..., 1::2]
        own = x.copy()
        return Operation(lambda: _rotated(own, cos, sin, parts))


def _rotated(
    x: NDArray[Any], cos: NDArray[Any], sin: NDArray[Any], parts: tuple[Any, Any]
) -> NDArray[Any]:
    wide = x.astype(np.float32, copy=False)
    first, second = wide[parts[0]], wide[parts[1]]
    out = np.empty_like(x)
    out[parts[0]] = first * cos - second * sin
    out[parts[1]] = second * cos + first * sin
    return out
