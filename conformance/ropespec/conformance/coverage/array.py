"""Covering arrays: few rows in which every pair of levels, or every triple, occurs."""

import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from covertable import make

__all__ = ["PAIRS", "TRIPLES", "Level", "Levels", "Table", "combined"]

PAIRS, TRIPLES = 2, 3

Level = str | int | float | None
Levels = Mapping[str, Level]
"""One level of each dimension."""

_TOLERANCE = 3  # rows that are a little worse are found in half the time


@dataclass(frozen=True, slots=True)
class Table:
    """Dimensions of a call and their levels, the simplest first; all may be combined.

    Attributes
    ----------
    dimensions : tuple of pairs
        Name and levels of each.
    """

    dimensions: tuple[tuple[str, tuple[Level, ...]], ...]

    def rows(self, strength: int = PAIRS, like: "Table | None" = None) -> Sequence[Levels]:
        """Return rows that hold every combination of so many levels, the simplest row first.

        They are those of another table, `like`, where that has at least as many levels of every
        dimension: other levels in the place of those that are too many leave none out.
        """
        if like is None or any(len(own) > len(its) for own, its in _beside(self, like)):
            return _rows(self, strength)
        places = [
            {level: place for place, level in enumerate(its)} for _, its in _beside(self, like)
        ]
        return [
            {
                name: own[place[row[name]] % len(own)]
                for (name, own), place in zip(self.dimensions, places, strict=True)
            }
            for row in _rows(like, strength)
        ]

    def count(self, strength: int = PAIRS) -> int:
        """Return how many combinations of so many levels there are."""
        sizes = [len(levels) for _, levels in self.dimensions]
        return sum(math.prod(some) for some in itertools.combinations(sizes, strength))


def combined(rows: Iterable[Levels], strength: int = PAIRS) -> int:
    """Count the combinations of so many levels that rows hold."""
    found = (itertools.combinations(sorted(row.items()), strength) for row in rows)
    return len(set(itertools.chain.from_iterable(found)))


def _beside(one: Table, other: Table) -> list[tuple[tuple[Level, ...], tuple[Level, ...]]]:
    """Return the levels of each dimension of two tables."""
    its = dict(other.dimensions)
    return [(levels, its[name]) for name, levels in one.dimensions]


@functools.lru_cache(maxsize=32)
def _rows(table: Table, strength: int) -> Sequence[Levels]:
    simplest = {name: levels[0] for name, levels in table.dimensions}
    # Numbers of the levels, for a library that compares them must not take 1 for True or 1.0.
    free = {name: list(range(len(some))) for name, some in table.dimensions if len(some) > 1}
    if len(free) < strength:
        chosen = [dict(zip(free, row, strict=True)) for row in itertools.product(*free.values())]
    else:
        first = dict.fromkeys(free, 0)
        chosen = make(free, strength=strength, tolerance=_TOLERANCE, presets=[first])
    levels = dict(table.dimensions)
    return [simplest | {name: levels[name][at] for name, at in row.items()} for row in chosen]
