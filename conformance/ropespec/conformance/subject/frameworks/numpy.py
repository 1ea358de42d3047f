"""Arrays of NumPy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import asarray
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided
from numpy.ma import MaskedArray

from ropespec.conformance.frameworks.numpy import FRAMEWORK
from ropespec.conformance.subject.frameworks.base import Array, Arrays, Memory

__all__ = ["ARRAYS"]


class _NumPy(Arrays):
    about = FRAMEWORK

    def __init__(self, device: str | None) -> None:
        if device not in (None, "cpu"):
            raise ValueError("NumPy arrays live on the cpu")
        super().__init__(device)

    @staticmethod
    def unlike(array: Array) -> str:
        if isinstance(array, MaskedArray):
            return "it is a masked array"
        if not array.dtype.isnative:
            return f"its bytes are in foreign order ({array.dtype.str})"
        return ""

    @staticmethod
    def memory(array: Array) -> Memory | None:
        if not isinstance(array, np.ndarray) or not array.size:
            return None
        return ("cpu", *byte_bounds(asarray(array)))

    @staticmethod
    def place(array: Array) -> tuple[Any, ...] | None:
        if not isinstance(array, np.ndarray):
            return None
        address = array.__array_interface__["data"][0]
        return (address, array.shape, array.strides, array.dtype)

    def repeated(self, buffer: Array, shape: Sequence[int]) -> Array:
        sizes = zip(buffer.shape, buffer.strides, strict=True)
        strides = [0 if size == 1 else step for size, step in sizes]
        return as_strided(buffer, shape, strides)

    def locked(self, buffer: Array) -> Array:
        view = buffer.view()
        view.flags.writeable = False
        return view


ARRAYS = _NumPy
