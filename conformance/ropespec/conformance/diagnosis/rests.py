"""What is left over where pairs, tokens, heads or places go in whole packs."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ropespec.conformance.diagnosis.feature import Feature, flag, of_q_or_k, pair_of
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["RESTS"]


def _rest(
    g: Given, pack: int, index: Callable[[Given], Array], count: Callable[[Given], int | Array]
) -> Array:
    return (index(g) >= count(g) // pack * pack).astype(np.float64)


def _along(axis: int) -> tuple[Callable[[Given], Array], Callable[[Given], int]]:
    return (lambda g: g.index(axis)), (lambda g: g.x.shape[axis])


def _place(g: Given) -> Array:
    return np.asarray(g.index(0) * g.x.shape[1] + g.index(1))


def _many(word: str) -> str:
    thing, *rest = word.split(" ", 1)
    return " ".join([f"{thing}s", *rest])


_COUNTED = {
    "pair": ((4, 8, 16, 32), "component", pair_of, lambda g: g.turning // 2),
    "head": ((2, 4, 8, 16, 32), "token", *_along(2)),
    "head of q or k": (
        (2, 4, 8, 16),
        "token",
        lambda g: of_q_or_k(g)[0],
        lambda g: of_q_or_k(g)[1],
    ),
    "row": ((2, 4, 8, 16), "token", *_along(0)),
    "token": (tuple(2**k for k in range(1, 13)), "token", *_along(1)),
    "place": (
        tuple(2**k for k in range(2, 13)),
        "token",
        _place,
        lambda g: g.x.shape[0] * g.x.shape[1],
    ),
}

RESTS: dict[str, Feature] = {
    f"rest of {pack} {_many(word)}": Feature(
        f"rest of {pack} {_many(word)}",
        partial(_rest, pack=pack, index=index, count=count),
        flag(
            f"{_many(word)} after the last whole block of {pack}",
            f"{_many(word)} in whole blocks of {pack}",
        ),
        scope,
    )
    for word, (packs, scope, index, count) in _COUNTED.items()
    for pack in reversed(packs)  # the largest that holds: a smaller one only may have been missed
}
"""Whether something is left over from whole packs, by what it is and the size of a pack."""
