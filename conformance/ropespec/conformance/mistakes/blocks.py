"""Positions of tokens that go by blocks: chunks, shards, strides, steps."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.chain import ladder
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.orders import as_one_row, own, places, spread

__all__ = ["BLOCKS", "LATE_BLOCKS", "MISTAKES", "blocked", "by_blocks"]

MISTAKES = entries("""
B3 positions of the first part for all
    A sequence is cut in parts and each is rotated by the positions of the first; add the offset
    of the part to the index.
local positions
    A sequence is cut in parts and tokens are counted in each; a token keeps the position it has
    in the whole.
last block moved back
    The last block is moved back so that it is whole, and overlaps the one before; cut it short, or
    write each token once and from its own place.
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
    "first block and on": (
        "counted from the first position",
        "the position at its place within the first block of {}, plus where its own block begins",
        lambda g, n: (
            _taken(g, np.arange(g.x.shape[1]) % n) + spread(np.arange(g.x.shape[1]) // n * n, g)
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
    "twice where it overlaps": (
        "last block moved back",
        "twice its own where the last block of {}, moved back to end with the row, overlaps",
        lambda g, n: own(g) * spread(1 + _overlap(g.x.shape[1], n), g),
    ),
    "last of the row": (
        "last block moved back",
        "its own, but in the last block of {}, if that is not whole, as among the last of the row",
        lambda g, n: _taken(g, _among_the_last(g, n)),
    ),
    "last of x alone": (
        "last block moved back",
        "its own, but of the last {} tokens that of one as far on as the last block is moved back",
        lambda g, n: _taken(g, _ahead(g, n)),
    ),
    "last of x alone, padded": (
        "last block moved back",
        "its own, but of the last {} tokens that of as many further on as the block lacks, then 0",
        lambda g, n: _padded(g, _ahead(g, n)),
    ),
    "last by its own size": (
        "rotated by the position of another",
        "its own, but in the last block of {}, which begins at its number times its own size",
        lambda g, n: _taken(g, _short_last(g, n)),
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


def _overlap(count: int, size: int) -> Array:
    """Return what is in two blocks of so many where the last is moved back to be whole."""
    index = np.arange(count)
    moved = count > size and count % size > 0
    return np.asarray(moved & (index >= count - size) & (index < count // size * size))


def _among_the_last(given: Given, size: int) -> Array:
    """Return whose position each token has where those of the last block end with the row."""
    index, count = np.arange(given.x.shape[1]), given.x.shape[1]
    rest = (count > size) & (index >= count // size * size)
    return np.where(rest, count - size + index % size, index)


def _ahead(given: Given, size: int) -> Array:
    """Return whose position each token has where x of the last block is moved back alone."""
    index, count = np.arange(given.x.shape[1]), given.x.shape[1]
    late = (count > size) & (count % size > 0) & (index >= count - size)
    return np.where(late, index + size - count % size, index)


def _short_last(given: Given, size: int) -> Array:
    """Return whose position each token has where the last block begins by its own size."""
    index = np.arange(given.x.shape[1])
    whole, over = divmod(given.x.shape[1], size)
    return np.where(index < whole * size, index, whole * over + index - whole * size)


def _moved_back(given: Given, size: int) -> Array:
    """Return the token whose result stands at each place, where the last block begins earlier."""
    index = np.arange(given.x.shape[1])
    return np.minimum(index // size * size, max(given.x.shape[1] - size, 0)) + index % size


def _part(given: Given, count: int) -> tuple[Array, Array]:
    """Return the first token of each token's part and its place there, parts as even as can be."""
    tokens = given.x.shape[1]
    short, longer = divmod(tokens, count)
    lengths = np.full(count, short) + (np.arange(count) < longer)
    begin = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return begin, np.arange(tokens) - begin


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
    begin, _ = _part(given, 2 * count)
    chunk = np.searchsorted(np.unique(begin), begin)
    return np.argsort(np.where(chunk < count, 2 * chunk, 4 * count - 1 - 2 * chunk), kind="stable")


def _taken(given: Given, chosen: Array) -> Array:
    """Return the positions at other places of the row, cut to it."""
    last = max(given.x.shape[1] - 1, 0)
    return spread(places(given)[:, np.clip(chosen, 0, last)], given)


def _padded(given: Given, chosen: Array) -> Array:
    """Return the positions at other places of the row, and 0 behind it."""
    return np.asarray(_taken(given, chosen) * (chosen < given.x.shape[1])[:, None, None])


def _late_blocks(size: int) -> Choice:
    """Return results that stand where the last block would be if it were not moved back."""
    what = f"the last block of {size} tokens is moved back to be whole, and written where it was"
    return Choice(
        "last block moved back",
        "store",
        what,
        {"store": lambda g, y: y[:, np.minimum(_moved_back(g, size), g.x.shape[1] - 1)]},
        2.0,
    )


def blocked(word: str, size: int, *, through: bool = False) -> Choice:
    """Return a place of `BLOCKS` for a size of the block, of a row or through the batch."""
    key, what, _ = BLOCKS[word]
    said = f"the position is {what.format(size)}{', all rows as one' * through}"
    source = by_blocks(word, through=through)
    return Choice(key, "place", said, {"place": lambda g: source(g, size)}, 2.0)


def by_blocks(word: str, *, through: bool) -> Callable[[Given, int], Array]:
    """Return the source of a word of `BLOCKS`, which may take all rows for one."""
    _, _, source = BLOCKS[word]
    return (lambda g, n: as_one_row(lambda one: source(one, n))(g)) if through else source


def _twice(size: int) -> Choice:
    """Return frequencies that are doubled where the last block of pairs, moved back, overlaps."""

    def frequency(g: Given) -> Array:
        theta = ladder(g)
        return np.where(_overlap(theta.shape[-1], size), 2 * theta, theta)

    what = f"pairs turn twice where the last block of {size}, moved back to be whole, overlaps"
    return Choice("last block moved back", "frequency", what, {"frequency": frequency}, 2.0)


LATE_BLOCKS: tuple[Choice, ...] = (
    *(_late_blocks(2**k) for k in range(1, 13)),
    *(_twice(2**k) for k in range(1, 8)),
)
"""Blocks of any usual size, of tokens and of pairs."""
