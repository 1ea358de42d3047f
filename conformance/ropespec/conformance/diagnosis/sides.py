"""What may be done to queries and to keys so that attention has the weights that came."""

from collections.abc import Callable, Sequence
from itertools import chain, product

import numpy as np

from ropespec.conformance.diagnosis.attended import (
    BLOCKS,
    DIM,
    NOTHING,
    Attended,
    centred,
    own_tops,
)
from ropespec.conformance.diagnosis.candidates import AS_CLAIMED
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array

__all__ = [
    "NEAR",
    "Pairs",
    "fitting",
    "masked",
    "padded_alike",
    "padding",
    "scale_of",
    "scales_of",
    "sums",
]

Pairs = list[tuple[Choice, Choice]]
"""What may be done to the queries, and what to the keys."""


def sums(call: Attended) -> str:
    """Return over what the weights sum to 1."""
    return next(name for name, one in _SUMS.items() if one(call.weights))


def _one(total: Array) -> bool:
    return bool(np.allclose(total[total > NOTHING], 1.0, atol=1e-3))


_SUMS: dict[str, Callable[[Array], bool]] = {
    "over keys": lambda w: _one(w.sum(-1)),
    "over queries": lambda w: _one(w.sum(-2)),
    "over heads": lambda w: _one(w.sum(1)),
    "none": lambda _: True,
}


def masked(call: Attended, pair: tuple[Choice, Choice]) -> Array:
    """Return the scores that a pair of choices makes, minus infinity where a key is masked."""
    queries, keys = call.sides
    scores = np.einsum("bshd,bthd->bhst", queries[pair[0]], keys[pair[1]]) / np.sqrt(DIM)
    return np.where(call.open, scores, -np.inf)


def fitting(call: Attended, pairs: Pairs | None) -> Pairs:
    """Return the pairs of choices that make the logarithms of the weights, the simplest ones.

    Tried are the pairs given; without them the same choice on both sides, then a choice on one
    side, then any two.
    """
    known = any((call.open == kept).all() for _, kept in call.masks.items())
    if not known or not np.isfinite(call.weights).all():
        return []
    queries, keys = call.sides
    right = (AS_CLAIMED, AS_CLAIMED)
    tiers: list[Pairs] = (
        [pairs]
        if pairs is not None
        else [
            [right],
            [(one, one) for one in queries if one in keys],
            [*((one, AS_CLAIMED) for one in queries), *((AS_CLAIMED, one) for one in keys)],
        ]
    )
    last = () if pairs is not None else (_possible(call) for _ in range(1))
    for tier in chain(tiers, last):
        fits = [
            pair
            for pair in tier
            if pair[0] in queries
            and pair[1] in keys
            and _fits(call, queries[pair[0]], keys[pair[1]])
        ]
        if fits:
            least = min(first.cost + second.cost for first, second in fits)
            room = least + (1.0 if least else 0.0)
            near = [pair for pair in fits if pair[0].cost + pair[1].cost <= room]
            return sorted(near, key=lambda pair: pair[0].cost + pair[1].cost)
    return []


def _possible(call: Attended) -> Pairs:
    """Return any two choices whose scores are as far apart as the logarithms, in proportion.

    A few queries, each with two keys, refute nearly all of hundreds of thousands of pairs.
    """
    queries, keys = call.sides
    at = np.argwhere(call.open.sum(axis=-1) > 1)[:_ROWS]
    if sums(call) not in ("over keys", "none") or len(at) < _ROWS:
        return [*product(queries, keys)]
    apart, logs = [], []
    q, k = np.stack([*queries.values()]), np.stack([*keys.values()])
    for b, h, s in at:
        one, *_, other = np.flatnonzero(call.open[b, h, s])
        apart.append(q[:, b, s, h] @ (k[:, b, one, h] - k[:, b, other, h]).T)
        logs.append(float(np.log(call.weights[b, h, s, one] / call.weights[b, h, s, other])))
    off = _ROUGHLY * (1 + np.abs(logs).max())
    fits = np.ones(apart[0].shape, dtype=bool)
    for scores, log in zip(apart[1:], logs[1:], strict=True):
        room = off * (np.abs(scores) + np.abs(apart[0]))
        fits &= np.abs(scores * logs[0] - apart[0] * log) <= room
    first, second = [*queries], [*keys]
    return [(first[i], second[j]) for i, j in np.argwhere(fits)]


_ROWS = 8
_ROUGHLY = 0.02


def _fits(call: Attended, q: Array, k: Array) -> bool:
    logs, scores = _both(call, q, k)
    by = _scales(logs, scores)[:, None, :, None] if call.warm else _scale(logs, scores)
    off = np.abs(logs - by * scores)
    return bool((off <= NEAR * (1 + np.abs(logs))).all())


def _scale(logs: Array, scores: Array) -> float:
    return float(np.vdot(scores, logs) / max(float(np.vdot(scores, scores)), 1e-30))


def _scales(logs: Array, scores: Array) -> Array:
    """Return the scale of each query, (B, S); of one whose scores tell none it is 1."""
    told = (scores * scores).sum(axis=(1, 3))
    found = (logs * scores).sum(axis=(1, 3)) / np.where(told > NOTHING, told, 1.0)
    return np.where(told > NOTHING, found, 1.0)


def _both(call: Attended, q: Array, k: Array) -> tuple[Array, Array]:
    """Return the logarithms of the weights and the scores, as far as a softmax tells them."""
    open_, over = call.open, sums(call)
    scores = np.einsum("bshd,bthd->bhst", q, k) / np.sqrt(DIM)
    if call.cap:
        scores = call.cap * np.tanh(scores / call.cap)
    if call.split:
        tops = own_tops(np.where(open_, scores, -np.inf), call.split)
        scores = np.where(open_, scores - np.where(np.isfinite(tops), tops, 0.0), scores)
    logs = np.log(np.where(open_, call.weights.astype(np.float64), 1.0))
    return centred(logs, open_, over), centred(scores, open_, over)


NEAR = 2e-3


def scale_of(call: Attended, pair: tuple[Choice, Choice]) -> float:
    """Return what scores are multiplied by beside 1/sqrt(head_dim)."""
    queries, keys = call.sides
    return _scale(*_both(call, queries[pair[0]], keys[pair[1]]))


def scales_of(call: Attended, pair: tuple[Choice, Choice]) -> Array:
    """Return what the scores of each query are multiplied by, (B, S)."""
    queries, keys = call.sides
    return _scales(*_both(call, queries[pair[0]], keys[pair[1]]))


def padding(scores: Array, block: int) -> Array:
    """Return what keys of zeros add, relative to the largest score, where they fill up a block."""
    return np.asarray(-scores.shape[-1] % block * np.exp(-scores.max(axis=-1)))


def padded_alike(calls: Sequence[Attended], pairs: Pairs) -> bool:
    """Whether the weights of all calls leave what keys of zeros take in blocks of one size."""
    sizes = set(BLOCKS if pairs else ())
    for call in calls:
        scores = masked(call, pairs[0])
        right = np.exp(scores - scores.max(axis=-1, keepdims=True)).sum(axis=-1)
        totals = {block: right + padding(scores, block) for block in sizes}
        left = call.weights.sum(-1)
        sizes = {b for b, of in totals.items() if np.allclose(left, right / of, rtol=NEAR)}
    return bool(sizes)
