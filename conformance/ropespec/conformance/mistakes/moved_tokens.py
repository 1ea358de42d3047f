"""Tokens that come back in another order than they came in."""

import numpy as np

from ropespec.conformance.mistakes.chain import Store
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["MISTAKES", "MOVED"]

MISTAKES = entries("""
order not undone
    Tokens are sorted by their positions and do not come back where they were; gather by the
    inverse of the order.
tokens reversed
    Tokens come back in reverse; keep their order.
""")


def _sorted(times: int) -> Store:
    """Return results put in the order of their positions, so many times."""

    def store(g: Given, y: Array) -> Array:
        order = np.argsort(g.positions, axis=1, kind="stable")
        for _ in range(times):
            y = np.take_along_axis(y, order[..., None, None], axis=1)
        return y

    return store


def _sorted_through_the_batch(g: Given, y: Array) -> Array:
    """Return results put twice in the order of all positions."""
    order = np.argsort(g.positions, axis=None, kind="stable")
    return y.reshape(-1, *y.shape[2:])[order[order]].reshape(y.shape)


def _reversed(given: Given, y: Array) -> Array:
    del given
    return y[:, ::-1]


MOVED: tuple[Choice, ...] = (
    *(
        Choice("order not undone", "store", what, {"store": _sorted(times)}, 1.4)
        for times, what in (
            (1, "tokens come back in the order of their positions"),
            (2, "tokens are put in the order of their positions, and again by the same indices"),
        )
    ),
    Choice(
        "order not undone",
        "store",
        "tokens of all rows are put in the order of positions, and again by the same indices",
        {"store": _sorted_through_the_batch},
        1.5,
    ),
    Choice(
        "tokens reversed",
        "store",
        "the tokens come back in reverse order",
        {"store": _reversed},
    ),
)
"""Results of other tokens."""
