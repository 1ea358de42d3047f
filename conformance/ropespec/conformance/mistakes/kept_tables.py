"""Tables, of one call or kept for later ones: how long they are, how they grow, in which dtype."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import RIGHT, Table, ladder, own_position
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.keys import KEYS, Source, first, like, run
from ropespec.conformance.mistakes.rounding import rounded

__all__ = ["KEPT_TABLES", "MISTAKES", "OF_ONE_CALL"]

MISTAKES = entries("""
C4 stale dtype
    A table, or frequencies, made for a call of fewer digits serve later calls of more; put the
    dtype into the key.
table grown wrong
    Rows that are added to a table do not count on from its last one; begin with the next.
table as long as the last token
    The table ends with the position of the last token, and larger ones before it are clamped; take
    the largest position of the call.
table grown too little
    A table that is too short for a call is doubled once, or made as long as the call has tokens,
    and positions beyond its end are clamped; make it as long as the largest position asks.
table as long as one number
    The table ends with the largest of one of several position numbers, and larger ones of another
    are clamped; take the largest of all.
negative positions from the end of a table
    A position below zero is looked up from the end of a table; keep its sign, or refuse it.
table of an earlier trace
    A call of a shape that was compiled before looks positions up in the table of that time; hand
    the table to what is compiled.
table a row short
    A table of n rows ends at position n - 1, and position n is looked up in it; make it n + 1 rows
    long.
""")

Grown = Callable[[int, int], float]
"""How many rows a table gets, of those that a call needs and those that it has."""


def _asked_for(g: Given, *, by_width: bool) -> Iterator[Given]:
    """Return the calls that ask a table for rows, this one the last."""
    return (one for one in (*g.past, g) if not by_width or one.x.shape[-1] == g.x.shape[-1])


def _grown_wrong(first: int, late: int | None, *, by_width: bool, doubled: bool) -> Choice:
    """Return the place of a table whose added rows begin so many before the next, or at 0."""

    def place(given: Given) -> Array:
        made, rows = np.arange(0), 0
        for one in _asked_for(given, by_width=by_width):
            need = int(one.positions.max(initial=0)) + 1
            if need > rows:
                until = max(need, 2 * rows * doubled, 0 if rows else first)
                back = rows if late is None else late * bool(rows)
                more = np.arange(rows - back, until if late is not None else until - rows)
                made, rows = np.concatenate([made, more]), until
        p = own_position(given)
        known = (p >= 0) & (p < len(made))
        return np.where(known, made[np.where(known, p, 0).astype(int)], p)

    of = ", one for each head_dim" if by_width else ""
    grows = "at least doubled" if doubled else "grown to what a call needs"
    begin = "count from 0" if late is None else f"begin {late} before the next"
    what = f"that in a table of {first} rows or more, {grows}{of}, whose new rows {begin}"
    return Choice("table grown wrong", "memory", f"the position is {what}", {"place": place}, 2.0)


def _row_short(how: str, grown: Grown, *, by_width: bool) -> Choice:
    """Return the place of a table as long as the largest position, where the next is the last."""

    def place(given: Given) -> Array:
        rows = 0
        for one in _asked_for(given, by_width=by_width):
            largest = int(one.positions.max(initial=0))
            rows = int(grown(largest, rows)) if largest > rows or not rows else rows
        p = own_position(given)
        return np.where(p == rows, p - 1, p)

    of = ", one for each head_dim" if by_width else ""
    what = f"the last row stands for the next position too, of a table {how}{of}"
    return Choice("table a row short", "memory", what, {"place": place}, 1.9)


def _to_the_last_token(first: int, kept: str = "anew") -> Choice:
    def place(given: Given) -> Array:
        asked = [given] if kept == "anew" else _asked_for(given, by_width=kept == "by width")
        last = (int(one.positions[:, -1:].max(initial=0)) + 1 for one in asked)
        return np.minimum(own_position(given), max(first, *last) - 1)

    of = {"anew": ", made for each call", "by width": ", one for each head_dim"}.get(kept, "")
    what = f"the position is clamped to a table of {first} rows, longer for last tokens alone{of}"
    stage = "place" if kept == "anew" else "memory"
    return Choice("table as long as the last token", stage, what, {"place": place}, 1.9)


def _too_little(first: int, *, doubled: bool, by_width: bool) -> Choice:
    """Return the place of a table that grows, and may still be short of what a call needs."""

    def place(given: Given) -> Array:
        rows = first
        for one in _asked_for(given, by_width=by_width):
            if not doubled:
                rows = max(rows, one.x.shape[1])
            elif np.abs(one.positions).max(initial=0) >= rows:
                rows *= 2
        p = own_position(given)
        return np.sign(p) * np.minimum(np.abs(p), rows - 1)

    of = ", one for each head_dim" if by_width else ""
    grows = "doubled once in a call that needs more" if doubled else "longer for more tokens alone"
    what = f"the position is clamped to a table of {first} rows, {grows}{of}"
    return Choice("table grown too little", "memory", what, {"place": place}, 1.9)


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


def _of_a_trace(how: str, grown: Grown, *, by_width: bool) -> Choice:
    """Return the place in the table that was there when a call of this shape and dtype came."""

    def place(given: Given) -> Array:
        rows, then = 0, dict[object, int]()
        for one in _asked_for(given, by_width=by_width):
            need = int(np.abs(one.positions).max(initial=0)) + 1
            rows = int(grown(need, rows)) if need > rows else rows
            then.setdefault((one.x.shape, one.dtype), rows)
        return np.minimum(own_position(given), then[given.x.shape, given.dtype] - 1)

    of = ", one for each head_dim" if by_width else ""
    what = (
        f"the position is at most that of the last row which a table {how}{of}, had when the first "
        "call of this shape was made"
    )
    return Choice("table of an earlier trace", "memory", what, {"place": place}, 1.8)


def _from_the_end(how: str, grown: Grown, *, by_width: bool) -> Choice:
    def place(given: Given) -> Array:
        rows = 0
        for one in _asked_for(given, by_width=by_width):
            need = int(np.abs(one.positions).max(initial=0)) + 1
            rows = int(grown(need, rows)) if need > rows else rows
        p = own_position(given)
        return np.where(p < 0, p + rows, p)

    of = ", one for each head_dim" if by_width else ""
    what = f"positions below zero are rows from the end of a table {how}{of}"
    name = "negative positions from the end of a table"
    return Choice(name, "memory", what, {"place": place}, 1.9)


def _doubled_from(first: int) -> Grown:
    def grown(need: int, rows: int) -> float:
        size = rows or first
        while size < need:
            size *= 2
        return size

    return grown


def _in_steps_of(step: int) -> Grown:
    return lambda need, _: -(-need // step) * step


def _made_in(g: Given, grown: Grown) -> str:
    """Return the dtype of the call for which the table of this width was made or made larger."""
    rows, kept = 0.0, ""
    for one in _asked_for(g, by_width=True):
        need = int(np.abs(one.positions).max(initial=0)) + 1
        if need > rows:
            rows, kept = grown(need, int(rows)), one.dtype
    return kept


def _kept_in_dtype(how: str, grown: Grown) -> Choice:
    what = f"cos and sin have the dtype of the call for which their table was {how}"
    return Choice("C4", "memory", what, _tables_in(lambda g: _made_in(g, grown)), 1.4)


def _by_key(word: str, source: Source) -> Choice:
    what = f"cos and sin have the dtype of the {word}"
    return Choice("C4", "memory", what, _tables_in(lambda g: source(g).dtype), 1.45)


def _by_blocks(size: int) -> Choice:
    """Return tables of so many positions, each in the dtype of the call that first needed it."""

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        blocks = np.floor_divide(g.positions, size)
        c, s = np.cos(angle), np.sin(angle)
        due = np.ones(blocks.shape, dtype=bool)
        for one in _asked_for(g, by_width=True):
            here = due & np.isin(blocks, np.floor_divide(one.positions, size))
            due &= ~here
            if one.dtype != "float64" and here.any():
                at = here[..., None, None]
                c, s = (np.where(at, rounded(part, one.dtype), part) for part in (c, s))
        return c, s

    what = f"cos and sin have the dtype of the call that first needed their {size} positions"
    return Choice("C4", "memory", what, {"table": table}, 1.5)


def _frequencies_by(word: str, source: Source) -> Choice:
    """Return frequencies in the dtype of the call that left them."""

    def made(moved: float) -> Callable[[Given], Array]:
        def theta(g: Given) -> Array:
            dtype = source(g).dtype
            if dtype == "float64":
                return ladder(g)
            unit = 2.0**-52 if dtype == "float32" else 2.0**-23  # of the arithmetic before
            return rounded((1 + moved * unit) * ladder(g), dtype)

        return theta

    nudged = tuple(replace(RIGHT, frequency=made(moved)) for moved in (-1.0, 1.0))
    change = {"frequency": made(0.0), "nudged": nudged}
    return Choice("C4", "memory", f"frequencies have the dtype of the {word}", change, 1.45)


def _tables_in(dtype: Callable[[Given], str]) -> dict[str, object]:
    """Return tables rounded to a dtype, and what float arithmetic may make of a halfway case."""

    def made(moved: float) -> Table:
        def table(g: Given, angle: Array) -> tuple[Array, Array]:
            kept = dtype(g)
            if kept == "float64":
                return np.cos(angle), np.sin(angle)
            angle = angle + moved * 2.0**-23 * (1 + np.abs(angle))
            return rounded(np.cos(angle), kept), rounded(np.sin(angle), kept)

        return table

    nudged = tuple(replace(RIGHT, table=made(moved)) for moved in (-1.0, 1.0))
    return {"table": made(0.0), "nudged": nudged}


def _always(kind: str) -> Callable[[Given], str]:
    return lambda _: kind


_POSITIONS = ("call with these positions", like(lambda p: p))
_OF_ANY_DTYPE = (_POSITIONS, *((word, key) for word, key in KEYS if "dtype" not in word))

OF_ONE_CALL: tuple[Choice, ...] = (
    *(_to_one_number(axis, mirrored=mirrored) for axis in range(3) for mirrored in (False, True)),
    *(_to_the_last_token(first) for first in (1, *(2**k for k in range(6, 14)))),
)
"""What a table may be that is made for each call."""

KEPT_TABLES: tuple[Choice, ...] = (
    *(
        _grown_wrong(first, late, by_width=by_width, doubled=doubled)
        for late in (None, 1)
        for first in (0, *(2**k for k in range(4, 13)))
        for by_width in (True, False)
        for doubled in (False, True)
    ),
    *(
        _row_short(how, grown, by_width=by_width)
        for how, grown in (
            ("as long as the largest position", lambda need, _: need),
            ("at least doubled", lambda need, rows: max(need, 2 * rows)),
            *((f"of {2**k}, doubled", _doubled_from(2**k)) for k in range(4, 15)),
            *((f"in steps of {2**k}", _in_steps_of(2**k)) for k in range(4, 13)),
        )
        for by_width in (True, False)
    ),
    *(
        _to_the_last_token(first, kept)
        for first in (1, *(2**k for k in range(6, 14)))
        for kept in ("by width", "")
    ),
    *(
        _too_little(first, doubled=doubled, by_width=by_width)
        for first in (1, *(2**k for k in range(6, 16)))
        for doubled in (False, True)
        for by_width in (True, False)
    ),
    *(
        _of_a_trace(how, grown, by_width=by_width)
        for how, grown in (
            ("as long as it must be", lambda need, _: need),
            *((f"of {2**k}, doubled", _doubled_from(2**k)) for k in range(6, 15)),
        )
        for by_width in (True, False)
    ),
    *(
        _from_the_end(how, grown, by_width=by_width)
        for how, grown in (
            ("as long as it must be", lambda need, _: need),
            *((f"of {2**k}, doubled", _doubled_from(2**k)) for k in range(6, 20)),
        )
        for by_width in (True, False)
    ),
    *(
        _kept_in_dtype(how, grown)
        for how, grown in (
            ("made", lambda *_: np.inf),
            ("made as long as it must be", lambda need, _: need),
            ("made, a power of two long", lambda need, _: 1 << (need - 1).bit_length()),
            ("made, at least doubled", lambda need, rows: max(need, 2 * rows)),
        )
    ),
    *(_by_blocks(2**power) for power in (0, *range(4, 14))),
    *(_frequencies_by(f"first {word}", first(key)) for word, key in _OF_ANY_DTYPE),
    *(_by_key(f"first {word}", first(key)) for word, key in _OF_ANY_DTYPE),
    *(_by_key(f"first {word} since another", run(key)) for word, key in _OF_ANY_DTYPE),
    *(
        Choice("C4", "memory", f"cos and sin are rounded to {kind}", _tables_in(_always(kind)), 1.5)
        for kind in ("bfloat16", "float16", "float32")
    ),
)
"""What a table that is kept may be in later calls."""
