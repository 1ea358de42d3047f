"""All mistakes that have a name, from the modules where they stand."""

import importlib
import pkgutil
from pathlib import Path

from ropespec.conformance.mistakes.entry import Entry

__all__ = ["CATALOGUE", "ROOMS", "UNLISTED", "Entry"]

_ROOM = Path(__file__).parent
_MODULES = (
    importlib.import_module(f"{__name__.rpartition('.')[0]}.{found.name}")
    for found in pkgutil.iter_modules([str(_ROOM)])
    if found.name != Path(__file__).stem
)

ROOMS = tuple(module for module in _MODULES if hasattr(module, "MISTAKES"))
"""The modules of this folder that tell mistakes."""

_ALL = tuple(entry for room in ROOMS for entry in room.MISTAKES)

CATALOGUE = {entry.id: entry for entry in _ALL if entry.id}
"""Entries by id."""

UNLISTED = {entry.name: entry for entry in _ALL if not entry.id}
"""Entries that have no id, by name."""
