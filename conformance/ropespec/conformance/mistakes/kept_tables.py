"""Tables, of one call or kept for later ones: how long they are, and how they grow."""

from collections.abc import Callable, Iterator

import numpy as np

from ropespec.conformance.mistakes.chain import own_position
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.orders import restarted, run_lengths, spread

__all__ = ["GROWTHS", "KEPT_TABLES", "MISTAKES", "Grown", "asked_for", "doubled_from"]

MISTAKES = entries("""
table grown wrong
    Rows that are added to a table do not count on from its last one; begin with the next.
table grown a call late
    A call that needs more rows than there are gets the last of these, and the next call the longer
    table; wait for it.
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


def asked_for(g: Given, *, by_width: bool) -> Iterator[Given]:
    """Return the calls that ask a table for rows, this one the last."""
    return (one for one in (*g.past, g) if not by_width or one.x.shape[-1] == g.x.shape[-1])


def _grown_wrong(first: int, late: int | None, *, by_width: bool, doubled: bool) -> Choice:
    """Return the place of a table whose added rows begin so many before the next, or at 0."""

    def place(given: Given) -> Array:
        made, rows = np.arange(0), 0
        for one in asked_for(given, by_width=by_width):
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
        for one in asked_for(given, by_width=by_width):
            rows = int(grown(int(one.positions.max(initial=0)), rows))
        p = own_position(given)
        return np.where(p == rows, p - 1, p)

    of = ", one for each head_dim" if by_width else ""
    what = f"the last row stands for the next position too, of a table {how}{of}"
    return Choice("table a row short", "memory", what, {"place": place}, 1.9)


def _a_call_late(first: int, how: str, grown: Grown, *, by_width: bool) -> Choice:
    """Return the place in a table that is as long as the calls before have asked for."""

    def place(given: Given) -> Array:
        rows = then = first
        for one in asked_for(given, by_width=by_width):
            need, then = int(np.abs(one.positions).max(initial=0)) + 1, rows
            rows = int(grown(need, rows)) if need > rows else rows
        p = own_position(given)
        return np.sign(p) * np.minimum(np.abs(p), then - 1)

    of = ", one for each head_dim" if by_width else ""
    what = f"the position is at most the last of a table of {first} rows, {how} for the next call"
    return Choice("table grown a call late", "memory", what + of, {"place": place}, 1.9)


def _of_a_trace(how: str, grown: Grown, *, by_width: bool) -> Choice:
    """Return the place in the table that was there when a call of this shape and dtype came."""

    def place(given: Given) -> Array:
        rows, then = 0, dict[object, int]()
        for one in asked_for(given, by_width=by_width):
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
        for one in asked_for(given, by_width=by_width):
            need = int(np.abs(one.positions).max(initial=0)) + 1
            rows = int(grown(need, rows)) if need > rows else rows
        p = own_position(given)
        return np.where(p < 0, p + rows, p)

    of = ", one for each head_dim" if by_width else ""
    what = f"positions below zero are rows from the end of a table {how}{of}"
    name = "negative positions from the end of a table"
    return Choice(name, "memory", what, {"place": place}, 1.9)


def _grown_for_its_start(first: int, *, by_width: bool) -> Choice:
    """Return the place of a slice, moved back into a table that is doubled for its start alone."""

    def place(given: Given) -> Array:
        most, rows = first, np.zeros(0)
        for one in asked_for(given, by_width=by_width):
            steps, lengths = restarted(one.positions), run_lengths(one.positions)
            need = np.maximum(one.positions - steps + 1, lengths).ravel()
            size = first * 2 ** np.ceil(np.log2(np.maximum(need / first, 1)))
            rows = np.maximum.accumulate(np.maximum(size, most))
            most = int(rows.max(initial=most))
        last = rows.reshape(given.positions.shape) - lengths
        begin = np.minimum(given.positions - steps, np.maximum(last, 0))
        return spread(begin + steps, given)

    of = ", one for each head_dim" if by_width else ""
    what = (
        f"that of a slice moved back to the end of a table of {first} rows, which is doubled while "
        f"a slice would begin behind it{of}"
    )
    return Choice("slice moved back", "memory", f"the position is {what}", {"place": place}, 1.9)


def doubled_from(first: int, beyond: int = 0) -> Grown:
    """Return the growth of a table that is doubled until it has the rows asked for, and more."""

    def grown(need: int, rows: int) -> float:
        size = rows or first
        while size < need + beyond:
            size *= 2
        return size

    return grown


def _doubled_beyond(first: int) -> Grown:
    """Return the growth of a table that is long enough at first, whatever it is asked for."""
    longer = doubled_from(first, 1)
    return _beyond(lambda need, rows: longer(need, rows) if rows or need > first else first)


def _beyond(grown: Grown) -> Grown:
    """Return a growth of those that are asked for more than the number of rows."""
    return lambda need, rows: grown(need, rows) if need > rows or not rows else rows


def _at_least_doubled(first: int) -> Grown:
    """Return the growth of a table that is asked for as many rows as it has, and then doubled."""

    def grown(need: int, rows: int) -> float:
        there = rows or first
        return max(need, 2 * there) if need >= there else there

    return grown


def _in_steps_of(step: int) -> Grown:
    return lambda need, _: -(-need // step) * step


GROWTHS: tuple[tuple[str, Grown], ...] = (
    ("made longer", lambda need, _: need),
    ("at least doubled", lambda need, rows: max(need, 2 * rows)),
    ("doubled", lambda need, _: 1 << (need - 1).bit_length()),
)
"""How a table grows that does not have the rows it is asked for."""

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
            ("as long as the largest position", _beyond(lambda need, _: need)),
            ("at least doubled", _beyond(lambda need, rows: max(need, 2 * rows))),
            *((f"of {2**k}, at least doubled", _at_least_doubled(2**k)) for k in range(4, 15)),
            *((f"of {2**k}, doubled", _beyond(doubled_from(2**k))) for k in range(4, 15)),
            *((f"in steps of {2**k}", _beyond(_in_steps_of(2**k))) for k in range(4, 13)),
            *((f"of {2**k}, doubled until that fits", _doubled_beyond(2**k)) for k in range(4, 15)),
        )
        for by_width in (True, False)
    ),
    *(
        _grown_for_its_start(2**k, by_width=by_width)
        for k in range(4, 15)
        for by_width in (True, False)
    ),
    *(
        _a_call_late(2**k, how, grown, by_width=by_width)
        for k in range(6, 16)
        for how, grown in (GROWTHS[0], GROWTHS[2])
        for by_width in (True, False)
    ),
    *(
        _of_a_trace(how, grown, by_width=by_width)
        for how, grown in (
            ("as long as it must be", lambda need, _: need),
            *((f"of {2**k}, doubled", doubled_from(2**k)) for k in range(6, 15)),
        )
        for by_width in (True, False)
    ),
    *(
        _from_the_end(how, grown, by_width=by_width)
        for how, grown in (
            ("as long as it must be", lambda need, _: need),
            *((f"of {2**k}, doubled", doubled_from(2**k)) for k in range(6, 20)),
        )
        for by_width in (True, False)
    ),
)
"""What a table that is kept may be in later calls."""
