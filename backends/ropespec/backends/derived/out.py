"""The docstring of a rotation that takes `out` as well."""

import inspect
from collections.abc import Callable
from typing import TypeVar

from ropespec.spec.api import RopeAPI

__all__ = ["writes_into_out"]

F = TypeVar("F", bound=Callable[..., object])

OUT = """out : array, shape, dtype and device of `x`, optional
    Is written to and returned, any strides: `x` itself, or memory apart from all arguments
    (ROT-23)."""
RAISES = """\
    For `out`: ArgumentTypeError if it is no array of the dtype of `x`, ArgumentValueError if it
    has another shape or device, cannot be written, or shares memory without being `x`."""


def writes_into_out(more: str = "") -> Callable[[F], F]:
    """Give a function the docstring of `RopeAPI` and a parameter `out`.

    Parameters
    ----------
    more : str
        A sentence on `out` that is true of one framework alone.

    Returns
    -------
    callable
        A decorator.
    """

    def decorate(function: F) -> F:
        text = inspect.getdoc(getattr(RopeAPI, function.__name__)) or ""
        parameter = f"{OUT}\n    {more}" if more else OUT
        text = text.replace("\n\nReturns\n", f"\n{parameter}\n\nReturns\n")
        text = text.replace("; read only.", "; read only, unless it is `out`.")
        function.__doc__ = f"{text}\n{RAISES}\n"
        return function

    return decorate
