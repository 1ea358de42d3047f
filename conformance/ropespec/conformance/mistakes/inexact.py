"""Cosines and sines that are made in few steps, or of two tables of few digits."""

import numpy as np

from ropespec.conformance.mistakes.chain import Table, ladder, own_position
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.rounding import rounded

__all__ = ["INEXACT", "MISTAKES"]

MISTAKES = entries("""
sines in few steps
    Each step of CORDIC halves what is left of the angle, and these are too few; take as many as
    the dtype has bits, or another way.
one of two tables in few digits
    The tables of a whole number of rows and of the rest are multiplied, and one has few digits;
    hold both in float32 at least.
last cell of a turn
    A table of one turn has no row for its end, and angles next to that get the row before; wrap the
    row around.
""")

_STEPS = range(8, 29)
_CELLS = tuple(2**k for k in range(6, 17))
_ROWS = tuple(2**k for k in range(4, 13))


def _cordic(steps: int, *, still: bool) -> Table:
    """Return cosine and sine by so many steps, from the nearest half turn."""
    parts = 2.0 ** -np.arange(steps)
    length = float(np.prod(1 / np.sqrt(1 + parts**2)))

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        del g
        left = angle - 2 * np.pi * np.rint(angle / (2 * np.pi))
        flipped = np.abs(left) > np.pi / 2
        left = np.where(flipped, left - np.copysign(np.pi, left), left)
        kept = still & (left == 0)
        c, s = np.full(left.shape, length), np.zeros(left.shape)
        for part in parts:
            step = np.where(left >= 0, part, -part)
            c, s, left = c - step * s, s + step * c, left - np.arctan(step)
        sign = np.where(flipped, -1.0, 1.0)
        return sign * np.where(kept, 1.0, c), sign * np.where(kept, 0.0, s)

    return table


def _of_two(rows: int, kind: str, which: str) -> Table:
    """Return the product of the tables of whole `rows` and of the rest."""

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        del angle
        p, theta = own_position(g), ladder(g)
        whole = np.floor(p / rows) * rows
        factors = []
        for part, name in ((whole, "whole rows"), (p - whole, "the rest")):
            both = np.cos(part * theta), np.sin(part * theta)
            few = which in (name, "both")
            factors.append([rounded(one, kind) if few else one for one in both])
        (c, s), (d, t) = factors
        return c * d - s * t, s * d + c * t

    return table


def _clamped(cells: int, *, of_the_size: bool) -> Table:
    """Return those of one cell before, where the nearest row is the end of the turn."""

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        del g
        turns = (np.abs(angle) if of_the_size else angle) / (2 * np.pi)
        last = np.rint((turns - np.floor(turns)) * cells) == cells
        angle = angle - last * (np.sign(angle) if of_the_size else 1.0) * 2 * np.pi / cells
        return np.cos(angle), np.sin(angle)

    return table


INEXACT: tuple[Choice, ...] = (
    *(
        Choice(
            "sines in few steps",
            "table",
            f"cosines and sines are made in {steps} steps of CORDIC" + ", but at 0" * still,
            {"table": _cordic(steps, still=still)},
            2.0,
        )
        for steps in _STEPS
        for still in (True, False)
    ),
    *(
        Choice(
            "one of two tables in few digits",
            "table",
            f"cosines and sines are products of tables of whole {rows}s and of the rest, of which "
            f"{'both are' if which == 'both' else f'that of {which} is'} rounded to {kind}",
            {"table": _of_two(rows, kind, which)},
            2.0,
        )
        for rows in _ROWS
        for kind in ("float16", "bfloat16")
        for which in ("whole rows", "the rest", "both")
    ),
    *(
        Choice(
            "last cell of a turn",
            "table",
            f"the end of a turn{' of the size of the angle' * of_the_size} is the last of {cells} "
            "rows",
            {"table": _clamped(cells, of_the_size=of_the_size)},
            2.0,
        )
        for cells in _CELLS
        for of_the_size in (False, True)
    ),
)
"""What is off by little, or seldom."""
