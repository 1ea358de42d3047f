"""Which heads a condition may be about: of the second half, of q or of k."""

from functools import partial

import numpy as np

from ropespec.conformance.diagnosis.feature import Feature, counted, flag, from_the_end, of_q_or_k
from ropespec.conformance.grouped import queries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["HEADS"]


def _beyond_k(g: Given, times: int) -> Array:
    """Whether a head of q and k together is behind so many times the heads of k."""
    heads = g.x.shape[2]
    return np.asarray(g.index(2) >= times * (heads - queries(heads)), np.float64)


HEADS: dict[str, Feature] = {
    "second half of heads": Feature(
        "second half of heads",
        lambda g: (g.index(2) >= (g.x.shape[2] + 1) // 2).astype(np.float64),
        flag("the second half of the heads", "the first half of the heads"),
        "token",
    ),
    "heads of k": Feature(
        "heads of k",
        lambda g: (g.index(2) >= queries(g.x.shape[2])).astype(np.float64),
        flag("the heads of k", "the heads of q"),
        "token",
    ),
    **{
        f"head from {words} on": Feature(
            f"head from {words} on",
            partial(_beyond_k, times=times),
            flag(f"heads from {words} on", f"the first heads, {words}"),
            "token",
        )
        for times, words in ((1, "as many as k has"), (2, "twice as many as k has"))
    },
    "head of q or k": Feature(
        "head of q or k", lambda g: of_q_or_k(g)[0], counted("head", " of q and of k"), "token"
    ),
    "last head of q or k": Feature(
        "last head of q or k",
        lambda g: of_q_or_k(g)[1] - 1 - of_q_or_k(g)[0],
        from_the_end("head", " of q and of k"),
        "token",
    ),
}
"""Heads by their place, of all and of those that q and k have."""
