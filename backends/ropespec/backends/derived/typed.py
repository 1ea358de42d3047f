"""Functions whose annotations name the array of one framework."""

from types import FunctionType
from typing import Any

from ropespec.spec.api import ArrayT

__all__ = ["typed_for"]


def typed_for(array: object, function: FunctionType) -> FunctionType:
    """Copy a function, with an array type in place of `ArrayT` in its annotations.

    `help()` and `inspect.signature` show these; a copy costs a call nothing, unlike a wrapper.

    Parameters
    ----------
    array : type
        The array of the framework.
    function : function
        Generic in `ArrayT`.
    """
    own = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    own.__kwdefaults__ = function.__kwdefaults__
    own.__doc__, own.__module__ = function.__doc__, function.__module__
    own.__qualname__ = function.__qualname__
    own.__annotations__ = {
        name: _typed(annotation, array) for name, annotation in function.__annotations__.items()
    }
    return own


def _typed(annotation: Any, array: object) -> Any:  # noqa: ANN401  # of any kind
    if annotation is ArrayT:
        return array
    return annotation[array] if getattr(annotation, "__parameters__", ()) else annotation
