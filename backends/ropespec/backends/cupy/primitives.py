"""The shared API for CuPy: the primitives, and what follows from them."""

from collections.abc import Callable
from typing import Any, TypeVar

import cupy
import numpy as np
from numpy.typing import NDArray

from ropespec.backends.cupy import rotation
from ropespec.backends.cupy.arrays import (
    Array,
    check_array,
    device_of,
    on_device,
    positions_of,
    read_device,
)
from ropespec.backends.derived import Derived
from ropespec.backends.namespace import NamespacePrimitives, Turning, inv_freq
from ropespec.backends.phase import Steps

__all__ = ["functions"]

R = TypeVar("R")


class CupyPrimitives(NamespacePrimitives[Array]):
    """Memory comes from the current device, and a kernel runs there."""

    @property
    def xp(self) -> Any:  # noqa: ANN401  # a module
        """The functions of arrays."""
        return cupy

    def run(self, body: Callable[..., R], *arrays: Any, **options: Any) -> R:  # noqa: ANN401  # handed on
        """Compute on the device of the first array."""
        first = arrays[0]
        with device_of(first.positions if isinstance(first, Turning) else first):
            return body(self, *arrays, **options)

    def check_array(self, name: str, value: object) -> None:
        """Require a `cupy.ndarray`."""
        check_array(name, value)

    def positions_of(self, value: object, name: str = "positions") -> Array:
        """Require integers."""
        return positions_of(value, name)

    def beside(self, array: Array, other: Array) -> Array:
        """Move to the device of another array."""
        with device_of(other):
            return on_device(array)

    def placed(self, positions: Array, other: Array) -> Array:
        """Leave an array where it lies, and move all else beside `other`."""
        with device_of(positions, other):
            return on_device(positions)

    def cast(self, x: Array, dtype: np.dtype[Any]) -> Array:
        """Convert to a dtype, where it lies."""
        with device_of(x):
            return super().cast(x, dtype)

    def inv_freq(self, dim: int, base: float, device: object) -> Array:
        """theta_i in float64."""
        with read_device(device):
            return inv_freq(cupy, dim, base)

    def constants(self, values: NDArray[np.float64], device: object) -> Array:
        """Copy them to the device."""
        with read_device(device):
            return cupy.array(values)

    def counted(self, length: int, device: object) -> Array:
        """0..length-1."""
        with read_device(device):
            return cupy.arange(length)

    def places(self, x: Array, length: int) -> Array:
        """0..length-1."""
        with device_of(x):
            return cupy.arange(length)

    def turning(self, positions: Array, dim: int, base: float, x: Array | None = None) -> Turning:
        """Return what `cos_sin` takes."""
        with device_of(positions if x is None else x):
            dtype = self.wide() if x is None else self.work(x.dtype)
            return Turning(on_device(positions), dim, base, dtype)

    def circle(self, turning: Turning) -> tuple[Array, Array]:
        """Return cos and sin by exact phase."""
        with device_of(turning.positions):
            return super().circle(turning)

    def circle_by(self, positions: Array, steps: Steps, x: Array | None) -> tuple[Array, ...]:
        """Return A cos and A sin by exact phase."""
        with device_of(positions if x is None else x):
            return super().circle_by(on_device(positions), steps, x)

    def rotate_by(self, x: Array, *tables: Array, interleaved: bool) -> Array:
        """Rotate as by tables that are given."""
        return rotation.apply_rotary_cos_sin(x, *tables, interleaved=interleaved)

    def rotate(self, x: Array, turning: Turning, *, interleaved: bool) -> Array:
        """Rotate by the kernel."""
        positions, dim, base, _ = turning
        return rotation.apply_rotary(
            x, positions, interleaved=interleaved, base=base, rotary_dim=dim
        )


class Functions(Derived[Array]):
    """The shared API for CuPy."""

    apply_rotary = staticmethod(rotation.apply_rotary)
    apply_rotary_cos_sin = staticmethod(rotation.apply_rotary_cos_sin)


functions = Functions(CupyPrimitives())
