"""Finding the operation in a backend, which may lack a form of it."""

import inspect
from collections.abc import Callable
from typing import Any

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import UnavailableError

__all__ = ["rotation_of"]


def rotation_of(backend: object, case: Case, *, tables: bool) -> Callable[..., Any]:
    """Return `apply_rotary`, or `apply_rotary_cos_sin`, of a backend.

    Parameters
    ----------
    backend : module
        The backend.
    case : Case
        What it is for.
    tables : bool
        Whether cos and sin are passed.

    Raises
    ------
    UnavailableError
        If the backend has no such function, or the function takes no `out` where one is needed.
    """
    name = "apply_rotary_cos_sin" if tables else "apply_rotary"
    apply: Callable[..., Any] | None = getattr(backend, name, None)
    if apply is None:
        raise UnavailableError(f"the backend has no {name}")
    if case.into != "new" and "out" not in inspect.signature(apply).parameters:
        raise UnavailableError(f"{name} takes no out")
    return apply
