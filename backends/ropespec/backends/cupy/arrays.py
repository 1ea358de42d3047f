"""What the chapters share: reading arrays and positions."""

import functools
from typing import Any, TypeAlias

import cupy
import numpy as np

from ropespec.backends.positions import read_positions
from ropespec.spec.arguments import (
    ArrayFacts,
    check_array_type,
    check_float_array,
    check_positions,
)
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

__all__ = [
    "Array",
    "Device",
    "check_array",
    "check_floats",
    "device_of",
    "name_of_dtype",
    "on_device",
    "positions_of",
    "read_device",
]

Array: TypeAlias = cupy.ndarray  # CuPy publishes no types: to a type checker it is anything
Device = Any  # a cupy.cuda.Device, which is a context too


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


@functools.cache
def name_of_dtype(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype, which NumPy makes anew for everyone who asks."""
    return dtype.name


def on_device(array: Array) -> Array:
    """Move checked positions or tables to the current device; what lies there stays as it is."""
    return cupy.asarray(array)


def device_of(*arrays: Array) -> Device:
    """Return the device of the first `cupy.ndarray`, or else the current one, as a context."""
    first = next((array for array in arrays if isinstance(array, cupy.ndarray)), None)
    return cupy.cuda.Device(None if first is None else first.device.id)


def read_device(device: object) -> Device:
    """Require a device; None is the current one (API-2).

    Raises
    ------
    ArgumentTypeError
        If it is no integer and no `cupy.cuda.Device`.
    ArgumentValueError
        If it is below 0.
    """
    must = "None or an int of at least 0 or a cupy.cuda.Device"
    if device is None:
        return cupy.cuda.Device()
    if isinstance(device, cupy.cuda.Device):
        return device
    if isinstance(device, bool) or not isinstance(device, int):
        raise ArgumentTypeError("device", must, device)
    if device < 0:
        raise ArgumentValueError("device", must, device)
    return cupy.cuda.Device(device)
