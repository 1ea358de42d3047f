"""Tables that one of several position numbers alone makes as long as they are."""

import numpy as np

from ropespec.conformance.mistakes.chain import own_position
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.kept_tables import GROWTHS, Grown, asked_for

__all__ = ["KEPT_FOR_ONE_NUMBER", "MADE_FOR_ONE_NUMBER", "MISTAKES"]

MISTAKES = entries("""
table as long as one number
    The table ends with the largest of one of several position numbers, and larger ones of another
    are clamped; take the largest of all.
""")


def _to_one_number(axis: int, *, mirrored: bool) -> Choice:
    """Return the places of a table that is as long as one of several position numbers asks."""

    def place(given: Given) -> Array:
        numbers = given.numbers if given.axes else given.positions[..., None]
        asked, p = numbers[..., min(axis, numbers.shape[-1] - 1)], own_position(given)
        if mirrored:
            return np.asarray(np.sign(p) * np.minimum(np.abs(p), np.abs(asked).max()))
        return np.asarray(np.minimum(p, asked.max()))

    sizes = "sizes of all numbers" if mirrored else "all numbers"
    what = f"{sizes} are at most the largest of number {axis}, of all tokens of the call"
    return Choice("table as long as one number", "place", what, {"place": place}, 1.5)


def _grown_by_one_number(axis: int, first: int, how: str, grown: Grown) -> Choice:
    """Return the places of a kept table that one of several position numbers alone makes longer."""

    def place(given: Given) -> Array:
        rows = first
        for one in asked_for(given, by_width=True):
            numbers = one.numbers if one.axes else one.positions[..., None]
            need = int(numbers[..., min(axis, numbers.shape[-1] - 1)].max(initial=0)) + 1
            rows = int(grown(need, rows)) if need > rows else rows
        return np.minimum(own_position(given), rows - 1)

    what = f"all numbers are at most the last of a table of {first} rows, {how} for number {axis}"
    return Choice("table as long as one number", "memory", what, {"place": place}, 1.9)


MADE_FOR_ONE_NUMBER: tuple[Choice, ...] = tuple(
    _to_one_number(axis, mirrored=mirrored) for axis in range(3) for mirrored in (False, True)
)
"""Tables that are made for each call."""

KEPT_FOR_ONE_NUMBER: tuple[Choice, ...] = tuple(
    _grown_by_one_number(axis, 2**k, how, grown)
    for axis in range(3)
    for k in range(4, 15)
    for how, grown in GROWTHS
)
"""Tables that are kept for later calls."""
