"""Positions of tokens that go by blocks: chunks, shards, strides, steps."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.orders import own, places, spread

__all__ = ["BLOCKS", "MISTAKES", "blocked"]

MISTAKES = entries("""
B3 positions of the first part for all
    A sequence is cut in parts and each is rotated by the positions of the first; add the offset
    of the part to the index.
local positions
    A sequence is cut in parts and tokens are counted in each; a token keeps the position it has
    in the whole.
positions in steps
    Positions are rounded to steps; use each as it is.
positions of blocks
    Tokens share the index of their block; use the position of each.
""")

BLOCKS: dict[str, tuple[str, str, Callable[[Given, int], Array]]] = {
    "shifted": (
        "rotated by the position of another",
        "the position of the token {} places before",
        lambda g, n: _taken(g, np.arange(g.x.shape[1]) - n),
    ),
    "first block": (
        "B3",
        "the position at its place within its block of {}, in the first block",
        lambda g, n: _taken(g, np.arange(g.x.shape[1]) % n),
    ),
    "begin of the block": (
        "P4",
        "the position of the first token of its block of {}",
        lambda g, n: _taken(g, np.arange(g.x.shape[1]) // n * n),
    ),
    "local": (
        "local positions",
        "its place within its block of {}",
        lambda g, n: spread(np.arange(g.x.shape[1]) % n, g),
    ),
    "block": (
        "positions of blocks",
        "the index of its block of {}",
        lambda g, n: spread(np.arange(g.x.shape[1]) // n, g),
    ),
    "first of the block and on": (
        "counted from the first position",
        "the position of the first token of its block of {} plus its place there",
        lambda g, n: (
            _taken(g, np.arange(g.x.shape[1]) // n * n) + spread(np.arange(g.x.shape[1]) % n, g)
        ),
    ),
    "parts": (
        "B3",
        "the position at its place within its part, in the first of {} equal parts",
        lambda g, n: _taken(g, np.arange(g.x.shape[1]) % max(-(-g.x.shape[1] // n), 1)),
    ),
    "local parts": (
        "local positions",
        "its place within its part, of {} equal parts",
        lambda g, n: spread(np.arange(g.x.shape[1]) % max(-(-g.x.shape[1] // n), 1), g),
    ),
    "split first": (
        "B3",
        "the position at its place within its part, in the first of {} parts",
        lambda g, n: _taken(g, _part(g, n)[1]),
    ),
    "split local": (
        "local positions",
        "its place within its part, of {} parts",
        lambda g, n: spread(_part(g, n)[1], g),
    ),
    "split again": (
        "local positions",
        "its own, less that of the first token of its part but in the first of {} parts",
        lambda g, n: _again(g, _part(g, n)),
    ),
    "parts again": (
        "local positions",
        "its own, less that of the first token of its part but in the first of {} equal parts",
        lambda g, n: _again(g, _even_part(g, n)),
    ),
    "striped": (
        "positions not reordered",
        "that at its place when tokens are dealt out in turn to {} parts",
        lambda g, n: _taken(g, np.argsort(_striped(g, n))),
    ),
    "dealt": (
        "positions not reordered",
        "that of the token at its place when tokens are dealt out in turn to {} parts",
        lambda g, n: _taken(g, _striped(g, n)),
    ),
    "zigzag parts": (
        "positions not reordered",
        "that at its place when each of {} parts has a chunk of the front and one of the back",
        lambda g, n: _taken(g, np.argsort(_zigzag(g, n))),
    ),
    "rounded down": (
        "positions in steps",
        "its own rounded down to a multiple of {}",
        lambda g, n: np.floor(own(g) / n) * n,
    ),
    "divided": (
        "positions in steps",
        "its own divided by {} and rounded down",
        lambda g, n: np.floor(own(g) / n),
    ),
    "rounded": (
        "positions in steps",
        "its own rounded to a multiple of {}",
        lambda g, n: np.round(own(g) / n) * n,
    ),
}
"""Where a position may come from if tokens go by blocks, by a word for each."""


def _part(given: Given, count: int) -> tuple[Array, Array]:
    """Return the first token of each token's part and its place there, parts as even as can be."""
    parts = np.array_split(np.arange(given.x.shape[1]), count)
    begins = [np.full(len(part), part[0]) for part in parts if len(part)]
    begin = np.concatenate(begins) if begins else np.zeros(0, dtype=np.int64)
    return begin, np.arange(len(begin)) - begin


def _even_part(given: Given, count: int) -> tuple[Array, Array]:
    """Return the same where all parts but the last are equal."""
    index = np.arange(given.x.shape[1])
    size = max(-(-given.x.shape[1] // count), 1)
    return index // size * size, index % size


def _again(given: Given, part: tuple[Array, Array]) -> Array:
    begin, _ = part
    p = places(given)
    return spread(np.where(begin > 0, p - p[:, begin], p), given)


def _striped(given: Given, count: int) -> Array:
    return np.argsort(np.arange(given.x.shape[1]) % count, kind="stable")


def _zigzag(given: Given, count: int) -> Array:
    chunks = np.array_split(np.arange(given.x.shape[1]), 2 * count)
    dealt = [part for k in range(count) for part in (chunks[k], chunks[2 * count - 1 - k])]
    return np.concatenate(dealt)


def _taken(given: Given, chosen: Array) -> Array:
    """Return the positions at other places of the row, cut to it."""
    last = max(given.x.shape[1] - 1, 0)
    return spread(places(given)[:, np.clip(chosen, 0, last)], given)


def blocked(word: str, size: int) -> Choice:
    """Return a place of `BLOCKS` for a size of the block."""
    key, what, source = BLOCKS[word]
    said = f"the position is {what.format(size)}"
    return Choice(key, "place", said, {"place": lambda g: source(g, size)}, 2.0)
