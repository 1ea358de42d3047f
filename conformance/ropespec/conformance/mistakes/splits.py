"""Positions in two parts, a quotient and what is left, that are not put together again."""

from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import RIGHT
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.orders import of_each_number, own

__all__ = ["MISTAKES", "SPLITS"]

MISTAKES = entries("""
negative positions split
    A position is divided towards zero and its remainder is not; divide and take the remainder the
    same way.
table grown by its last row
    A table grows by a rotation of its rows by the last of them, which is one short of how many
    there are; rotate them by as many positions as there are rows.
""")

_OF_PARTS = 2.0**-21
"""How far from it the angle of both parts may be, in parts of the position: float32 adds them."""


def _split(size: int) -> Choice:
    def place(g: Given) -> Array:
        p = own(g)
        return np.asarray(np.trunc(p / size) * size + np.mod(p, size))

    def further(g: Given) -> Array:
        return np.asarray(place(g) + _OF_PARTS * own(g))

    what = f"the position is its own, and {size} more below zero if it is no multiple of that"
    nudged = (replace(RIGHT, place=of_each_number(further)),)
    change = {"place": of_each_number(place), "nudged": nudged}
    return Choice("negative positions split", "place", what, change, 2.0)


def _grown(size: int) -> Choice:
    def place(g: Given) -> Array:
        p = own(g)
        return np.asarray(p - np.maximum(p, 0) // size)

    what = f"the position is its own, less one for each {size} before it"
    change = {"place": of_each_number(place)}
    return Choice("table grown by its last row", "place", what, change, 2.5)


SPLITS = (*(_split(2**k) for k in range(1, 17)), *(_grown(2**k) for k in range(4, 17)))
"""Divided towards zero, beside what is left of a floor; a row short each time a table grows."""
