"""The suite as tests of pytest: one line in a test file.

from ropespec.conformance import conformance_tests

test_rope = conformance_tests(apply, interleaved=False, dtypes=["float32", "bfloat16"])
"""

import importlib.util
import inspect
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ropespec.conformance.frameworks import BUILTIN
from ropespec.conformance.profile import WAIVERS
from ropespec.spec.api import FUNCTIONS

__all__ = ["conformance_tests", "offered_by", "profile_beside", "target_of"]

HINT = (
    "the checks run it in a process of its own and must be able to import it: define it at the "
    'top level of a module, or give its place as "package.module:attribute" or '
    '"path/to/file.py:attribute"'
)


def conformance_tests(  # keyword-only, and each is an option of the command too
    apply: Callable[..., Any] | types.ModuleType | str,
    *,
    interleaved: bool | Sequence[bool],
    seed: int = 0,
    full: bool = False,
    only: Sequence[str] = (),
    timeout: float = 30.0,
    waivers: Mapping[str, str] | None = None,
    **claims: Any,  # noqa: ANN401  # the attributes of `Profile`
) -> Callable[..., None]:
    """Make a test function of pytest out of an implementation: one test per check.

    Parameters
    ----------
    apply : callable, module or str
        The implementation: a function `f(x, positions)` at the top level of a module, a module
        that offers functions of the API, or a target as `ropespec check` takes it.
    interleaved : bool or sequence of bool
        True for pairs (2i, 2i+1), False for pairs (i, i+d/2), both for one that takes the keyword.
    seed : int
        The same seed gives the same cases.
    full : bool
        Ten times as many cases.
    only : sequence of str
        Clauses, checks or chapters; empty for all.
    timeout : float
        Seconds for one call of the implementation.
    waivers : mapping of str to str, optional
        Clauses or checks that may fail, and the reason of each, such as
        `{"ROT-18": "never called without tokens"}`. They are expected to fail (xfail), and each has
        a test of its own that fails once it is not needed any more.
    **claims
        The attributes of `ropespec.conformance.profile.Profile`, such as `array="torch"`,
        `axes="bhsd"`, `dtypes=["float32", "bfloat16"]`, `base=500000.0`, `rotary_dim=32`.

    Returns
    -------
    callable
        To be assigned to a name that starts with `test`. The id of each test is that of its check.
        What is not claimed is skipped with the reason, what is not offered is no test. The verdict
        and the diagnosis stand at the end of the run.

    Raises
    ------
    TypeError
        If the implementation cannot be found by name.
    ProfileError
        If a claim is impossible, or a waiver names nothing or has no reason.
    ValueError
        If `only` names nothing.
    """
    # `import ropespec.conformance` stays quick, and needs no pytest.
    from ropespec.conformance.pytest_function import (  # noqa: PLC0415  # see above
        Place,
        Subject,
        test_function,
    )
    from ropespec.conformance.runner import Plan  # noqa: PLC0415  # see above

    frame = inspect.currentframe()
    caller = frame.f_back if frame is not None else None
    names = caller.f_globals if caller is not None else {}
    place = (
        Place(caller.f_code.co_filename, caller.f_lineno) if caller is not None else Place("", 1)
    )
    subject = Subject(
        target_of(apply, names),
        {"interleaved": interleaved} | claims | ({WAIVERS: waivers} if waivers else {}),
        timeout,
        Plan(seed=seed, full=full, only=tuple(only)),
        offered_by(apply),
        profile_beside(apply),
    )
    return test_function(subject, place)


def offered_by(apply: object) -> frozenset[str] | None:
    """Return the functions of the API that an implementation offers, without loading it anew.

    Parameters
    ----------
    apply : object
        What `conformance_tests` was given.

    Returns
    -------
    frozenset of str or None
        None where nobody knows before it is loaded: for a name, and for a class.
    """
    if isinstance(apply, (str, type)):
        return None
    known = (name for names in FUNCTIONS.values() for name in names)
    return frozenset(name for name in known if callable(getattr(apply, name, None))) or frozenset(
        {"apply_rotary"}
    )


def profile_beside(apply: object) -> Mapping[str, Any] | None:
    """Return the `PROFILE` of an implementation or of its module, without loading it anew.

    Parameters
    ----------
    apply : object
        What `conformance_tests` was given.

    Returns
    -------
    mapping or None
        Empty if there is none; None where nobody knows before it is loaded.
    """
    if isinstance(apply, (str, type)):
        return None
    for holder in (apply, sys.modules.get(getattr(apply, "__module__", None) or "")):
        found = getattr(holder, "PROFILE", None)
        if isinstance(found, Mapping):
            return found
    return {}


def target_of(apply: Any, caller: Mapping[str, Any] | None = None) -> str:  # noqa: ANN401  # anything
    """Find the name under which another process can import an implementation.

    Parameters
    ----------
    apply : callable, module or str
        The implementation; a string is returned as it is.
    caller : mapping or None
        The globals of the module that asks, where the name may stand as well.

    Returns
    -------
    str
        `package.module:attribute`, or `path/to/file.py:attribute` for a module that was loaded by
        path, as pytest loads test files.

    Raises
    ------
    TypeError
        If no module has it under a name at its top level.
    """
    if isinstance(apply, str):
        return apply
    if isinstance(apply, types.ModuleType):
        return _place(vars(apply))
    own = sys.modules.get(getattr(apply, "__module__", None) or "")
    for namespace in (vars(own) if own is not None else {}, caller or {}):
        if attribute := _attribute(apply, namespace):
            return f"{_place(namespace)}:{attribute}"
    name = getattr(apply, "__qualname__", None) or repr(apply)
    raise TypeError(f"{name} cannot be found by name; {HINT}")


def _attribute(apply: object, namespace: Mapping[str, Any]) -> str | None:
    """Return the dotted name that leads to this very object, or None."""
    qualname = getattr(apply, "__qualname__", "")
    first, *rest = qualname.split(".") if isinstance(qualname, str) and qualname else [""]
    found = namespace.get(first)
    for name in rest:
        found = getattr(found, name, None)
    if found is apply:
        return qualname
    return next((name for name, value in namespace.items() if value is apply), None)


def _place(namespace: Mapping[str, Any]) -> str:
    """Return the module as another process can import it: by name where that finds this file."""
    name, file = namespace.get("__name__", ""), namespace.get("__file__")
    builtin = name.removeprefix("ropespec.backends.")
    if builtin != name and builtin in BUILTIN:
        return str(builtin)
    if file is None:
        return str(name)
    try:
        found = importlib.util.find_spec(name) if name != "__main__" else None
    except (ImportError, ValueError):
        found = None
    # A test file that pytest has loaded by path is known in this process only.
    importable = found is not None and found.origin == file and _on_path(name, file)
    return str(name) if importable else str(file)


def _on_path(name: str, file: str) -> bool:
    """Whether a fresh interpreter with this `sys.path` finds the file under that name."""
    path = Path(file).resolve()
    levels = name.count(".") + (2 if path.stem == "__init__" else 1)
    root = path.parents[levels - 1]
    return any(Path(item or ".").resolve() == root for item in sys.path)
