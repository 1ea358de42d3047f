"""The backends that ropespec brings along, as subjects."""

import importlib.util

from ropespec.conformance.profile import Profile

__all__ = ["BUILTIN", "availability", "builtin_profile"]

BUILTIN = ("numpy", "torch", "jax", "cupy")
"""Targets that need no profile."""

_ALL = ("float32", "float64", "float16", "bfloat16")


def builtin_profile(name: str) -> Profile:
    """Return what a backend claims: everything the specification asks for.

    Parameters
    ----------
    name : str
        One of `BUILTIN`.
    """
    return Profile(
        layouts=(True, False),
        array=name,
        dtypes=tuple(dtype for dtype in _ALL if not (name == "jax" and dtype == "float64")),
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
    if name == "numpy":
        return None
    if importlib.util.find_spec(name) is None:
        extra = "cupy13" if name == "cupy" else name
        return f"{name} is not installed: pip install 'ropespec[{extra}]'"
    if name == "cupy":
        from ropespec.backends.cupy.status import status  # noqa: PLC0415  # loads cupy

        found = status()
        return None if found.available else found.reason
    return None
