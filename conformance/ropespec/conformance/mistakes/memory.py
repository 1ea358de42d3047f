# ruff: noqa: ARG005  # what is shifted by may ask for nothing
"""What is kept of earlier calls, and what it does to this one."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import Pairs, claimed_pairs, ladder, own_position
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.dynamic import at_length
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.filled_tables import FILLED_TABLES
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.kept_dtypes import KEPT_DTYPES
from ropespec.conformance.mistakes.kept_positions import KEPT_POSITIONS
from ropespec.conformance.mistakes.kept_tables import KEPT_TABLES, asked_for
from ropespec.conformance.mistakes.keys import KEYS, Key, Source, first, like, previous
from ropespec.conformance.mistakes.numbered_tables import KEPT_FOR_ONE_NUMBER
from ropespec.conformance.mistakes.short_tables import KEPT_TOO_SHORT

__all__ = ["MEMORIES", "MISTAKES"]

MISTAKES = entries("""
P2 offset counted twice
    The offset is advanced by the length of the prompt again; advance it by the new tokens only.
P9 rotated again from the cache
    What has been rotated is kept and rotated again; keep keys as they were before, or rotate them
    once.
K2 frequencies kept after a long call
    A long sequence changes the frequencies of later short ones; reset them.
base of another call
    The frequencies of another base are used; put the base into the key of the cache.
scheme of another call
    Frequencies, or a gain, are kept by less than the scheme says; put all its numbers into the key.
scheme lost to growth
    What is made anew for a longer call leaves out the scheme, and stays; make it by the same
    formula as before.
tail of another call
    What passes by is copied into memory that is kept when that is made, and not again; copy it in
    each call.
pairs of another call
    What was made, or compiled, for one layout serves the other; put `interleaved` into the key.
frequencies of the first width
    The frequencies made for the first head_dim serve every other; keep them by width.
right only after other calls
    What a first call is made of is wrong until a later one makes it anew; make it of all that a
    call depends on.
changed by earlier calls
    What is kept of earlier calls is no longer right for this one; key it by all that it depends on,
    or do not keep it.
moved by earlier calls
    After other calls tokens are rotated by other positions than theirs, and on a fresh instance by
    their own; keep nothing that depends on where earlier calls were.
multiplied again
    What is kept for the next call of this kind is multiplied where it lies; multiply a copy.
not repeatable
    The same call gives another result the second time; look for state, random numbers or a race.
""")


def _shifted(by: Callable[[Given], float]) -> Callable[[Given], Array]:
    return lambda g: own_position(g) + by(g)


def _counted(start: Callable[[Given], float]) -> Callable[[Given], Array]:
    """Count tokens from a number that earlier calls have left."""

    def place(g: Given) -> Array:
        run = start(g) + np.arange(g.x.shape[1], dtype=np.float64)
        return np.broadcast_to(run, g.positions.shape)[..., None, None]

    return place


def _tokens_before(g: Given) -> float:
    return float(sum(one.x.shape[1] for one in g.past))


def _last_length(g: Given) -> float:
    return float(g.past[-1].x.shape[1]) if g.past else 0.0


def _last_prompt(g: Given) -> float:
    """Return the length of the last sequence of more than one token, less one."""
    lengths = [one.x.shape[1] for one in g.past if one.x.shape[1] != 1]
    return float(lengths[-1] - 1) if lengths else 0.0


def _same_before(g: Given) -> float:
    """Return how often in a row this very call was made before."""
    count = 0
    for one in reversed(g.past):
        same = one.x.shape == g.x.shape and one.x.tobytes() == g.x.tobytes()
        if not (same and np.array_equal(one.positions, g.positions)):
            break
        count += 1
    return float(count)


def _width_of(g: Given, pick: Callable[[list[int]], int]) -> int:
    return pick([one.turning for one in (*g.past, g)])


def _cut(pick: Callable[[list[int]], int]) -> Callable[[Given], Array]:
    """Return the frequencies of another width, cut to this one."""

    def theta(g: Given) -> Array:
        r, n = _width_of(g, pick), g.turning // 2
        made = g.base ** (-np.arange(0, max(r, g.turning), 2) / r)
        return np.asarray(made[:n])

    return theta


def _of_the_first_width(g: Given) -> Array:
    """Return the frequencies of a default base for any width but that of the first call."""
    is_first = not g.past or g.past[0].x.shape[-1] == g.x.shape[-1]
    return ladder(g if is_first else g.scaled(g.scaling, 10000.0))


def _earliest(widths: list[int]) -> int:
    return widths[0]


def _first_wide_enough(widths: list[int]) -> int:
    """Return the width of a table that is made anew only for a wider call."""
    kept = widths[0]
    for width in widths:
        kept = max(kept, width)
    return kept


def _grown(g: Given, limit: int, *, power: bool, by_length: bool) -> float:
    """Return the base after the longest or farthest call so far."""
    sizes = [
        one.x.shape[1] if by_length else int(np.abs(one.positions).max(initial=0)) for one in g.past
    ]
    ratio = max(max(sizes, default=0) / limit, 1.0)
    if not power:
        return g.base * max(float(int(ratio)), 1.0)
    return float(g.base * ratio ** (g.turning / max(g.turning - 2, 1)))


def _base_kept(limit: int, *, power: bool, by_length: bool) -> Choice:
    def theta(g: Given) -> Array:
        base = _grown(g, limit, power=power, by_length=by_length)
        return np.asarray(base ** (-np.arange(0, g.turning, 2) / g.turning))

    what = "length" if by_length else "position"
    how = f"(largest {what} so far/{limit})" + ("^(r/(r-2))" if power else ", rounded down")
    return Choice("K2", "memory", f"the base is multiplied by {how}", {"frequency": theta}, 2.0)


def _length_kept(*, by_length: bool) -> Choice:
    def theta(g: Given) -> Array:
        calls = (*g.past, g)
        if by_length:
            return at_length(g, max(one.x.shape[1] for one in calls))
        return at_length(g, 1 + max(int(one.positions.max(initial=-1)) for one in calls))

    word = "number of tokens" if by_length else "position plus 1"
    what = f"the length of the scheme is the largest {word} so far where that is more"
    return Choice("K2", "memory", what, {"frequency": theta}, 1.5)


def _unscaled(limit: int, *, by_length: bool, by_width: bool) -> Choice:
    """Return frequencies without their scheme from the first call on that reaches a limit."""

    def theta(g: Given) -> Array:
        calls = asked_for(g, by_width=by_width)
        sizes = (one.x.shape[1] if by_length else _rows(one) for one in calls)
        return ladder(g.scaled(None) if max(sizes) > limit else g)

    word = "call of more tokens than" if by_length else "position from"
    of = " of each head_dim" if by_width else ""
    what = f"the frequencies are unscaled since the first {word} {limit}{of}"
    change = {"frequency": theta}
    return Choice("scheme lost to growth", "memory", what, change, 1.5 + 0.01 * by_length)


def _rows(g: Given) -> int:
    return int(np.abs(g.positions).max(initial=-1)) + 1


def _base_of(word: str, key: Key) -> Choice:
    """Return the frequencies by the base of the first call with a key."""
    source = first(key)

    def theta(g: Given) -> Array:
        return ladder(g.scaled(g.scaling, source(g).base))

    what = f"the base is that of the first {word}"
    return Choice("base of another call", "memory", what, {"frequency": theta})


def _paired_by(word: str, key: Key) -> Choice:
    """Return the pairs of the first call with a key and of the same base and rotary_dim."""
    source = first(lambda g: (key(g), g.base, g.turning))

    def pairing(g: Given) -> Pairs:
        kept = source(g).convention.pairing
        return claimed_pairs(replace(g, convention=replace(g.convention, pairing=kept)))

    what = f"the pairs are those of the first {word}"
    return Choice("pairs of another call", "memory", what, {"pairing": pairing}, 1.1)


def _tail_of(word: str, source: Source) -> Choice:
    """Return the tail of the call that left what is kept."""

    def tail(g: Given, x: Array) -> Array:
        y, kept = x.copy(), source(g).x
        if kept.shape == x.shape:
            y[..., g.turning :] = kept[..., g.turning :]
        return y

    return Choice(
        "tail of another call", "memory", f"the tail is that of the {word}", {"tail": tail}
    )


def _place(key: str, what: str, place: Callable[[Given], Array], cost: float = 1.0) -> Choice:
    return Choice(key, "memory", f"the position is {what}", {"place": place}, cost)


MEMORIES: tuple[Choice, ...] = (
    *KEPT_POSITIONS,
    _place("P2", "its own plus the number of calls so far", _shifted(lambda g: len(g.past) + 1.0)),
    _place("P2", "its own plus the number of calls before", _shifted(lambda g: float(len(g.past)))),
    _place("P2", "its own plus the tokens of all calls before", _shifted(_tokens_before)),
    _place("P2", "its own plus the length of the call before", _shifted(_last_length)),
    _place("P2", "its own plus the length of the last sequence, less one", _shifted(_last_prompt)),
    _place("P2", "its place plus the tokens of all calls before", _counted(_tokens_before)),
    _place("P2", "one further than its own", _shifted(lambda g: 1.0), 1.4),
    Choice(
        "P9",
        "memory",
        "what was rotated is rotated again when the same call is made again",
        {"place": lambda g: own_position(g) * (1 + _same_before(g)), "slack": 20.0},
    ),
    Choice(
        "frequencies of the first width",
        "memory",
        "the frequencies are those of the first width",
        {"frequency": _cut(_earliest)},
    ),
    Choice(
        "frequencies of the first width",
        "memory",
        "the frequencies are those of the widest call so far",
        {"frequency": _cut(_first_wide_enough)},
        1.1,
    ),
    Choice(
        "F1",
        "memory",
        "the base is 10000 but for the first head_dim",
        {"frequency": _of_the_first_width},
        1.2,
    ),
    _base_of("call", lambda g: 0),
    _base_of("call of this head_dim", lambda g: g.x.shape[-1]),
    _base_of("call of these rows, tokens and head_dim", lambda g: (g.x.shape[:2], g.x.shape[-1])),
    _base_of("call with these positions", like(lambda p: p)),
    _length_kept(by_length=True),
    _length_kept(by_length=False),
    *(
        _base_kept(limit, power=power, by_length=by_length)
        for limit in (128, 256, 512, 1024, 2048, 4096, 8192)
        for power in (True, False)
        for by_length in (True, False)
    ),
    *(_paired_by(word, key) for word, key in KEYS),
    *(_tail_of(f"first {word}", first(key)) for word, key in KEYS if "shape" in word),
    *(_tail_of(f"last {word} before", previous(key)) for word, key in KEYS if "shape" in word),
    *(
        _unscaled(2**k, by_length=by_length, by_width=by_width)
        for k in range(7, 16)
        for by_length in (False, True)
        for by_width in (False, True)
    ),
    *KEPT_TABLES,
    *KEPT_TOO_SHORT,
    *FILLED_TABLES,
    *KEPT_FOR_ONE_NUMBER,
    *KEPT_DTYPES,
)
"""What earlier calls may leave behind."""
