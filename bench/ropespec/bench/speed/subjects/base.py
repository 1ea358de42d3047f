"""What an adapter offers: operations to time, and their results to look at."""

import importlib
import importlib.util
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.timing import Clock, Operation, WallClock

__all__ = [
    "ALL_WAYS",
    "Array",
    "Subject",
    "UnavailableError",
    "import_below_stubs",
    "there_and_back",
]

Array = Any  # an array of the adapter's framework

Make = Callable[[Case, NDArray[Any], NDArray[np.int64]], Operation]

ALL_WAYS = frozenset(
    (direction, into) for direction in ("forward", "both") for into in ("new", "out", "self")
)
"""Of who goes backward by turning the other way, into any memory."""


class UnavailableError(Exception):
    """What is asked for is not offered by what is installed; the message says why."""


class Subject(ABC):
    """One subject in its process.

    Attributes
    ----------
    layouts : tuple of bool
        The values of `interleaved` that it knows.
    rotates : bool
        Whether its result is a rotation, whose error is of interest.
    ways : frozenset
        (direction, into) that make sense for it.
    device : str
        `cpu` or `cuda`.
    device_name : str
        The name of the GPU, or nothing.
    """

    layouts: ClassVar[tuple[bool, ...]] = (True, False)
    rotates: ClassVar[bool] = True
    ways: frozenset[tuple[str, str]] = frozenset({("forward", "new"), ("both", "new")})
    device: str = "cpu"
    device_name: str = ""

    def clock(self) -> Clock:
        """Return the clock of its device."""
        return WallClock()

    @abstractmethod
    def operation(self, case: Case, x: NDArray[Any], positions: NDArray[np.int64]) -> Operation:
        """Return what is timed.

        Parameters
        ----------
        case : Case
            What to do.
        x : ndarray, shape (B, S, H, D)
            What to rotate, and the gradient of the result, in the dtype of the case.
        positions : ndarray of int64, shape (S,)
            Consecutive positions.

        Raises
        ------
        UnavailableError
            If it cannot be done.
        """

    @abstractmethod
    def copy(self, case: Case, x: NDArray[Any]) -> tuple[str, Operation]:
        """Return a copy of x into the same kind of memory, and what it is called."""

    @abstractmethod
    def read(self, result: Array, tokens: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the given tokens of a result of shape (B, S, H, D)."""

    def begin(self, case: Case) -> None:  # noqa: B027  # most have nothing to do
        """Forget what was kept for another case."""

    def release(self) -> None:  # noqa: B027  # most keep no memory
        """Give back memory that is kept for later: the next contender may need it."""


def there_and_back(
    make: Make, case: Case, x: NDArray[Any], positions: NDArray[np.int64]
) -> Operation:
    """Return the rotation of x and of a gradient the other way, one call after the other.

    Parameters
    ----------
    make : callable
        Returns the operation of a forward case.
    case, x, positions
        As for `Subject.operation`.
    """
    forward = case._replace(direction="forward")
    there, back = make(forward, x, positions), make(forward, x, -positions)

    def call() -> object:
        there.call()
        return back.call()

    return Operation(call, wait=back.wait, tensors=there.tensors + back.tensors)


def import_below_stubs(name: str, **stubs: ModuleType) -> Any:  # noqa: ANN401  # any module
    """Import a module without running the `__init__` of the packages that it lies in.

    A package may need far more than one of its modules does, even what only a GPU has.

    Parameters
    ----------
    name : str
        `package.sub.module`.
    **stubs : module
        Stand-ins for other modules, named with `__` for the dot.
    """
    *parents, _ = name.split(".")
    for depth in range(1, len(parents) + 1):
        parent = ".".join(parents[:depth])
        if parent not in sys.modules:
            spec = importlib.util.find_spec(parent)
            if spec is None or spec.submodule_search_locations is None:
                raise UnavailableError(f"{parent} is not installed")
            stub = ModuleType(parent)
            stub.__path__ = list(spec.submodule_search_locations)
            stub.__spec__ = spec
            sys.modules[parent] = stub
    for key, stub in stubs.items():
        sys.modules[key.replace("__", ".")] = stub
    return importlib.import_module(name)
