# ruff: noqa: ARG005  # a key may ask for nothing
"""What caches are kept by, some of what a call depends on, and which call left what is kept."""

import itertools
from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.given import Array, Given

__all__ = [
    "KEYS",
    "KEYS_OF_NUMBERS",
    "LIMITS",
    "Key",
    "Source",
    "first",
    "like",
    "limited",
    "narrowest",
    "previous",
    "run",
]

Key = Callable[[Given], object]
Source = Callable[[Given], Given]
"""Of a call, the one that left what serves it: itself, if nothing did."""


def like(read: Callable[[Array], Array]) -> Key:
    """Return a key of what positions have alike, beside the shape of all."""

    def key(g: Given) -> object:
        p = g.positions
        return (p.shape, g.x.shape[-1], read(p).tobytes() if p.size else b"")

    return key


_OF_ALL: dict[str, Callable[[Array], Array]] = {
    "first": lambda p: p[0, :1],
    "last": lambda p: p[-1, -1:],
    "smallest": lambda p: p.min(keepdims=True),
    "largest": lambda p: p.max(keepdims=True),
}
"""One position that stands for all of a call."""

KEYS: tuple[tuple[str, Key], ...] = (
    ("call", lambda g: 0),
    ("call of this length", lambda g: g.x.shape[1]),
    ("call of these rows and tokens", lambda g: g.x.shape[:2]),
    ("call of this shape", lambda g: g.x.shape),
    ("call of this length and head_dim", lambda g: (g.x.shape[1], g.x.shape[-1])),
    ("call of these rows, tokens and head_dim", lambda g: (g.x.shape[:2], g.x.shape[-1])),
    ("call of this head_dim", lambda g: g.x.shape[-1]),
    ("call of this number of rows", lambda g: g.x.shape[0]),
    ("call of this dtype", lambda g: g.dtype),
    ("call of this shape and dtype", lambda g: (g.x.shape, g.dtype)),
    ("call with this largest position", lambda g: (g.x.shape[1], int(g.positions.max(initial=0)))),
    *(
        (
            f"call whose largest position has as many bits{said}",
            lambda g, least=least: int(g.positions.max(initial=2**least - 1)).bit_length(),
        )
        for least, said in ((0, ""), (4, ", 4 at least"))
    ),
    ("call with these ends", like(lambda p: p.ravel()[[0, -1]])),
    ("call with these first positions", like(lambda p: p[:, 0])),
    ("call with these last positions", like(lambda p: p[:, -1])),
    ("call with these ends of each row", like(lambda p: p[:, [0, -1]])),
    ("call with this sum of positions", like(lambda p: p.sum(keepdims=True))),
    ("call with this largest and smallest position", like(lambda p: np.array([p.min(), p.max()]))),
    *((f"call with this {which} position of all", like(read)) for which, read in _OF_ALL.items()),
    ("call with these positions in the first row", like(lambda p: p[0])),
    ("call with these positions in any order", like(lambda p: np.sort(p, axis=None))),
    ("call of this shape of positions and parity", lambda g: (len(g.past) % 2, g.positions.shape)),
)
"""What may be kept by, in words."""


def _by_number(axis: int) -> Key:
    """Return a key of one of several numbers of the tokens, beside the shape of all."""

    def key(g: Given) -> object:
        n = g.numbers[..., min(axis, max(g.axes))] if g.axes else g.positions
        return (n.shape, g.x.shape[-1], n.tobytes())

    return key


KEYS_OF_NUMBERS: tuple[tuple[str, Key], ...] = tuple(
    (f"call with this number {axis} of each token", _by_number(axis)) for axis in range(3)
)
"""What may be kept by where a token has several numbers."""


def first(key: Key) -> Source:
    """Return the first call with this key: all is kept."""

    def source(given: Given) -> Given:
        mine = key(given)
        return next((one for one in given.past if key(one) == mine), given)

    return source


def previous(key: Key) -> Source:
    """Return the last call before with this key."""

    def source(given: Given) -> Given:
        mine = key(given)
        return next((one for one in reversed(given.past) if key(one) == mine), given)

    return source


def narrowest(key: Key) -> Source:
    """Return the call of the fewest digits so far, this one too, with this key."""

    def source(given: Given) -> Given:
        mine = key(given)
        calls = [one for one in (*given.past, given) if key(one) == mine]
        return min(calls, key=lambda one: _DIGITS[one.dtype])

    return source


_DIGITS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}


def run(key: Key) -> Source:
    """Return the call since which each had this key: one entry is kept."""

    def source(given: Given) -> Given:
        mine = key(given)
        same = itertools.takewhile(lambda one: key(one) == mine, reversed(given.past))
        return [given, *same][-1]

    return source


def limited(key: Key, most: int, makes_room: str) -> Source:
    """Return the call that made the entry, where so many are kept.

    Parameters
    ----------
    key : callable
        What entries are kept by.
    most : int
        How many of them.
    makes_room : str
        What goes for one more: one of `LIMITS`.
    """

    def source(given: Given) -> Given:
        kept = dict[object, Given]()
        for one in (*given.past, given):
            mine = key(one)
            if mine in kept:
                if makes_room == LIMITS[2]:
                    kept[mine] = kept.pop(mine)
                continue
            if len(kept) == most:
                for old in list(kept)[: None if makes_room == LIMITS[0] else 1]:
                    del kept[old]
            kept[mine] = one
        return kept[key(given)]

    return source


LIMITS = ("all of them go", "the oldest goes", "the one not used for longest goes")
"""What goes where there is no room for one more entry."""
