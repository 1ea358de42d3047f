"""The shared API for NumPy: the primitives, and what follows from them."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ropespec.backends.derived import Derived
from ropespec.backends.namespace import NamespacePrimitives, Turning, inv_freq
from ropespec.backends.numpy import rotation
from ropespec.backends.numpy.arguments import read_call
from ropespec.backends.numpy.arrays import Array, check_array, quiet
from ropespec.backends.positions import read_positions
from ropespec.spec.api import Positions
from ropespec.spec.device import check_host_device

__all__ = ["functions"]

R = TypeVar("R")


class NumpyPrimitives(NamespacePrimitives[Array]):
    """NumPy has one device, and warns of NaN and infinity, which are legal input."""

    xp = np

    def run(self, body: Callable[..., R], *arrays: Any, **options: Any) -> R:  # noqa: ANN401  # handed on
        """Compute in silence."""
        with quiet():
            return body(self, *arrays, **options)

    def check_array(self, name: str, value: object) -> None:
        """Require a `numpy.ndarray`."""
        check_array(name, value)

    def positions_of(self, value: object, name: str = "positions") -> NDArray[Any]:
        """Require integers."""
        return read_positions(value, name)

    def read_rotation(
        self,
        x: Array,
        positions: Positions[Array],
        interleaved: bool,
        base: float,
        rotary_dim: int | None,
    ) -> tuple[Array, bool, float, int]:
        """Require the arguments of `apply_rotary`."""
        return read_call(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)

    def beside(self, array: Array, other: Array) -> Array:  # noqa: ARG002  # there is one device
        """Leave it where it is."""
        return array

    def placed(self, positions: Array, other: Array) -> Array:  # noqa: ARG002  # as above
        """Leave them where they are."""
        return positions

    def inv_freq(self, dim: int, base: float, device: object) -> Array:
        """theta_i in float64."""
        check_host_device(device)
        theta: Array = inv_freq(np, dim, base)
        return theta

    def constants(self, values: NDArray[np.float64], device: object) -> Array:
        """Copy them."""
        check_host_device(device)
        return values.copy()

    def counted(self, length: int, device: object) -> Array:
        """0..length-1."""
        check_host_device(device)
        return np.arange(length)

    def places(self, x: Array, length: int) -> Array:  # noqa: ARG002  # as above
        """0..length-1."""
        return np.arange(length)

    def turning(self, positions: Array, dim: int, base: float, x: Array | None = None) -> Turning:
        """Return what `cos_sin` takes."""
        return Turning(positions, dim, base, self.wide() if x is None else self.work(x.dtype))

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
    """The shared API for NumPy."""

    apply_rotary = staticmethod(rotation.apply_rotary)
    apply_rotary_cos_sin = staticmethod(rotation.apply_rotary_cos_sin)


functions = Functions(NumpyPrimitives())
