"""Positions where queries and keys are two arrays, each with heads of its own to be mistaken."""

from dataclasses import replace

import numpy as np

from ropespec.conformance.grouped import queries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.orders import Source, of_head, regrouped

__all__ = ["OF_SIDES"]


def _each(source: Source) -> Source:
    """Take the queries and the keys of a call for a call each."""

    def place(g: Given) -> Array:
        heads = g.x.shape[2]
        if heads < _BOTH:
            return source(g)
        parts = np.split(g.x, [queries(heads)], axis=2)
        made = (source(replace(g, x=part)) for part in parts)
        shaped = zip(made, parts, strict=True)
        spread = [np.broadcast_to(one, (*part.shape[:3], 1)) for one, part in shaped]
        return np.concatenate(spread, axis=2)

    return place


def _by_queries(g: Given) -> Array:
    """Find the token of a key by the number of heads of q."""
    b, tokens, heads, _ = g.shape
    of_q = queries(heads)
    of_k = heads - of_q
    p = np.broadcast_to(g.positions[..., None, None], (b, tokens, heads, 1)).astype(np.float64)
    if not (g.positions.size and of_k):
        return p
    token = np.arange(b * tokens * of_k) // of_q
    made = g.positions.ravel()[np.minimum(token, b * tokens - 1)]
    return np.concatenate([p[:, :, :of_q], made.reshape(b, tokens, of_k, 1)], axis=2)


_BOTH = 2
"""Heads that a call has at least, where some are of k."""

_READ = "that of the token where it stands when ({}) of q, and of k, is read as ({})"

OF_SIDES: dict[str, tuple[str, str, Source]] = {
    "heads first, of each side": (
        "heads read as tokens",
        _READ.format("heads, tokens", "tokens, heads"),
        _each(lambda g: regrouped(g, heads_first=True)),
    ),
    "tokens first, of each side": (
        "heads read as tokens",
        _READ.format("tokens, heads", "heads, tokens"),
        _each(lambda g: regrouped(g, heads_first=False)),
    ),
    "head, of each side": (
        "X1",
        "the index of its head in q, or in k",
        _each(lambda g: g.index(2)),
    ),
    "by head, of each side": (
        "X1",
        "the position of the token whose place is the index of the head in q, or in k",
        _each(of_head),
    ),
    "by head around, of each side": (
        "X1",
        "that of the token whose place is the index of the head in q, or in k, beginning again",
        _each(lambda g: of_head(g, around=True)),
    ),
    "by the heads of q": (
        "rotated by the position of another",
        "that of the token of a key which is found, through the batch, by the number of heads of q",
        _by_queries,
    ),
}
"""Positions that depend on which heads are of q: as `SOURCES` has them."""
