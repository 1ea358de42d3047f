"""The position a token is turned by: its own, and what was taken instead."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.rounding import rounded

__all__ = ["BLOCKS", "LIMITED", "SOURCES", "WHOLE", "blocked", "combined", "limited"]

Source = Callable[[Given], Array]


def _p(given: Given) -> Array:
    return given.positions.astype(np.float64)


def _rows(values: Array, given: Given) -> Array:
    """Spread numbers of (B, S), (B, 1), (1, S) or () over (B, S, 1, 1)."""
    return np.broadcast_to(values, given.positions.shape)[..., None, None].astype(np.float64)


def _own(g: Given) -> Array:
    return _rows(_p(g), g)


def _of_rows(pick: Callable[[Array], Array]) -> Source:
    """Return the positions with their rows rearranged or reduced."""

    def source(g: Given) -> Array:
        return _rows(pick(_p(g)), g) if g.positions.size else _own(g)

    return source


def _flat(g: Given) -> Array:
    b, s = g.positions.shape
    return _rows(np.arange(b * s).reshape(b, s), g)


def _transposed_index(g: Given) -> Array:
    b, s = g.positions.shape
    return _rows(np.arange(b * s).reshape(s, b).T, g)


def _reshaped(g: Given) -> Array:
    """Return positions (B, S) read in the order of (S, B)."""
    p = _p(g)
    return _rows(p.T.reshape(p.shape), g)


def _of_head(g: Given) -> Array:
    """Return the position of the token whose place is the index of the head."""
    p, heads = _p(g), np.minimum(np.arange(g.x.shape[2]), g.x.shape[1] - 1)
    chosen = p[:, heads] if p.shape[1] else np.zeros((len(p), len(heads)))
    return np.broadcast_to(chosen[:, None, :, None], (*g.x.shape[:3], 1))


def _row_of_head(g: Given) -> Array:
    p, rows = _p(g), np.minimum(np.arange(g.x.shape[2]), max(g.x.shape[0] - 1, 0))
    chosen = p[rows] if len(p) else np.zeros((len(rows), p.shape[1]))
    return np.broadcast_to(chosen.T[None, :, :, None], (*g.x.shape[:3], 1))


def _restarted(p: Array) -> Array:
    """Count from zero wherever positions do not go on by one."""
    out = np.zeros_like(p)
    for t in range(1, p.shape[1]):
        goes_on = p[:, t] == p[:, t - 1] + 1
        out[:, t] = np.where(goes_on, out[:, t - 1] + 1, 0)
    return out


def _going_on(p: Array) -> Array:
    """Count on wherever positions fall back."""
    out = p.copy()
    for t in range(1, p.shape[1]):
        falls = p[:, t] <= p[:, t - 1]
        out[:, t] = np.where(falls, out[:, t - 1] + 1, p[:, t])
    return out


def _growing(p: Array) -> Array:
    """Count on by one wherever a position is not above all before it."""
    out = p.copy()
    for t in range(1, p.shape[1]):
        out[:, t] = np.maximum(p[:, t], out[:, t - 1] + 1)
    return out


def _without_gaps(p: Array) -> Array:
    """Begin at the first position and go on by one wherever positions rise."""
    out = p.copy()
    for t in range(1, p.shape[1]):
        out[:, t] = np.where(p[:, t] > p[:, t - 1], out[:, t - 1] + 1, p[:, t])
    return out


def _interleaved_order(p: Array) -> Array:
    return np.concatenate([p[:, 0::2], p[:, 1::2]], axis=1)


def _zigzag_order(p: Array) -> Array:
    n = p.shape[1] // 2
    out = p.copy()
    out[:, 0 : 2 * n : 2], out[:, 1 : 2 * n : 2] = p[:, :n], p[:, ::-1][:, :n]
    return out


SOURCES: dict[str, tuple[str, str, Source]] = {
    # word: (key of the mistake if it stands alone, what it is, where it comes from)
    "own": ("", "its own position", _own),
    "zero": ("position 0 for all", "0", lambda g: 0 * _own(g)),
    "counted": (
        "P1",
        "its place in the sequence, counted from 0",
        lambda g: _rows(np.arange(g.x.shape[1]), g),
    ),
    "from the first": (
        "counted from the first position",
        "the first position of its row plus its place",
        lambda g: _rows(_p(g)[:, :1] + np.arange(g.x.shape[1]), g),
    ),
    "from the last": (
        "counted from the last position",
        "the last position of its row, counted back by its distance from the end",
        lambda g: _rows(_p(g)[:, -1:] + np.arange(g.x.shape[1]) - g.x.shape[1] + 1, g),
    ),
    "from row 0": (
        "B5",
        "the first position of row 0 plus its place",
        lambda g: _rows(_p(g)[:1, :1] + np.arange(g.x.shape[1]), g) if g.x.size else _own(g),
    ),
    "first": ("P4", "the first position of its row", lambda g: _rows(_p(g)[:, :1], g)),
    "last": ("P4", "the last position of its row", lambda g: _rows(_p(g)[:, -1:], g)),
    "row 0": ("B5", "the position at its place in row 0", _of_rows(lambda p: p[:1])),
    "last row": ("B5", "the position at its place in the last row", _of_rows(lambda p: p[-1:])),
    "first of all": ("P4", "the first position of row 0", _of_rows(lambda p: p[:1, :1])),
    "last of all": ("P4", "the last position of the last row", _of_rows(lambda p: p[-1:, -1:])),
    "last of row 0": ("P4", "the last position of row 0", _of_rows(lambda p: p[:1, -1:])),
    "largest": (
        "P6",
        "the largest position at its place in any row",
        _of_rows(lambda p: p.max(0, keepdims=True)),
    ),
    "largest, 0 at least": (
        "P6",
        "the largest position at its place in any row, and 0 at least",
        _of_rows(lambda p: p.max(0, keepdims=True, initial=0)),
    ),
    "smallest": (
        "P6",
        "the smallest position at its place in any row",
        _of_rows(lambda p: p.min(0, keepdims=True)),
    ),
    "mean": (
        "P6",
        "the mean of the positions at its place in all rows",
        _of_rows(lambda p: p.mean(0, keepdims=True)),
    ),
    "largest of its row": (
        "P4",
        "the largest position of its row",
        _of_rows(lambda p: p.max(1, keepdims=True)),
    ),
    "smallest of its row": (
        "P4",
        "the smallest position of its row",
        _of_rows(lambda p: p.min(1, keepdims=True)),
    ),
    "largest of all": (
        "P4",
        "the largest position of the call",
        _of_rows(lambda p: np.full((1, 1), p.max())),
    ),
    "smallest of all": (
        "P4",
        "the smallest position of the call",
        _of_rows(lambda p: np.full((1, 1), p.min())),
    ),
    "token before": (
        "rotated by the position of another",
        "the position of the token before, that of the first for the first",
        _of_rows(lambda p: np.concatenate([p[:, :1], p[:, :-1]], 1)),
    ),
    "token before, round": (
        "rotated by the position of another",
        "the position of the token before, that of the last for the first",
        _of_rows(lambda p: np.roll(p, 1, axis=1)),
    ),
    "token after": (
        "rotated by the position of another",
        "the position of the token after, that of the last for the last",
        _of_rows(lambda p: np.concatenate([p[:, 1:], p[:, -1:]], 1)),
    ),
    "token after, round": (
        "rotated by the position of another",
        "the position of the token after, that of the first for the last",
        _of_rows(lambda p: np.roll(p, -1, axis=1)),
    ),
    "row before": (
        "rotated by the position of another",
        "the position at its place in the row before",
        _of_rows(lambda p: np.concatenate([p[:1], p[:-1]])),
    ),
    "row before, round": (
        "rotated by the position of another",
        "the position at its place in the row before, of the last row for the first",
        _of_rows(lambda p: np.roll(p, 1, axis=0)),
    ),
    "row after": (
        "rotated by the position of another",
        "the position at its place in the row after",
        _of_rows(lambda p: np.concatenate([p[1:], p[-1:]])),
    ),
    "row after, round": (
        "rotated by the position of another",
        "the position at its place in the row after, of row 0 for the last",
        _of_rows(lambda p: np.roll(p, -1, axis=0)),
    ),
    "rows reversed": (
        "rotated by the position of another",
        "the position at its place, the rows counted from the last",
        _of_rows(lambda p: p[::-1]),
    ),
    "reversed": (
        "rotated by the position of another",
        "the positions of its row from the last to the first",
        _of_rows(lambda p: p[:, ::-1]),
    ),
    "sorted": (
        "rotated by the position of another",
        "the positions of its row in increasing order",
        _of_rows(lambda p: np.sort(p, axis=1)),
    ),
    "evens first": (
        "positions not reordered",
        "the positions of its row, those at even places first",
        _of_rows(_interleaved_order),
    ),
    "zigzag": (
        "positions not reordered",
        "the positions of its row in turn from the front and the back",
        _of_rows(_zigzag_order),
    ),
    "reshaped": (
        "rotated by the position of another",
        "positions of (sequence, batch) read as (batch, sequence)",
        _reshaped,
    ),
    "head": ("X1", "the index of its head", lambda g: g.index(2)),
    "by head": ("X1", "the position of the token whose place is the index of the head", _of_head),
    "row by head": ("X1", "the position at its place in the row of the head", _row_of_head),
    "row": ("X1", "the index of its row", lambda g: g.index(0)),
    "flat": ("X1", "its place counted through the whole batch", _flat),
    "flat, rows first": (
        "X1",
        "its place counted through the batch, rows first",
        _transposed_index,
    ),
    "restarted": (
        "positions restart",
        "counted from 0 wherever positions do not go on by one",
        _of_rows(_restarted),
    ),
    "going on": (
        "B2",
        "counted on wherever positions fall back",
        _of_rows(_going_on),
    ),
    "growing": (
        "B2",
        "counted on by one wherever a position is not above those before",
        _of_rows(_growing),
    ),
    "without gaps": (
        "gaps closed",
        "counted on by one wherever positions rise",
        _of_rows(_without_gaps),
    ),
    "distance from the end": (
        "counted from the end",
        "its distance from the end of the sequence",
        lambda g: _rows(g.x.shape[1] - 1 - np.arange(g.x.shape[1]), g),
    ),
    "length": ("", "the length of the sequence", lambda g: _rows(np.array(g.x.shape[1]), g)),
    "rows": ("", "the number of rows", lambda g: _rows(np.array(g.x.shape[0]), g)),
    "heads": ("", "the number of heads", lambda g: _rows(np.array(g.x.shape[2]), g)),
    "size": (
        "sign of positions lost",
        "the absolute value of its position",
        lambda g: np.abs(_own(g)),
    ),
    "rank": (
        "positions replaced by their rank",
        "the rank of its position in its row",
        _of_rows(lambda p: np.argsort(np.argsort(p, 1), 1).astype(np.float64)),
    ),
}
"""Where the position of a token may come from, by a word for each."""


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
    return Choice(_key(dict(terms), constant), "place", what, {"place": place}, cost)


def _key(terms: dict[str, float], constant: float) -> str:
    if not terms:
        return "one position for all calls" if constant else "position 0 for all"
    word, factor = next(iter(terms.items()))
    if len(terms) > 1:
        head = "head" in terms and terms.get("own") == 1
        return "heads rotated differently" if head else "offset"
    if word == "own" and factor == 1:
        return "P3" if abs(constant) == 1 else "offset"
    if word == "own":
        return "K1" if constant else {2.0: "K6", -1.0: "S1"}.get(factor, "K1")
    return (SOURCES[word][0] or "offset") if factor == 1 else "position of another source"


def _cast(dtype: str) -> Source:
    def source(g: Given) -> Array:
        bits = int(dtype.lstrip("uint"))
        wrapped = np.mod(g.positions, 2**bits)
        if dtype.startswith("i"):
            wrapped = np.where(wrapped >= 2 ** (bits - 1), wrapped - 2**bits, wrapped)
        return _rows(wrapped, g)

    return source


def _steps_in_8_bits(g: Given) -> Array:
    p = g.positions
    steps = np.diff(p, axis=1).astype(np.int8).astype(np.int64)
    return _rows(np.concatenate([p[:, :1], p[:, :1] + np.cumsum(steps, axis=1)], 1), g)


def _whole(key: str, what: str, source: Source, cost: float = 1.5) -> Choice:
    return Choice(key, "place", f"the position is {what}", {"place": source}, cost)


WHOLE: tuple[Choice, ...] = (
    *(
        _whole(
            f"positions in {bits} bits", f"its own in {sign} {bits} bits", _cast(f"{kind}{bits}")
        )
        for bits in (8, 16, 24, 32)
        for kind, sign in (("int", "signed"), ("uint", "unsigned"))
    ),
    _whole(
        "negative positions clamped",
        "its own, and 0 below zero",
        lambda g: np.maximum(_own(g), 0.0),
    ),
    _whole("angle depends on other tokens", "summed from steps in 8 bits", _steps_in_8_bits, 2.0),
    _whole(
        "D2",
        "its own rounded to float16, at most 65504",
        lambda g: np.minimum(rounded(_own(g), "float16"), 65504.0),
    ),
    _whole("positions halved", "half of its own, rounded down", lambda g: np.floor(_own(g) / 2)),
)
"""Places that are no sum of sources."""

LIMITED: tuple[str, ...] = ("clamped", "wrapped", "wrapped with its sign", "restarted at")


def limited(kind: str, limit: int) -> Choice:
    """Return the place that ends at a limit, the length of a table.

    Parameters
    ----------
    kind : str
        One of `LIMITED`.
    limit : int
        The first position that is not its own.
    """

    def place(given: Given) -> Array:
        p = _own(given)
        match kind:
            case "clamped":
                return np.clip(p, -(limit - 1), limit - 1)
            case "wrapped":
                return np.mod(p, limit)
            case "wrapped with its sign":
                return np.asarray(np.fmod(p, limit))
        return np.where(np.abs(p) >= limit, p - np.sign(p) * limit, p)

    words = {
        "clamped": f"at most {limit - 1}",
        "wrapped": f"its own modulo {limit}",
        "wrapped with its sign": f"the remainder of its own by {limit}",
        "restarted at": f"its own, less {limit} from {limit} on",
    }
    return Choice("C5", "place", f"the position is {words[kind]}", {"place": place}, 2.0)


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
        lambda g, n: _rows(np.arange(g.x.shape[1]) % n, g),
    ),
    "block": (
        "positions of blocks",
        "the index of its block of {}",
        lambda g, n: _rows(np.arange(g.x.shape[1]) // n, g),
    ),
    "first of the block and on": (
        "counted from the first position",
        "the position of the first token of its block of {} plus its place there",
        lambda g, n: (
            _taken(g, np.arange(g.x.shape[1]) // n * n) + _rows(np.arange(g.x.shape[1]) % n, g)
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
        lambda g, n: _rows(np.arange(g.x.shape[1]) % max(-(-g.x.shape[1] // n), 1), g),
    ),
    "split first": (
        "B3",
        "the position at its place within its part, in the first of {} parts",
        lambda g, n: _taken(g, _part(g, n)[1]),
    ),
    "split local": (
        "local positions",
        "its place within its part, of {} parts",
        lambda g, n: _rows(_part(g, n)[1], g),
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
        lambda g, n: np.floor(_own(g) / n) * n,
    ),
    "divided": (
        "positions in steps",
        "its own divided by {} and rounded down",
        lambda g, n: np.floor(_own(g) / n),
    ),
    "rounded": (
        "positions in steps",
        "its own rounded to a multiple of {}",
        lambda g, n: np.round(_own(g) / n) * n,
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
    p = _p(given)
    return _rows(np.where(begin > 0, p - p[:, begin], p), given)


def _striped(given: Given, count: int) -> Array:
    return np.argsort(np.arange(given.x.shape[1]) % count, kind="stable")


def _zigzag(given: Given, count: int) -> Array:
    chunks = np.array_split(np.arange(given.x.shape[1]), 2 * count)
    dealt = [part for k in range(count) for part in (chunks[k], chunks[2 * count - 1 - k])]
    return np.concatenate(dealt)


def _taken(given: Given, places: Array) -> Array:
    """Return the positions at other places of the row, cut to it."""
    last = max(given.x.shape[1] - 1, 0)
    return _rows(_p(given)[:, np.clip(places, 0, last)], given)


def blocked(word: str, size: int) -> Choice:
    """Return a place of `BLOCKS` for a size of the block."""
    key, what, source = BLOCKS[word]
    said = f"the position is {what.format(size)}"
    return Choice(key, "place", said, {"place": lambda g: source(g, size)}, 2.0)
