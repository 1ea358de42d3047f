"""Arrays of CuPy."""

from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np

from ropespec.conformance.frameworks.cupy import FRAMEWORK
from ropespec.conformance.subject.frameworks.base import Array, Arrays, Memory

__all__ = ["ARRAYS"]


class _CuPy(Arrays):
    about = FRAMEWORK

    def __init__(self, device: str | None) -> None:
        index = int((device or "cuda:0").partition(":")[2] or 0)
        cupy.cuda.Device(index).use()
        self.device = f"cuda:{index}"

    @staticmethod
    def host(array: Array) -> np.ndarray:
        found: np.ndarray = cupy.asnumpy(array)
        return found

    @staticmethod
    def where(array: Array) -> str:
        return f"cuda:{array.device.id}"

    @staticmethod
    def memory(array: Array) -> Memory | None:
        memory = array.data.mem
        return (f"cuda:{array.device.id}", memory.ptr, memory.ptr + memory.size)

    @staticmethod
    def place(array: Array) -> tuple[Any, ...] | None:
        return (array.data.ptr, array.shape, array.strides, array.dtype)

    def array(self, values: np.ndarray) -> Array:
        return cupy.asarray(values)

    def repeated(self, buffer: Array, shape: Sequence[int]) -> Array:
        return cupy.broadcast_to(buffer, shape)

    def finish(self, result: Array) -> None:
        del result
        cupy.cuda.get_current_stream().synchronize()


ARRAYS = _CuPy
