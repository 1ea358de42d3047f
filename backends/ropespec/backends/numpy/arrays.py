"""What the chapters share: reading arrays, and silence where NaN and infinity are legal input."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.spec.arguments import ArrayFacts, check_array_type, check_float_array

__all__ = ["Array", "check_array", "check_floats", "quiet"]

Array = NDArray[Any]
"""An array of a float dtype; ml_dtypes.bfloat16 is no NumPy scalar type."""


def check_array(name: str, value: object) -> None:
    """Require a `numpy.ndarray`."""
    check_array_type(name, value, np.ndarray, "numpy.ndarray")


def check_floats(name: str, value: object, *, ndim: int) -> ArrayFacts:
    """Require a `numpy.ndarray` of a floating-point dtype with at least `ndim` axes."""
    check_array(name, value)
    return check_float_array(name, value, ndim=ndim)


def quiet() -> np.errstate:
    """Return a context in which IEEE 754 has its way: inf * 0 is NaN, too large is inf."""
    return np.errstate(all="ignore")
