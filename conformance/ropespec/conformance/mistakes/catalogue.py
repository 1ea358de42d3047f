"""All mistakes that have a name, from the modules where they stand."""

from ropespec.conformance.mistakes import (
    blocks,
    conduct,
    dynamic,
    frequency,
    functions,
    memory,
    pairing,
    paths,
    place,
    product,
    rounding,
    scaled,
    sources,
    stored,
    table,
    turning,
)
from ropespec.conformance.mistakes.entry import Entry

__all__ = ["CATALOGUE", "ROOMS", "UNLISTED", "Entry"]

ROOMS = (
    blocks,
    conduct,
    dynamic,
    frequency,
    functions,
    memory,
    pairing,
    paths,
    place,
    product,
    rounding,
    scaled,
    sources,
    stored,
    table,
    turning,
)
_ALL = tuple(entry for room in ROOMS for entry in room.MISTAKES)

CATALOGUE = {entry.id: entry for entry in _ALL if entry.id}
"""Entries by id."""

UNLISTED = {entry.name: entry for entry in _ALL if not entry.id}
"""Entries that have no id, by name."""
