"""Heads that stand where others belong, read off for each number of heads."""

from collections.abc import Iterator, Sequence

import numpy as np

from ropespec.conformance.diagnosis.seen import Seen, agree
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["fitted_heads"]


def fitted_heads(wrong: Sequence[Seen]) -> Iterator[Choice]:
    """Return which head stands in place of each, if that is all, for the numbers of heads seen.

    Parameters
    ----------
    wrong : sequence of Seen
        Calls with wrong components.
    """
    order = dict[int, list[int]]()
    for seen in wrong:
        heads = seen.given.x.shape[2]
        if heads in order or not 1 < heads <= _MOST:
            continue
        found = _order(seen)
        if not found:
            return
        order[heads] = found
    if order:
        yield _moved(order)


_MOST = 64


def _order(seen: Seen) -> list[int]:
    """Return the head whose result stands at each place; nothing where one has none."""
    found = list[int]()
    for head in range(seen.given.x.shape[2]):
        if not seen.wrong[:, :, head].any():
            found.append(head)
            continue
        same = agree(seen.y[:, :, head : head + 1], seen.made).all(axis=(0, 1, 3))
        there = np.flatnonzero(same)
        if len(there) != 1:
            return []
        found.append(int(there[0]))
    return found


def _moved(order: dict[int, list[int]]) -> Choice:
    def store(given: Given, y: Array) -> Array:
        at = order.get(given.x.shape[2])
        return np.full_like(y, np.nan) if at is None else y[:, :, at]

    heads, at = max(order.items())
    words = [f"head {h} is head {k}" for h, k in enumerate(at) if h != k]
    what = f"of {heads} heads, {', '.join(words[:4])}{', ...' if len(words) > 4 else ''}"
    return Choice("heads mixed up", "store", what, {"store": store}, 2.5, free=True)
