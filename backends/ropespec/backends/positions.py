"""Reading positions that are no array of the framework: one integer, a sequence, a NumPy array."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.spec.arguments import POSITION_DTYPES, check_positions
from ropespec.spec.errors import ArgumentTypeError

__all__ = ["read_positions"]


def read_positions(value: object, name: str = "positions") -> NDArray[np.integer[Any]]:
    """Read positions on the host, where nothing wraps (FREQ-6).

    Parameters
    ----------
    value : ndarray of int, int, or nested sequences of int
        Positions of either sign; an empty sequence stands for no position at all.
    name : str
        The argument in messages.

    Returns
    -------
    ndarray of int
        The array itself, or a new one of int64.

    Raises
    ------
    ArgumentTypeError
        If the elements are not integers that fit in int64.
    """
    if isinstance(value, np.ndarray):
        check_positions(value, name)
        return value
    array: NDArray[Any]
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError):  # ragged, or a foreign object
        array = np.empty(0, dtype=np.object_)
    if array.size == 0 and array.dtype == np.float64:  # what NumPy makes of []
        array = array.astype(np.int64)
    if array.dtype.name not in POSITION_DTYPES:
        raise ArgumentTypeError(name, "integers that fit in int64", value)
    return array
