"""The shared API, written once: what follows from the primitives of a framework.

Chapters have a module each. A framework's own rotations, kernels and tables stay with it.
"""

import inspect
from types import FunctionType
from typing import get_args

from ropespec.backends.derived.attention import Attention
from ropespec.backends.derived.axes import Axes
from ropespec.backends.derived.complex_plane import ComplexPlane
from ropespec.backends.derived.decay import Decay
from ropespec.backends.derived.frequencies import Frequencies
from ropespec.backends.derived.primitives import Primitives, members
from ropespec.backends.derived.projection import Projection
from ropespec.backends.derived.published import Published
from ropespec.backends.derived.relative import Relative
from ropespec.backends.derived.rotation import Rotation
from ropespec.backends.derived.scaling import Scaling
from ropespec.backends.derived.typed import typed_for
from ropespec.spec.api import FUNCTIONS, ArrayT, RopeAPI

__all__ = ["Derived", "Primitives", "members"]


class Derived(
    Frequencies[ArrayT],
    ComplexPlane[ArrayT],
    Rotation[ArrayT],
    Projection[ArrayT],
    Relative[ArrayT],
    Attention[ArrayT],
    Decay[ArrayT],
    Published[ArrayT],
    Scaling[ArrayT],
    Axes[ArrayT],
    RopeAPI[ArrayT],
):
    """The shared API of a framework, all but the rotation by given tables.

    A backend's functions are methods of one instance, which the module of its class holds by the
    name `functions`: so they, and what holds them, can be copied and pickled.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        (generic,) = vars(cls)["__orig_bases__"]
        (array,) = get_args(generic)
        for name in (name for names in FUNCTIONS.values() for name in names):
            function = inspect.getattr_static(cls, name)
            if isinstance(function, FunctionType):
                setattr(cls, name, typed_for(array, function))

    def __reduce__(self) -> str:
        return "functions"
