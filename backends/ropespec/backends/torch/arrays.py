"""What the chapters share: dtypes, and reading tensors and positions."""

from typing import Any

import torch
from numpy.typing import ArrayLike

from ropespec.backends.positions import read_positions
from ropespec.spec.arguments import (
    ArrayFacts,
    check_array_type,
    check_base,
    check_float_array,
    check_positions,
)
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError

__all__ = [
    "Device",
    "Positions",
    "arithmetic",
    "base_of",
    "check_array",
    "check_floats",
    "on_device",
    "positions_of",
    "read_device",
]

Device = torch.device | str | int | None
"""What `torch.device` takes; None is the default device of torch."""

Positions = torch.Tensor | ArrayLike
"""A tensor of integers, a NumPy array, one integer, or nested sequences of integers."""


def check_array(name: str, value: object) -> None:
    """Require a `torch.Tensor`."""
    check_array_type(name, value, torch.Tensor, "torch.Tensor")


def check_floats(name: str, value: object, *, ndim: int) -> ArrayFacts:
    """Require a `torch.Tensor` of a floating-point dtype with at least `ndim` axes."""
    check_array(name, value)
    return check_float_array(name, value, ndim=ndim)


def base_of(base: object, name: str = "base") -> float:
    """Require a base above 1 that is a number, also where `torch.compile` makes it a symbol."""
    if torch.compiler.is_compiling() and isinstance(base, float):
        # A compiler has loaded this already; loading it with torch would cost half a second.
        from torch.fx.experimental.symbolic_shapes import guard_scalar  # noqa: PLC0415  # see above

        base = guard_scalar(base)
    return check_base(base, name)


def positions_of(value: object, name: str = "positions") -> Any:  # noqa: ANN401  # a tensor or an array
    """Require positions: a tensor as it is, anything else as a NumPy array."""
    if isinstance(value, torch.Tensor):
        check_positions(value, name)
        return value
    return read_positions(value, name)


def on_device(positions: Any, device: torch.device | None) -> torch.Tensor:  # noqa: ANN401  # as above
    """Move checked positions to `device` as int64.

    None leaves a tensor where it is, and takes all else to the default device.
    """
    if isinstance(positions, torch.Tensor):  # which `as_tensor` would take there as well
        if positions.dtype is torch.int64 and positions.device == device:
            return positions  # as `to` would, but sooner
        return positions.to(positions.device if device is None else device, torch.int64)
    return torch.as_tensor(positions, dtype=torch.int64, device=device)


def read_device(device: Any) -> torch.device | None:  # noqa: ANN401  # what the caller passed
    """Require what `torch.device` takes; None, the default device, stays None (API-2).

    Raises
    ------
    ArgumentTypeError
        If it is of another type.
    ArgumentValueError
        If torch knows no such device.
    """
    if device is None or isinstance(device, torch.device):
        return device
    must = "None or what torch.device takes"
    try:
        return torch.device(device)
    except TypeError as error:
        raise ArgumentTypeError("device", must, device) from error
    except RuntimeError as error:
        raise ArgumentValueError("device", must, device) from error


def arithmetic(dtype: torch.dtype) -> torch.dtype:
    """Return float64 for float64, float32 for everything narrower (JDG-3)."""
    return torch.float64 if dtype == torch.float64 else torch.float32
