"""Tokens and rows that come back in another order than they came in."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.chain import Store
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["MISTAKES", "MOVED"]

MISTAKES = entries("""
order not undone
    Tokens or rows are sorted by their positions and do not come back where they were; gather by
    the inverse of the order.
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


def _rows_sorted(key: Callable[[Array], Array], times: int) -> Store:
    """Return rows put in the order of what their positions come to, so many times."""

    def store(g: Given, y: Array) -> Array:
        if not g.positions.size:
            return y
        order = np.argsort(key(g.positions), kind="stable")
        for _ in range(times):
            y = y[order]
        return y

    return store


_KEYS: dict[str, Callable[[Array], Array]] = {
    "first positions": lambda p: p[:, 0],
    "first positions, the largest first": lambda p: -p[:, 0],
    "last positions": lambda p: p[:, -1],
    "last positions, the largest first": lambda p: -p[:, -1],
    "largest positions": lambda p: p.max(axis=1),
    "largest positions, the largest first": lambda p: -p.max(axis=1),
}
"""By what rows are sorted."""


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
    *(
        Choice(
            "order not undone",
            "store",
            f"rows {'are put' if times == 2 else 'come back'} in the order of their {of}"
            + ", and again by the same indices" * (times == 2),
            {"store": _rows_sorted(key, times)},
            1.5,
        )
        for times in (1, 2)
        for of, key in _KEYS.items()
    ),
    Choice(
        "tokens reversed",
        "store",
        "the tokens come back in reverse order",
        {"store": _reversed},
    ),
)
"""Results of other tokens."""
