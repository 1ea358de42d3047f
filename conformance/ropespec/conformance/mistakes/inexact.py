"""Cosines and sines that are off by little, or seldom: few steps, digits, terms, or rows."""

import math
from collections.abc import Callable

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
sines by a short series
    A series of few terms stands for cosine and sine, or one of more where the angle is too large
    for it; take the nearest quarter turn off, below zero too, and as many terms as the dtype asks.
small cosines and sines cut off
    What is small in a table counts as zero, and slow pairs stand still; keep it as it is.
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


_WAYS: dict[str, Callable[[Array], Array]] = {
    "the nearest quarter turn": np.rint,
    "the nearest quarter turn, cut towards zero,": lambda n: np.trunc(n + 0.5),
    "the quarter turn before": np.floor,
    "the quarter turn before, towards zero,": np.trunc,
}
"""Which quarter turn is taken off."""

_TURNED = np.array([1, 1j, -1, -1j])


def _series(way: str, of_cos: int, of_sin: int) -> Table:
    def terms(r: Array, first: int, last: int) -> Array:
        made = ((-1) ** (n // 2) * r**n / math.factorial(n) for n in range(first, last + 1, 2))
        return np.asarray(sum(made))

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        del g
        quarter = _WAYS[way](angle * (2 / np.pi))
        rest = angle - quarter * (np.pi / 2)
        turned = _TURNED[np.mod(quarter, 4).astype(np.int64)]
        z = (terms(rest, 0, of_cos) + 1j * terms(rest, 1, of_sin)) * turned
        return z.real, z.imag

    return table


def _cut(least: float) -> Table:
    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        del g
        both = np.cos(angle), np.sin(angle)
        c, s = (np.where(np.abs(one) < least, 0.0, one) for one in both)
        return c, s

    return table


def _made(key: str, what: str, table: Table, cost: float = 2.0) -> Choice:
    return Choice(key, "table", what, {"table": table}, cost)


_BEFORE_ALL = 0.95
"""The cost of what leaves slow pairs alone: of many that do the others would be tried first."""

INEXACT: tuple[Choice, ...] = (
    *(
        _made(
            "sines in few steps",
            f"cosines and sines are made in {steps} steps of CORDIC" + ", but at 0" * still,
            _cordic(steps, still=still),
        )
        for steps in _STEPS
        for still in (True, False)
    ),
    *(
        _made(
            "one of two tables in few digits",
            f"cosines and sines are products of tables of whole {rows}s and of the rest, of which "
            f"{'both are' if which == 'both' else f'that of {which} is'} rounded to {kind}",
            _of_two(rows, kind, which),
        )
        for rows in _ROWS
        for kind in ("float16", "bfloat16")
        for which in ("whole rows", "the rest", "both")
    ),
    *(
        _made(
            "sines by a short series",
            f"cosines are series up to the power {of_cos} and sines up to {of_sin} of what "
            f"{way} leaves of the angle",
            _series(way, of_cos, of_sin),
        )
        for way in _WAYS
        for of_cos in range(2, 13, 2)
        for of_sin in (of_cos - 1, of_cos + 1)
    ),
    *(
        _made(
            "small cosines and sines cut off",
            f"cosines and sines below {10.0**-k:g} are 0",
            _cut(10.0**-k),
            _BEFORE_ALL,
        )
        for k in range(2, 9)
    ),
    *(
        _made(
            "last cell of a turn",
            f"the end of a turn{' of the size of the angle' * of_the_size} is the last of {cells} "
            "rows",
            _clamped(cells, of_the_size=of_the_size),
        )
        for cells in _CELLS
        for of_the_size in (False, True)
    ),
)
"""The angles are right, and what is made of them is not quite."""
