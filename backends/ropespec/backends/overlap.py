"""Whether arrays share memory, from their addresses and strides alone; for NumPy and CuPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["overlaps_itself", "same", "share"]

Array = NDArray[Any]

WORK = 2**20
"""Candidates that NumPy may try to find out whether two arrays share memory.

Views of one array by slices and transpositions take a few; an array with many axes of odd strides
that takes more cannot be shown to be safe.
"""


def same(one: Array, other: Array) -> bool:
    """Say whether two arrays of one shape and dtype are the same memory in the same order."""
    return one.ctypes.data == other.ctypes.data and one.strides == other.strides


def share(one: Array, other: Array) -> bool:
    """Say whether two arrays have an element in common, or cannot be shown to have none."""
    if not np.may_share_memory(one, other):  # their bounds are apart
        return False
    try:
        # The stubs of NumPy know only two of the numbers that it takes.
        return np.shares_memory(one, other, max_work=WORK)  # type: ignore[arg-type]  # see above
    except np.exceptions.TooHardError:
        return True


def overlaps_itself(out: Array) -> bool:
    """Say whether two elements share memory.

    If two do, they differ first on some axis, and the same distance lies between an element at 0
    of that axis and one further on, at 0 of all axes before it.
    """
    while out.ndim and out.size:
        if share(out[:1], out[1:]):
            return True
        out = out[0, ...]  # a view to the last: an element would be read, and it may lie on a GPU
    return False
