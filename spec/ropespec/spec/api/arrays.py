"""The types of the shared signatures."""

from typing import Any, TypeAlias, TypeVar

from numpy.typing import ArrayLike

__all__ = ["ArrayT", "Device", "Positions"]

ArrayT = TypeVar("ArrayT")
"""The array of the framework."""

Positions: TypeAlias = ArrayT | ArrayLike
"""Integers of either sign: an array of the framework or of NumPy, one integer, or sequences."""

Device: TypeAlias = Any
"""What the framework takes for a device; None is its default device."""
