"""Every framework whose functions can be checked: a room each, and this is the list of them.

A framework is two files: `NAME.py` here says what is known of it before it is imported, and
`subject/frameworks/NAME.py` does what only a worker can, and imports it. Whoever needs to know of a
framework asks its room: no other module has its name.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from ropespec.conformance.frameworks.base import Framework

__all__ = ["ARRAYS", "BUILTIN", "DEFAULT", "FRAMEWORKS", "Framework"]


def _rooms() -> Mapping[str, Framework]:
    """Look into every room of this folder."""
    names = (item.name for item in pkgutil.iter_modules(__path__) if not item.ispkg)
    rooms = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found: list[Framework] = [room.FRAMEWORK for room in rooms if hasattr(room, "FRAMEWORK")]
    return MappingProxyType({one.name: one for one in sorted(found, key=lambda one: one.rank)})


FRAMEWORKS = _rooms()
"""What is known of each, by the value of `--array`."""

ARRAYS = tuple(FRAMEWORKS)
DEFAULT = ARRAYS[0]
"""The framework of who claims none."""

BUILTIN = tuple(name for name, room in FRAMEWORKS.items() if room.is_backend)
"""Those that ropespec brings a backend in, which are targets that need no profile."""
