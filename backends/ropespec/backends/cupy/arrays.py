"""What the chapters share: reading arrays and positions."""

from typing import Any

import cupy

from ropespec.backends.positions import read_positions
from ropespec.spec.arguments import (
    ArrayFacts,
    check_array_type,
    check_float_array,
    check_positions,
)

__all__ = ["Array", "check_array", "check_floats", "on_device", "positions_of"]

Array = Any  # a cupy.ndarray; CuPy publishes no types


def check_array(name: str, value: object) -> None:
    """Require a `cupy.ndarray`."""
    check_array_type(name, value, cupy.ndarray, "cupy.ndarray")


def check_floats(name: str, value: object, *, ndim: int) -> ArrayFacts:
    """Require a `cupy.ndarray` of a floating-point dtype with at least `ndim` axes."""
    check_array(name, value)
    return check_float_array(name, value, ndim=ndim)


def positions_of(value: object, name: str = "positions") -> Array:
    """Require positions: a `cupy.ndarray` as it is, anything else as a NumPy array."""
    if isinstance(value, cupy.ndarray):
        check_positions(value, name)
        return value
    return read_positions(value, name)


def on_device(positions: Array) -> Array:
    """Move checked positions to the current device; a `cupy.ndarray` stays where it is."""
    return cupy.asarray(positions)
