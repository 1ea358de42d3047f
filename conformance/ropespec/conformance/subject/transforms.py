"""What a framework can do to a function, by name; the worker asks for it, the checks judge it.

An error under a transform is a refusal (ROT-24): the subject said that it cannot, and no number was
wrong. What becomes of the subject's process, and plain calls before and after, are judged as ever.
"""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ropespec.conformance.subject.errors import NotPossible
from ropespec.conformance.subject.frameworks import Framework

__all__ = ["TRANSFORMS", "Request", "Transforms", "transforms_of"]

TRANSFORMS = (
    *("jvp", "second", "vmap", "compiled", "constants", "into"),
    *("two_calls", "unrecorded"),
)
"""Forward mode, the second derivative, vmap, jit, gradients of constants, gradients through out,
the gradient of two calls at once, a call of which no gradient is recorded."""


@dataclass(frozen=True, slots=True)
class Request:
    """A function and what it is called with.

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

    function: Callable[..., Any]
    named: dict[str, Any]
    given: list[Any]
    extra: list[Any]
    axes: tuple[int | None, ...]

    def of(self, *arrays: Any) -> Any:  # noqa: ANN401  # arrays of any framework
        """Call the function on other positional arguments."""
        return self.function(*arrays, **self.named)

    def of_x(self, x: Any) -> Any:  # noqa: ANN401  # as in of
        """Call the function on another x."""
        return self.of(x, *self.given[1:])


class Transforms(Protocol):
    """The transforms of a framework; each raises what the framework or the subject raises."""

    def jvp(self, request: Request) -> Sequence[Any]:
        """Return f(x), and its derivative along `extra[0]`."""
        ...

    def second(self, request: Request) -> Sequence[Any]:
        """Return the gradients of <u, J^T c> with respect to c and x; c, u are `extra`."""
        ...

    def vmap(self, request: Request) -> Any:  # noqa: ANN401  # an array of any framework
        """Return f mapped over `axes`."""
        ...

    def compiled(self, request: Request) -> Sequence[Any]:
        """Return f(x) and J^T c under the compiler, c = `extra[0]`.

        f(x) alone where there is no gradient, or no c.
        What was compiled is kept, and used again for other values of the same shapes.
        """
        ...

    def constants(self, request: Request) -> Sequence[Any]:
        """Return the gradients of <c, f> with respect to all but x, zeros where there is none."""
        ...

    def two_calls(self, request: Request) -> Sequence[Any]:
        """Return the gradient of <c, f(x, m)> + <d, f(x, n)>; c, d, n are `extra`.

        Both calls come before the first step back, as in a model of two layers.
        """
        ...

    def unrecorded(self, request: Request) -> Any:  # noqa: ANN401  # an array of any framework
        """Return f(x) where no gradient is recorded."""
        ...

    def into(self, request: Request) -> Sequence[Any]:
        """Return the gradients of <c, f> with respect to what x was made from, written in place.

        x is made by a product with 1 at first, then by an operation whose gradient needs x again.
        """
        ...


class _Refusing:
    """Turns what a transform raises into a refusal."""

    def __init__(self, name: str, transforms: Transforms) -> None:
        self._name = name
        self._transforms = transforms

    def apply(self, transform: str, request: Request) -> Any:  # noqa: ANN401  # arrays
        """Apply one of `TRANSFORMS`.

        Raises
        ------
        NotPossible
            With what was raised, on one line.
        """
        try:
            return getattr(self._transforms, transform)(request)
        except NotPossible:
            raise
        except Exception as error:
            text = " ".join(str(error).split())[:200]
            what = f"{type(error).__name__}: {text}" if text else type(error).__name__
            raise NotPossible(f"{self._name} {transform} raises {what}") from error


def transforms_of(framework: Framework) -> _Refusing:
    """Return the transforms of a framework.

    Raises
    ------
    NotPossible
        If it has none.
    """
    if framework.transforms is None:
        raise NotPossible(f"{framework.name} has no transforms")
    module = importlib.import_module(f"ropespec.conformance.subject.{framework.transforms}")
    return _Refusing(framework.name, module.transforms())
