"""A module by itself: without the `__init__` of the packages that it lies in."""

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

__all__ = ["below", "stubs"]


def below(name: str) -> Any:  # noqa: ANN401  # any module
    """Import `package.sub.module` as if the `__init__` above it were empty.

    A package may need far more than one of its modules does, even what only a GPU has.
    """
    *parents, _ = name.split(".")
    for depth in range(1, len(parents) + 1):
        parent = ".".join(parents[:depth])
        if parent not in sys.modules:
            spec = importlib.util.find_spec(parent)
            if spec is None or spec.submodule_search_locations is None:
                raise ModuleNotFoundError(f"{parent} is not installed")
            stub = ModuleType(parent)
            stub.__path__ = list(spec.submodule_search_locations)
            stub.__spec__ = spec
            sys.modules[parent] = stub
    return importlib.import_module(name)


def stubs(*names: str, **attributes: object) -> None:
    """Put stand-ins for modules that what is bound imports and never uses."""
    for name in names:
        stub = MagicMock(name=name, **attributes)
        stub.__path__ = []
        stub.__spec__ = None
        sys.modules[name] = stub
