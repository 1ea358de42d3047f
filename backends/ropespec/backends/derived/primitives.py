"""What a framework brings: from this, and its two rotations, the whole shared API follows."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ropespec.backends.phase import Steps
from ropespec.spec.api import ArrayT, Device, Positions
from ropespec.spec.arguments import (
    ArrayFacts,
    check_base,
    check_flag,
    check_float_array,
    check_positions_fit,
    check_rotary_dim,
    facts,
)

__all__ = ["Primitives", "members"]

R = TypeVar("R")

Array = Any  # an array of the framework; no type tells its operators
Checked = Any  # checked positions: an array of the framework, or one of NumPy
Dtype = Any  # a dtype of the framework
Turning = Any  # how much every token turns, as `rotate` of the framework takes it


def members(dim: int, *, interleaved: bool) -> tuple[slice, slice]:
    """Return where the first and the second components of all pairs are among `dim`."""
    if interleaved:
        return slice(0, dim, 2), slice(1, dim, 2)
    return slice(0, dim // 2), slice(dim // 2, dim)


class Primitives(Protocol[ArrayT]):
    """What is different from framework to framework; all arguments but those to check are checked.

    Attributes
    ----------
    xp : module
        The functions of arrays, of which those are used that are alike everywhere: axes are passed
        by position.
    """

    @property
    def xp(self) -> Any:  # noqa: ANN401  # a module
        """The functions of arrays."""
        ...

    def run(self, body: Callable[..., R], *arrays: Any, **options: Any) -> R:  # noqa: ANN401  # handed on
        """Return `body(self, *arrays, **options)`, where and how the framework computes best.

        `options`, the keyword-only parameters of `body`, are constants of a compiled program.
        """
        ...

    def check_array(self, name: str, value: object) -> None:
        """Require an array of the framework."""
        ...

    def check_floats(self, name: str, value: object, *, ndim: int) -> ArrayFacts:
        """Require an array of the framework of floats, with at least `ndim` axes."""
        self.check_array(name, value)
        return check_float_array(name, value, ndim=ndim)

    def base_of(self, base: object, name: str = "base") -> float:
        """Require a finite number above 1."""
        return check_base(base, name)

    def positions_of(self, value: object, name: str = "positions") -> Checked:
        """Require integers: an array of the framework as it is, all else as a NumPy array."""
        ...

    def read_rotation(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        interleaved: bool,
        base: float,
        rotary_dim: int | None,
    ) -> tuple[Checked, bool, float, int]:
        """Require the arguments of `apply_rotary`; return the positions and all that is not x."""
        shape = self.check_floats("x", x, ndim=3).shape
        m = self.positions_of(positions)
        interleaved, base = check_flag("interleaved", interleaved), self.base_of(base)
        dim = check_rotary_dim(rotary_dim, shape[-1])
        check_positions_fit(facts(m), shape[:-2])
        return m, interleaved, base, dim

    def work(self, dtype: Dtype) -> Dtype:
        """Return the dtype of the arithmetic: float64 for float64, else float32 (JDG-3)."""
        ...

    def wide(self) -> Dtype:
        """Return the dtype of what is made of numbers alone: float64, unless it is switched off."""
        ...

    def cast(self, x: Array, dtype: Dtype) -> Array:
        """Convert to a dtype; what has it may stay as it is."""
        ...

    def beside(self, array: Array, other: Array) -> Array:
        """Move tables to the device of another array."""
        ...

    def placed(self, positions: Checked, other: ArrayT) -> Array:
        """Return positions as an array of numbers: where it lies, all else beside `other`."""
        ...

    def inv_freq(self, dim: int, base: float, device: Device) -> ArrayT:
        """base^(-2i/dim) on a device, which is checked here."""
        ...

    def constants(self, values: NDArray[np.float64], device: Device) -> ArrayT:
        """Numbers of the host as an array of the framework, on a device, which is checked here."""
        ...

    def counted(self, length: int, device: Device) -> ArrayT:
        """0..length-1 on a device, which is checked here."""
        ...

    def places(self, x: ArrayT, length: int) -> Checked:
        """Return positions 0..length-1 for `x`."""
        ...

    def turning(
        self, positions: Checked, dim: int, base: float, x: ArrayT | None = None
    ) -> Turning:
        """Return how much tokens turn: beside `x` and for its arithmetic, or by themselves."""
        ...

    def circle(self, turning: Turning) -> tuple[ArrayT, ArrayT]:
        """Return cos and sin by exact phase: positions.shape + (dim/2,)."""
        ...

    def circle_by(self, positions: Checked, steps: Steps, x: ArrayT | None) -> tuple[ArrayT, ...]:
        """Return A cos and A sin by exact phase, the sum over the position numbers of a token.

        Where `steps` have a row for each of n numbers, positions are (n, ...). Beside `x`, as
        `rotate_by` takes them; without it both, where the positions lie.
        """
        ...

    def rotate(self, x: Array, turning: Turning, *, interleaved: bool) -> Array:
        """R_m x of any float dtype, rounded once."""
        ...

    def rotate_by(self, x: Array, *tables: Array, interleaved: bool) -> Array:
        """R_m x by tables of `circle_by`."""
        ...

    def split_pairs(self, x: Array, *, interleaved: bool) -> tuple[Array, Array]:
        """Return the first and the second component of each pair: two of (..., d/2)."""
        first, second = members(x.shape[-1], interleaved=interleaved)
        return x[..., first], x[..., second]

    def join_pairs(self, first: Array, second: Array, *, interleaved: bool) -> Array:
        """Undo `split_pairs`."""
        ...

    def with_diagonals(self, dim: int, blocks: Sequence[tuple[slice, slice, Array]]) -> Array:
        """Return matrices (..., dim, dim): these diagonals in blocks of rows and columns, and zero.

        A diagonal (..., n) is that of the n rows and n columns before it.
        """
        ...

    def with_tail(self, head: Array, x: Array) -> Array:
        """Round `head` to the dtype of x; the components after it are those of x, bit for bit."""
        ...

    def contiguous(self, x: Array) -> Array:
        """Return memory of its own in the order of the axes, where the framework has an order."""
        ...

    def complex(self, real: Array, imag: Array) -> Array:
        """Return real + i imag."""
        ...

    def matmul(self, a: Array, b: Array) -> Array:
        """Multiply matrices in the full precision of their dtype."""
        ...

    def softmax(self, scores: Array, mask: Array | None) -> Array:
        """Softmax over the last axis among the allowed keys; a row with none of them is zero."""
        ...
