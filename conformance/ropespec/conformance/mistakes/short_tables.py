"""Tables that are too short for a call, where positions beyond their end are clamped."""

import numpy as np

from ropespec.conformance.mistakes.chain import own_position
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.kept_tables import GROWTHS, Grown, asked_for

__all__ = ["KEPT_TOO_SHORT", "MISTAKES", "OF_ONE_CALL"]

MISTAKES = entries("""
table as long as the last token
    The table ends with the position of the last token, and larger ones before it are clamped; take
    the largest position of the call.
table grown too little
    A table that is too short for a call is doubled once, or made as long as the call has tokens,
    and positions beyond its end are clamped; make it as long as the largest position asks.
""")


def _to_the_last_token(first: int, how: str, grown: Grown, kept: str = "anew") -> Choice:
    def place(given: Given) -> Array:
        rows = first
        asked = [given] if kept == "anew" else asked_for(given, by_width=kept == "by width")
        for one in asked:
            need = int(one.positions[:, -1:].max(initial=0)) + 1
            rows = int(grown(need, rows)) if need > rows else rows
        return np.minimum(own_position(given), rows - 1)

    of = {"anew": ", made for each call", "by width": ", one for each head_dim"}.get(kept, "")
    what = f"the position is clamped to a table of {first} rows, {how} for last tokens alone{of}"
    stage = "place" if kept == "anew" else "memory"
    return Choice("table as long as the last token", stage, what, {"place": place}, 1.9)


def _as_long_as_the_call(given: Given) -> Array:
    """Return the place in a table that has as many rows as the call has tokens."""
    return np.asarray(np.minimum(own_position(given), given.x.shape[1] - 1))


def _too_little(first: int, *, doubled: bool, by_width: bool) -> Choice:
    """Return the place of a table that grows, and may still be short of what a call needs."""

    def place(given: Given) -> Array:
        rows = first
        for one in asked_for(given, by_width=by_width):
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


OF_ONE_CALL: tuple[Choice, ...] = (
    *(_to_the_last_token(first, *GROWTHS[0]) for first in (1, *(2**k for k in range(6, 14)))),
    Choice(
        "table grown too little",
        "place",
        "the position is clamped to a table with as many rows as the call has tokens",
        {"place": _as_long_as_the_call},
        1.5,
    ),
)
"""What a table may be that is made for each call."""

KEPT_TOO_SHORT: tuple[Choice, ...] = (
    *(
        _to_the_last_token(first, *growth, kept)
        for first in (1, *(2**k for k in range(6, 14)))
        for kept in ("by width", "")
        for growth in GROWTHS
    ),
    *(
        _too_little(first, doubled=doubled, by_width=by_width)
        for first in (1, *(2**k for k in range(6, 16)))
        for doubled in (False, True)
        for by_width in (True, False)
    ),
)
"""What a table that is kept may be in later calls."""
