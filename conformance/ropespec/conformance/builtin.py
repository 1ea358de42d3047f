"""The backends that ropespec brings along, as subjects."""

from ropespec.conformance.frameworks import BUILTIN, FRAMEWORKS
from ropespec.conformance.profile import Profile

__all__ = ["BUILTIN", "availability", "builtin_profile"]

_ALL = ("float32", "float64", "float16", "bfloat16")


def builtin_profile(name: str) -> Profile:
    """Return what a backend claims: everything the specification asks for.

    Parameters
    ----------
    name : str
        One of `BUILTIN`.
    """
    wide = FRAMEWORKS[name].has_float64
    return Profile(
        layouts=(True, False),
        array=name,
        dtypes=tuple(dtype for dtype in _ALL if wide or dtype != "float64"),
        precision="float64-angles",
        max_position=2**31 - 1,
        refusals=True,
        constant_tables=True,
    )


def availability(name: str) -> str | None:
    """Return why a backend cannot run here, or None if it can.

    Parameters
    ----------
    name : str
        One of `BUILTIN`.
    """
    return FRAMEWORKS[name].unavailable()
