"""Positions that are looked up in two parts, which do not go together below zero."""

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


SPLITS = tuple(_split(2**k) for k in range(1, 17))
"""The first part is divided towards zero, and the second is what is left of a floor."""
