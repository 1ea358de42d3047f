"""Positions of a row or of the batch, in another order or counted otherwise."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import followed
from ropespec.conformance.mistakes.given import Array, Given

__all__ = [
    "Source",
    "as_one_row",
    "as_the_first_document",
    "evens_first",
    "flat",
    "front_and_back",
    "going_on",
    "growing",
    "of_each_number",
    "of_head",
    "of_rows",
    "own",
    "places",
    "regrouped",
    "reshaped",
    "restarted",
    "restarted_in_runs",
    "row_of_head",
    "rows_first",
    "spread",
    "tiled",
    "tiled_rows",
    "without_gaps",
    "without_gaps_or_repeats",
]

Source = Callable[[Given], Array]


def places(given: Given) -> Array:
    """Return the positions in float64."""
    return given.positions.astype(np.float64)


def spread(values: Array, given: Given) -> Array:
    """Spread numbers of (B, S), (B, 1), (1, S) or () over (B, S, 1, 1)."""
    return np.broadcast_to(values, given.positions.shape)[..., None, None].astype(np.float64)


def own(g: Given) -> Array:
    """Return the position of each token."""
    return spread(places(g), g)


def of_each_number(place: Source) -> Source:
    """Take each number of a token for its position, where pairs follow several."""

    def each(given: Given) -> Array:
        if not given.axes:
            return place(given)
        count = given.numbers.shape[-1]
        made = [place(replace(given, positions=given.numbers[..., n])) for n in range(count)]
        return followed(given, np.concatenate(made, axis=-1))

    return each


def as_one_row(place: Source) -> Source:
    """Take all rows for one."""

    def joined(g: Given) -> Array:
        rows, tokens, *rest = g.x.shape
        x, positions = g.x.reshape(1, rows * tokens, *rest), g.positions.reshape(1, -1)
        return place(replace(g, x=x, positions=positions)).reshape(rows, tokens, 1, 1)

    return joined


def of_rows(pick: Callable[[Array], Array]) -> Source:
    """Return the positions with their rows rearranged or reduced."""

    def source(g: Given) -> Array:
        return spread(pick(places(g)), g) if g.positions.size else own(g)

    return source


def flat(g: Given) -> Array:
    """Count tokens through the whole batch."""
    b, s = g.positions.shape
    return spread(np.arange(b * s).reshape(b, s), g)


def rows_first(g: Given) -> Array:
    """Count tokens through the batch, rows first."""
    b, s = g.positions.shape
    return spread(np.arange(b * s).reshape(s, b).T, g)


def reshaped(g: Given) -> Array:
    """Return positions (B, S) read in the order of (S, B)."""
    p = places(g)
    return spread(p.T.reshape(p.shape), g)


def of_head(g: Given, *, around: bool = False) -> Array:
    """Return the position of the token whose place is the index of the head, or the last one's.

    Heads that are more than tokens begin at the first token again if `around`.
    """
    p, (tokens, heads) = places(g), g.x.shape[1:3]
    heads = (
        np.arange(heads) % max(tokens, 1) if around else np.minimum(np.arange(heads), tokens - 1)
    )
    chosen = p[:, heads] if p.shape[1] else np.zeros((len(p), len(heads)))
    return np.broadcast_to(chosen[:, None, :, None], (*g.x.shape[:3], 1))


def row_of_head(g: Given) -> Array:
    """Return the position at its place in the row whose index is that of the head."""
    p, rows = places(g), np.minimum(np.arange(g.x.shape[2]), max(g.x.shape[0] - 1, 0))
    chosen = p[rows] if len(p) else np.zeros((len(rows), p.shape[1]))
    return np.broadcast_to(chosen.T[None, :, :, None], (*g.x.shape[:3], 1))


def tiled_rows(g: Given) -> Array:
    """Return the position at its place in the row that is its own when rows repeat for each head.

    Rows of batch and heads are one axis, batch first, and positions stand there heads first.
    """
    p, (rows, _, heads) = places(g), g.x.shape[:3]
    if not p.size:
        return np.zeros((*g.x.shape[:3], 1))
    own_row = np.arange(rows * heads).reshape(rows, heads) % rows
    return np.asarray(p[own_row].transpose(0, 2, 1)[..., None])


def regrouped(g: Given, *, heads_first: bool) -> Array:
    """Return the positions of tokens and heads whose axes are exchanged by a reshape."""
    (tokens, heads), p = g.x.shape[1:3], places(g)
    flat_ = np.arange(tokens * heads)
    if heads_first:
        token = (flat_ // max(heads, 1)).reshape(heads, tokens).T
    else:
        token = (flat_ % max(tokens, 1)).reshape(tokens, heads)
    return p[:, token][..., None]


def tiled(g: Given) -> Array:
    """Return the positions of all tokens as a whole, repeated along (batch, tokens, heads)."""
    p = places(g).ravel()
    shape = (*g.x.shape[:3], 1)
    return np.resize(p, shape) if p.size else np.zeros(shape)


def restarted(p: Array) -> Array:
    """Count from zero wherever positions do not go on by one."""
    return _since(_runs(p)).astype(p.dtype)


def run_lengths(p: Array) -> Array:
    """Return how many tokens the run of each has, which go on by one."""
    begins = _runs(p)
    return (_since(begins) + _since(_ends(begins)[:, ::-1])[:, ::-1] + 1).astype(p.dtype)


def restarted_in_runs(p: Array) -> Array:
    """Count from zero in each run of two or more that go on by one; what stands alone is kept."""
    begins = _runs(p)
    return np.where(begins & _ends(begins), p, _since(begins))


def as_the_first_document(p: Array) -> Array:
    """Begin where the row began wherever positions fall back."""
    return p[:, :1] + p - _begun(p, _begins(p, p[:, 1:] < p[:, :-1]))


def going_on(p: Array) -> Array:
    """Count on wherever positions fall back."""
    return _counted(p, _begins(p, p[:, 1:] > p[:, :-1]))


def growing(p: Array) -> Array:
    """Count on by one wherever a position is not above all before it."""
    t = np.arange(p.shape[1])
    return np.asarray(np.maximum.accumulate(p - t, axis=1) + t)


def without_gaps(p: Array) -> Array:
    """Begin at the first position and go on by one wherever positions rise."""
    return _counted(p, _begins(p, p[:, 1:] <= p[:, :-1]))


def without_gaps_or_repeats(p: Array) -> Array:
    """Begin at the first position and go on by one unless positions fall."""
    return _counted(p, _begins(p, p[:, 1:] < p[:, :-1]))


def _begins(p: Array, later: Array) -> Array:
    """Tell which tokens begin something: the first of a row, and some of the later ones."""
    begins = np.ones(p.shape, dtype=bool)
    begins[:, 1:] = later
    return begins


def _runs(p: Array) -> Array:
    """Tell where positions do not go on by one."""
    return _begins(p, p[:, 1:] != p[:, :-1] + 1)


def _ends(begins: Array) -> Array:
    """Tell where what begins so ends."""
    ends = np.ones_like(begins)
    ends[:, :-1] = begins[:, 1:]
    return ends


def _since(begins: Array) -> Array:
    """Count the tokens since something began."""
    t = np.arange(begins.shape[1])
    return np.asarray(t - np.maximum.accumulate(np.where(begins, t, 0), axis=1))


def _begun(p: Array, begins: Array) -> Array:
    """Return the position where something began."""
    return np.take_along_axis(p, np.arange(p.shape[1]) - _since(begins), axis=1)


def _counted(p: Array, begins: Array) -> Array:
    """Count by one from the position where something began."""
    return _begun(p, begins) + _since(begins)


def evens_first(p: Array) -> Array:
    """Put what stands at even places first."""
    return np.concatenate([p[:, 0::2], p[:, 1::2]], axis=1)


def front_and_back(p: Array) -> Array:
    """Take places in turn from the front and the back."""
    n = p.shape[1] // 2
    out = p.copy()
    out[:, 0 : 2 * n : 2], out[:, 1 : 2 * n : 2] = p[:, :n], p[:, ::-1][:, :n]
    return out
