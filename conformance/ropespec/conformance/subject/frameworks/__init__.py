"""The side of each framework that imports it; a worker's, and no parent process comes here."""

import functools
import importlib
import sys

from ropespec.conformance.frameworks import FRAMEWORKS, Framework
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.subject.frameworks.base import Arrays

__all__ = ["absent", "arrays_of", "framework_named", "framework_of", "import_framework", "shadowed"]


_KINDS: dict[type, str] = {}
"""The classes of arrays that were seen, and of which framework each is."""


@functools.cache
def _arrays(name: str) -> type[Arrays]:
    module = importlib.import_module(f"{__name__}.{name}")
    found: type[Arrays] = module.ARRAYS
    return found


def framework_of(value: object) -> str:
    """Return the name of the framework whose array a value is, and `""` for anything else.

    Only frameworks that are loaded are looked at.
    """
    if (kind := type(value)) in _KINDS:
        return _KINDS[kind]
    for name, room in FRAMEWORKS.items():
        module = sys.modules.get(room.module)
        kinds = (getattr(module, kind, None) for kind in room.kinds)
        known = tuple(one for one in kinds if isinstance(one, type))
        if type(value) in known:
            _KINDS[type(value)] = name  # what only looks like one is looked at again
        if isinstance(value, known):
            return name
    return ""


def arrays_of(value: object) -> type[Arrays] | None:
    """Return what reads a value; None for what is no array."""
    name = framework_of(value)
    return _arrays(name) if name else None


def import_framework(name: str) -> None:
    """Import a framework without starting it.

    Raises
    ------
    TargetUnusable
        If it is not installed, or something else of its name is found first.
    """
    room = FRAMEWORKS[name]
    try:
        module = importlib.import_module(room.module)
    except ModuleNotFoundError as error:
        if error.name not in (name, room.module):
            raise
        raise TargetUnusable(absent(room)) from None
    # Each of them is a package that says which version it is.
    if not (hasattr(sys.modules[name], "__path__") and hasattr(module, "__version__")):
        raise TargetUnusable(absent(room))


def absent(room: Framework) -> str:
    """Return the line that says why a framework is not found."""
    package = sys.modules.get(room.name)
    if package is None:
        return room.not_installed
    return shadowed(room.name, package.__file__ or next(iter(package.__path__)))


def framework_named(name: str, device: str | None) -> Arrays:
    """Import a framework and find its device.

    Raises
    ------
    TargetUnusable
        If it is not installed, or has no such device here.
    """
    import_framework(name)
    try:
        return _arrays(name)(device)
    except Exception as error:  # each framework has its own
        where = "its device" if device is None else f"device {device!r}"
        text = " ".join(str(error).split())[:200]
        raise TargetUnusable(f"{name} cannot use {where} here: {text}") from error


def shadowed(name: str, file: str) -> str:
    """Return the line that says what stands in the way of a framework."""
    return f"{file} shadows the package {name}: rename it"


for _room in FRAMEWORKS.values():
    if _room.module in sys.modules:
        _arrays(_room.name)  # before a subject can replace what it is made of
