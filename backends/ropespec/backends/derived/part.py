"""A chapter's functions, bound to the primitives of a framework."""

from typing import Any, Generic

from ropespec.backends.derived.primitives import Primitives
from ropespec.spec.api import ArrayT, RopeAPI

__all__ = ["Array", "Bound", "Part"]

Array = Any  # an array of any framework, inside of bodies
Bound = Primitives[Any]


class Part(Generic[ArrayT]):
    """The primitives, and the docstrings of `RopeAPI` on the functions of the same names.

    Parameters
    ----------
    of : Primitives
        Those of the framework.
    """

    def __init__(self, of: Primitives[ArrayT]) -> None:
        self._of = of

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, function in vars(cls).items():
            if not name.startswith("_") and function.__doc__ is None:
                function.__doc__ = getattr(RopeAPI, name).__doc__
