"""Tables that are longer than they are filled, or than was asked for."""

import numpy as np

from ropespec.conformance.mistakes.chain import cos_sin, own_position
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.kept_tables import asked_for, doubled_from
from ropespec.conformance.mistakes.orders import restarted, run_lengths

__all__ = ["FILLED_TABLES", "MISTAKES"]

MISTAKES = entries("""
table filled for one call
    A table that is doubled is filled as far as the call needs that made it longer, and later calls
    read what is behind; fill all rows that it has got.
""")


def _filled(given: Given, first: int, *, by_width: bool, again: bool) -> Array:
    """Return which position each row of a table stands for; -1 where none was filled in."""
    rows = np.arange(first)
    for one in asked_for(given, by_width=by_width):
        have, need = len(rows), min(int(one.positions.max(initial=0)) + 1, _MOST_ROWS)
        if need > have:
            size = int(doubled_from(first)(need, have))
            more = np.resize(rows, size) if again else np.full(size, -1)
            more[:need] = np.concatenate([rows, np.arange(have, need)])
            rows = more
    return rows


_MOST_ROWS = 2**17
"""No longer table is followed."""


def _looked_up(given: Given, rows: Array) -> Array:
    p = own_position(given)
    known = (p >= 0) & (p < len(rows))
    return np.where(known, rows[np.where(known, p, 0).astype(int)], p)


def _filled_for_one_call(first: int, *, by_width: bool, again: bool) -> Choice:
    """Return the place in a table that is longer than it is filled."""

    def place(given: Given) -> Array:
        return _looked_up(given, _filled(given, first, by_width=by_width, again=again))

    def table(given: Given, angle: Array) -> tuple[Array, Array]:
        there = (place(given) >= 0) | (own_position(given) < 0)
        c, s = cos_sin(given, angle)
        return c * there, s * there

    of = ", one for each head_dim" if by_width else ""
    rest = "the rows before follow once more" if again else "cos and sin are 0"
    what = f"behind what the call needed that doubled a table of {first} rows{of}, {rest}"
    change = {"place": place} if again else {"table": table}
    return Choice("table filled for one call", "memory", what, change, 1.9)


def _ends(given: Given) -> list[int]:
    """Return how many rows runs of tokens ask for, one after another, where each asks for more."""
    begin = given.positions - restarted(given.positions)
    ends = (begin + run_lengths(given.positions)).ravel()
    return [int(end) for end in np.unique(np.maximum.accumulate(ends))]


def _appended_to_what_was_asked(first: int, step: int, of: str = "") -> Choice:
    """Return the place in a table of whole blocks that is taken to be as long as was asked for."""
    by_width, by_run = of == "width", of == "run"

    def place(given: Given) -> Array:
        rows, asked = np.arange(-(-first // step) * step), first
        for one in asked_for(given, by_width=by_width):
            for need in _ends(one) if by_run else [int(one.positions.max(initial=0)) + 1]:
                if asked < need <= _MOST_ROWS:
                    rows = np.concatenate([rows, np.arange(asked, -(-need // step) * step)])
                    asked = need
        return _looked_up(given, rows)

    of = {"width": ", one for each head_dim", "run": ", asked for each run of tokens"}.get(of, "")
    what = f"that in a table of {first} rows or more{of}, longer by whole blocks of {step}"
    said = f"the position is {what}, which begin with what the last call did not need"
    return Choice("table grown wrong", "memory", said, {"place": place}, 1.95)


FILLED_TABLES: tuple[Choice, ...] = (
    *(
        _filled_for_one_call(2**k, by_width=by_width, again=again)
        for k in range(4, 15)
        for by_width in (True, False)
        for again in (True, False)
    ),
    *(
        _appended_to_what_was_asked(first, 2**k, of)
        for first in (0, *(2**k for k in range(6, 13)))
        for k in range(4, 11)
        for of in ("width", "run", "")
    ),
)
"""What a table that is kept may hold behind its last row, or behind what was asked for."""
