"""The position that a token is rotated by: sums of sources, and what is no sum."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.orders import (
    Source,
    as_one_row,
    of_each_number,
    own,
    spread,
)
from ropespec.conformance.mistakes.rounding import rounded
from ropespec.conformance.mistakes.rows import (
    bits_of,
    distinct_in,
    found_in_a_row,
    in_bits,
    rows_by_both_ends,
    rows_by_their_ends,
    rows_by_their_firsts,
    run_by_its_ends,
    runs_by_all_ends,
    runs_by_one_row,
    runs_by_their_range,
    runs_in_steps,
    sorted_if_all_differ,
    steps_in_8_bits,
    token_by_a_shift,
    token_from_the_end,
    token_in,
    token_of_the_first,
    without_repeats,
)
from ropespec.conformance.mistakes.sources import SOURCES
from ropespec.conformance.mistakes.splits import SPLITS

__all__ = ["MISTAKES", "WHOLE", "combined", "whole"]

MISTAKES = entries("""
P3 offset by one
    Every token is rotated by one position too many; count from 0.
D2 positions in half precision
    Positions are rounded, so neighbours coincide; build them as integers or float32.
offset
    A constant is added to every position; rotate by the position itself.
negative positions clamped
    Positions below zero are rotated as 0; keep their sign.
positions in 8 bits
    Positions wrap at 8 bits; hold them in 32 or 64.
positions in 24 bits
    Positions wrap at 24 bits; hold them in 32 or 64.
positions in 32 bits
    Positions wrap at 32 bits; keep 64.
positions in 16 bits
    Positions wrap at 16 bits; hold them in 32 or 64.
angle depends on other tokens
    A position is rotated otherwise in a row than next to its neighbour; rotate each token by its
    own position.
one position for all calls
    One position is used in every call; use the positions given.
position of another source
    The position does not come from the positions given; use them.
taken for a run
    What the ends of a row, or the first row and the last, say of positions is taken to hold in
    between; look at all of them.
high bits lost
    Positions keep as many bits as another position has; count the bits of the largest of all.
positions halved
    Positions are divided by two; use them as they are.
""")


def combined(terms: tuple[tuple[str, float], ...], constant: float) -> Choice:
    """Return the place that is a sum of sources, each times a factor, and a constant.

    Parameters
    ----------
    terms : tuple of (str, float)
        Words of `SOURCES` and their factors.
    constant : float
        Added to all.
    """

    def place(given: Given) -> Array:
        total = np.zeros((1, 1, 1, 1)) + constant
        for word, factor in terms:
            total = total + factor * SOURCES[word][2](given)
        return np.asarray(total)

    parts = [
        SOURCES[word][1] if factor == 1 else f"{factor:g} times {SOURCES[word][1]}"
        for word, factor in terms
    ]
    if constant or not parts:
        parts.append(f"{constant:g}")
    what = f"the position is {' plus '.join(parts)}"
    cost = 1.0 + sum(1.0 + (factor not in (1.0, -1.0)) for _, factor in terms[1:])
    cost += (constant != 0) + sum(factor != 1 for _, factor in terms[:1])
    change = {"place": of_each_number(place)}
    return Choice(_key(dict(terms), constant), "place", what, change, cost)


def _key(terms: dict[str, float], constant: float) -> str:
    if not terms:
        return "one position for all calls" if constant else "position 0 for all"
    word, factor = next(iter(terms.items()))
    if len(terms) > 1:
        if terms.get("own") == 1 and terms.get("sign") in (1, -1) and not constant:
            return "P3" if len(terms) == 2 else "offset"
        head = "head" in terms and terms.get("own") == 1
        return "heads rotated differently" if head else "offset"
    if word == "own" and factor == 1:
        return "P3" if abs(constant) == 1 else "offset"
    if word == "own":
        return "K1" if constant else {2.0: "K6", -1.0: "S1"}.get(factor, "K1")
    return (SOURCES[word][0] or "offset") if factor == 1 else "position of another source"


def whole(key: str, what: str, source: Source, cost: float = 1.5) -> Choice:
    """Return the place that a source of its own tells, of each number of a token."""
    change = {"place": of_each_number(source)}
    return Choice(key, "place", f"the position is {what}", change, cost)


_COUNTING: dict[str, Callable[[Array], Array]] = {
    "the last position of its row": lambda p: p[:, -1:],
    "the last position of row 0": lambda p: p[:1, -1:],
    "the last position of the last row": lambda p: p[-1:, -1:],
    "the largest last position of any row": lambda p: p[:, -1:].max(axis=0, keepdims=True),
    "the first position of its row": lambda p: p[:, :1],
    "the first position of row 0": lambda p: p[:1, :1],
    "the largest position of row 0": lambda p: p[:1].max(axis=1, keepdims=True),
    "the number of tokens": lambda p: np.full((1, 1), p.shape[1]),
}
"""What is taken for the largest position when bits are counted."""

WHOLE: tuple[Choice, ...] = (
    *(
        whole(
            f"positions in {bits} bits", f"its own in {sign} {bits} bits", in_bits(f"{kind}{bits}")
        )
        for bits in (8, 16, 24, 32)
        for kind, sign in (("int", "signed"), ("uint", "unsigned"))
    ),
    whole(
        "negative positions clamped",
        "its own, and 0 below zero",
        lambda g: np.maximum(own(g), 0.0),
    ),
    whole("angle depends on other tokens", "summed from steps in 8 bits", steps_in_8_bits, 2.0),
    whole(
        "D2",
        "its own rounded to float16, at most 65504",
        lambda g: np.minimum(rounded(own(g), "float16"), 65504.0),
    ),
    whole("positions halved", "half of its own, rounded down", lambda g: np.floor(own(g) / 2)),
    whole(
        "rotated by the position of another",
        "that at its place, all rows together in increasing order",
        lambda g: spread(np.sort(g.positions, axis=None).reshape(g.positions.shape), g),
    ),
    whole("taken for a run", "counted from the first of a row if the last fits", run_by_its_ends),
    whole(
        "taken for a run",
        "counted from the first of a row if the last fits in all",
        runs_by_all_ends,
    ),
    whole(
        "taken for a run",
        "counted from the smallest of a row if the largest is as far as in a run",
        runs_by_their_range,
    ),
    whole(
        "taken for a run",
        "counted from the smallest of all if the largest of all is as far as in a run",
        lambda g: runs_by_their_range(g, None),
    ),
    whole(
        "taken for a run",
        "counted from the first of all, all rows as one, if the last fits",
        as_one_row(run_by_its_ends),
    ),
    *(
        whole(
            "taken for a run",
            f"counted from the first of a row if the {said} row goes on by one",
            runs_by_one_row(row),
            0.95,
        )
        for said, row in (("first", 0), ("last", -1))
    ),
    whole("taken for a run", "of the first row if the last has the same", rows_by_their_ends),
    whole(
        "taken for a run", "of the first row if all rows begin with the same", rows_by_their_firsts
    ),
    whole(
        "taken for a run",
        "of the first row if all rows begin and end with the same",
        rows_by_both_ends,
    ),
    whole(
        "rotated by the position of another",
        "that at its place, all rows together in increasing order, if none occurs twice",
        sorted_if_all_differ,
        2.0,
    ),
    *(
        whole(
            "rotated by the position of another",
            f"the next that {said} has",
            found_in_a_row(row),
        )
        for said, row in (
            ("row 0", 0),
            ("the last row", -1),
            ("the row with the largest position", None),
        )
    ),
    whole(
        "heads rotated differently",
        "that of the token which the bits above those of the number of heads count",
        token_by_a_shift,
    ),
    *(
        whole(
            "rotated by the position of another",
            f"that of the token whose number, through the batch, is its own in {bits} bits",
            token_in(bits),
        )
        for bits in (8, 15, 16)
    ),
    *(
        whole(
            "rotated by the position of another",
            f"that of the token whose number, through the batch, is its own in {bits} bits with a"
            " sign, from the end below zero",
            token_from_the_end(bits),
        )
        for bits in (8, 16)
    ),
    *(
        whole(
            "rotated by the position of another",
            "that of the distinct position whose number, in increasing order, is its own in 16 bits"
            + " with a sign, from the end below zero" * signed,
            distinct_in(16, signed=signed),
        )
        for signed in (False, True)
    ),
    *(
        whole(
            "taken for a run",
            f"counted from the first of {size} tokens{at} if the last of them fits",
            runs_in_steps(size, aligned=bool(at)),
        )
        for size in (3, 4, 8, 16, 32, 64, 128)
        for at in ("", ", in whole blocks,")
    ),
    *(
        whole(
            "position taken for padding",
            f"its own, and 0 for tokens{where} that have the position of the one {of}",
            without_repeats(in_front=bool(where), of_next=of == "behind them"),
            0.9 if where else 0.95,
        )
        for of, end in (("behind them", " in front of a row"), ("before them", " at its end"))
        for where in (end, "")
    ),
    *(
        whole("high bits lost", f"its own, of which {said} says how many bits count", bits_of(most))
        for said, most in _COUNTING.items()
    ),
    *SPLITS,
    *(
        whole(
            "heads rotated differently",
            f"that of the token of the first of each {size} heads, counted through the batch",
            token_of_the_first(size),
        )
        for size in (2, 4, 8, 16, 32)
    ),
)
"""Places that are no sum of sources."""
