"""What the chapters share: reading positions, widening to float64, rounding once at the end."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.spec.arguments import (
    POSITION_DTYPES,
    check_array_type,
    check_float_array,
    check_positions,
)
from ropespec.spec.errors import ArgumentTypeError

__all__ = ["Floats", "Integers", "as_float64", "as_positions", "check_floats", "round_to"]

Floats = NDArray[Any]
"""An array of one of the four floating-point dtypes; ml_dtypes.bfloat16 is no NumPy scalar type."""

Integers = NDArray[np.integer[Any]]
"""An array of positions."""


def as_positions(value: ArrayLike, name: str = "positions") -> Integers:
    """Read positions: an integer array, one integer, or nested sequences (FREQ-6; F-019).

    An empty sequence stands for no position at all.

    Parameters
    ----------
    value : array_like of int
        Positions of either sign.
    name : str
        The argument in messages.

    Returns
    -------
    ndarray of int
        The array itself, or a new one.

    Raises
    ------
    ArgumentTypeError
        If the elements are not integers that fit in int64.
    """
    if isinstance(value, np.ndarray):
        check_positions(value, name)
        return value
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError):  # ragged, or a foreign object
        array = np.empty(0, dtype=np.object_)
    if array.size == 0 and array.dtype == np.float64:  # what NumPy makes of []
        array = array.astype(np.int64)
    if array.dtype.name not in POSITION_DTYPES:
        raise ArgumentTypeError(name, "integers that fit in int64", value)
    return array


def check_floats(name: str, value: object, *, ndim: int) -> Floats:
    """Require a NumPy array of a floating-point dtype with at least `ndim` axes.

    Returns
    -------
    ndarray
        `value` itself.

    Raises
    ------
    ArgumentTypeError
        If it is no NumPy array, or of another dtype.
    ArgumentValueError
        If it has fewer axes.
    """
    check_array_type(name, value, np.ndarray, "numpy.ndarray")
    check_float_array(name, value, ndim=ndim)
    assert isinstance(value, np.ndarray)
    return value


def as_float64(x: Floats) -> NDArray[np.float64]:
    """Copy `x` to float64, which holds every value of the four dtypes exactly.

    Returns
    -------
    ndarray of float64
        A new array, safe to write.
    """
    return x.astype(np.float64)


def round_to(y: NDArray[np.float64], dtype: np.dtype[Any]) -> Floats:
    """Round float64 values once, to nearest with ties to even, to `dtype` (ROT-17).

    Values beyond the largest number of `dtype` become infinite, as IEEE 754 prescribes.

    Parameters
    ----------
    y : ndarray of float64
        The result of the arithmetic.
    dtype : dtype
        float16, bfloat16, float32 or float64.

    Returns
    -------
    ndarray of `dtype`
        A new array of the shape of `y`.
    """
    with np.errstate(over="ignore", under="ignore"):
        if dtype.name != "bfloat16":
            return y.astype(dtype)
        # ml_dtypes goes from float64 to bfloat16 by way of float32, and two roundings are not one:
        # 1 + 2^-8 + 2^-40 would become 1. Cutting to float32 and leaving a 1 in the last bit
        # whenever something was cut off ("round to odd") keeps the second rounding right.
        single = y.astype(np.float32)
        beyond = np.abs(single) > np.abs(y)
        single = np.where(beyond, np.nextafter(single, np.float32(0)), single)
        cut = (single != y) & ~np.isnan(y)
        bits: NDArray[np.uint32] = single.view(np.uint32) | cut.astype(np.uint32)
        return bits.view(np.float32).astype(dtype)
