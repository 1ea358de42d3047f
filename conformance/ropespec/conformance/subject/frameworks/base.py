"""What a worker does with the arrays of a framework: makes, reads and places them, and transforms.

What is said here holds for all of them, of NumPy's arrays and of those that lie on a device.
"""

import contextlib
import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy import asarray  # bound before a subject can put others in their place

from ropespec.conformance.frameworks.base import Array, Framework
from ropespec.conformance.subject.errors import NotDifferentiable, NotPossible
from ropespec.conformance.subject.frames import DTYPES
from ropespec.conformance.subject.views import carve, spread

__all__ = ["Argument", "Array", "Arrays", "Function", "Memory", "Request"]

Function = Callable[..., Any]

Memory = tuple[str, int, int]
"""A device, the first address, and the first behind the last."""

_PIECE = 2**18
"""Bytes that are compared at a time: copies of them stay near the processor."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An array as it is handed to a subject.

    Attributes
    ----------
    array : array
        The array of the framework.
    backing : array
        The buffer it is a view of, gaps included; the array itself if it has no gaps.
    before : numpy array
        What the buffer held before the call.
    read : callable
        Reads an array of the framework.
    """

    array: Array
    backing: Array
    before: np.ndarray
    read: Callable[[Array], np.ndarray]

    def written(self) -> bool:
        """Whether a byte of the buffer has changed since it was made."""
        try:
            after = self.read(self.backing)
        except Exception:  # noqa: BLE001  # an array whose memory was given away cannot be read
            return True
        if after.dtype != self.before.dtype:
            after = after.astype(self.before.dtype)
        return after.shape != self.before.shape or _differ(after, self.before)

    def outside(self) -> bool:
        """Whether the gaps have changed, where there are any."""
        if self.backing is self.array:
            return False
        after = self.read(self.backing)
        return after[..., 1::2].tobytes() != self.before[..., 1::2].tobytes()


@functools.cache
def _is_sent(dtype: np.dtype[Any]) -> bool:
    """Whether it is one of `DTYPES`: NumPy makes up a name each time it is asked for one."""
    return dtype.name in DTYPES


def _differ(after: np.ndarray, before: np.ndarray) -> bool:
    """Whether a byte of two arrays of one dtype and shape differs, piece by piece.

    By methods of the arrays, not functions of NumPy, which the subject may have replaced.
    """
    if before.nbytes <= _PIECE:
        return after.tobytes() != before.tobytes()
    new, old = after.reshape(-1), before.reshape(-1)
    step = max(_PIECE // new.itemsize, 1)
    pieces = (slice(begin, begin + step) for begin in range(0, new.size, step))
    return any(new[piece].tobytes() != old[piece].tobytes() for piece in pieces)


@dataclass(frozen=True, slots=True)
class Request:
    """A function and what it is called with under a transform.

    Attributes
    ----------
    function : callable
        The subject's.
    named : dict
        Its keywords.
    given : list
        Its positional arguments, x first.
    extra : list of arrays
        Tangents, cotangents, or other positions.
    axes : tuple
        For vmap the axis of each positional argument, None for one that is not mapped.
    """

    function: Function
    named: dict[str, Any]
    given: list[Any]
    extra: list[Any]
    axes: tuple[int | None, ...]

    def of(self, *arrays: Array) -> Array:
        """Call the function on other positional arguments."""
        return self.function(*arrays, **self.named)

    def of_x(self, x: Array) -> Array:
        """Call the function on another x."""
        return self.of(x, *self.given[1:])


class Arrays:
    """The arrays of one framework on one device; a subclass has a method for each transform.

    Parameters
    ----------
    device : str or None
        Where arrays shall live, in the framework's own words; None for its default.

    Attributes
    ----------
    about : Framework
        What is known of the framework.
    device : str
        Where they live, as results report it; empty where there is one place alone.
    """

    about: ClassVar[Framework]

    def __init__(self, device: str | None) -> None:
        del device
        self.device = ""

    @property
    def name(self) -> str:
        """The name of the framework."""
        return self.about.name

    # Of any array of the framework, whatever it was made by

    @staticmethod
    def host(array: Array) -> np.ndarray:
        """Return an array as NumPy has it."""
        found: np.ndarray = asarray(array)
        return found

    @classmethod
    def read(cls, array: Array) -> np.ndarray:
        """Read an array as NumPy.

        Booleans, integers, bfloat16 and the usual floats keep their dtype; everything else (float8,
        long double, objects that are numbers) becomes float64.

        Raises
        ------
        Exception
            Whatever the framework raises if there is nothing to read, as for an abstract tensor.
        """
        found = cls.host(array)
        if _is_sent(found.dtype):
            return found
        return found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)

    @classmethod
    def differ(cls, array: Array, other: Array) -> bool:
        """Whether a byte of two arrays of one shape differs."""
        return _differ(cls.read(array), cls.read(other))

    @staticmethod
    def unlike(array: Array) -> str:
        """Return why an array is not one like x, such as `it is a masked array`; or nothing."""
        del array
        return ""

    @staticmethod
    def where(array: Array) -> str:
        """Return where an array lies, in the words of `device`."""
        del array
        return ""

    @staticmethod
    def memory(array: Array) -> Memory | None:
        """Return what an array lies in; None if that is not known."""
        del array
        return None

    @staticmethod
    def place(array: Array) -> tuple[Any, ...] | None:
        """Return what says where its elements lie: address, shape, strides, dtype."""
        del array
        return None

    # Made for a call

    def argument(self, values: np.ndarray, view: str = "") -> Argument:
        """Make an argument with these values, as a view if asked for and if that is possible."""
        if not (view and values.ndim and self.about.has_strides):
            backing = self.array(values.copy())
            return Argument(backing, backing, values, self.read)
        buffer = spread(values, view)
        backing = self.array(buffer.copy())
        return Argument(carve(self, backing, values.shape, view), backing, buffer, self.read)

    def array(self, values: np.ndarray) -> Array:
        """Make an array of the framework; it may use the memory of `values`."""
        return values

    def repeated(self, buffer: Array, shape: Sequence[int]) -> Array:
        """Return a view that has an axis of length one as often as a shape says.

        Raises
        ------
        NotPossible
            If its views have no memory in common.
        """
        del buffer, shape
        raise NotPossible(f"{self.about.title} arrays share no memory")

    def locked(self, buffer: Array) -> Array:
        """Return a view that cannot be written to.

        Raises
        ------
        NotPossible
            If all its arrays can be.
        """
        del buffer
        raise NotPossible(f"{self.about.title} arrays cannot be locked")

    def scope(self, arrays: Sequence[np.ndarray]) -> AbstractContextManager[Any]:
        """Return the context in which arguments are made, the call runs and results are read."""
        del arrays
        return contextlib.nullcontext()

    def finish(self, result: Array) -> None:
        """Wait until the result is computed."""

    # Applied to a function

    def gradient(self, function: Function, x: Array, cotangent: Array) -> Array:
        """Return the product of the cotangent with the Jacobian of the function at x.

        Raises
        ------
        NotDifferentiable
            If there is no way to it.
        """
        del function, x, cotangent
        raise NotDifferentiable(
            f"{self.name} has no gradients, and apply_rotary_vjp is not offered"
        )

    def apply(self, transform: str, request: Request) -> Array | Sequence[Array]:
        """Apply one of `TRANSFORMS`, and return what it says.

        An error under a transform is a refusal (ROT-24): the subject said that it cannot, and no
        number was wrong. What becomes of the subject's process, and plain calls before and after,
        are judged as ever.

        Raises
        ------
        NotPossible
            With what was raised, on one line; or if the framework has no such transform.
        """
        if not (known := self.about.transforms) or transform not in known:
            raise NotPossible(f"{self.name} has no {transform if known else 'transforms'}")
        try:
            return getattr(self, transform)(request)
        except NotPossible:
            raise
        except Exception as error:
            text = " ".join(str(error).split())[:200]
            what = f"{type(error).__name__}: {text}" if text else type(error).__name__
            raise NotPossible(f"{self.name} {transform} raises {what}") from error
