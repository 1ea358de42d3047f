"""Checks against the printed forms of the decay: sums, bounds and curves (DEC-1 to DEC-3)."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.checks.decay.laws import tapered
from ropespec.conformance.checks.literal import (
    NEAR_SPACE,
    Forms,
    Token,
    conventions_of,
    places,
    printed,
    woven,
)
from ropespec.conformance.checks.shared import STEPS, based, beside, two_sides
from ropespec.conformance.judge.finding import Call, Finding
from ropespec.conformance.judge.rotation import pairs_of
from ropespec.conformance.trial import Trial
from ropespec.reference import decay

__all__: list[str] = []

Float = NDArray[np.float64]


class Products(NamedTuple):
    """Products w_q w_k^* of all pairs, (..., r/2), and what they may be off by."""

    got: NDArray[np.complex128]
    off: Float


def _heads(
    trial: Trial, case: Case, x: NDArray[Any], positions: NDArray[np.int64]
) -> tuple[Token, Call]:
    found = beside(trial, case, x, positions)
    at = places(case)[-1][:2]
    before, after, off = (
        part[at][:, : case.dim] for part in (x.astype(np.float64), found.y, found.exact.allowed)
    )
    return Token(before, after, off, int(positions[at])), found.call


def _products(case: Case, q: Token, k: Token) -> Products:
    pairs = []
    for one in (q, k):
        z, w, off = (
            a + 1j * b
            for a, b in (pairs_of(part, case.convention) for part in (one.x, one.y, one.off))
        )
        pairs.append((np.abs(z), w, np.abs(off)))
    (a, w_q, e_q), (b, w_k, e_k) = pairs
    return Products(w_q * w_k.conj(), a * e_k + b * e_q + e_q * e_k + STEPS * a * b)


def _unit(trial: Trial, case: Case, positions: NDArray[np.int64], member: int = 0) -> Token:
    """Return heads with the pair (1, 0), or (0, 1), throughout, and what the subject gives."""
    x = np.zeros(case.shape)
    pairs_of(x, case.convention)[member][...] = 1.0
    return _heads(trial, case, x.astype(case.numpy_dtype), positions)[0]


def _sums(products: Products) -> Products:
    """Return the partial sums S_1, ..., S_{r/2} of the first head."""
    return Products(np.cumsum(products.got[0]), np.cumsum(products.off[0]))


@printed(
    "DEC-1.forms",
    "A product of a pair, a partial sum, the sum by parts or the Abel bound is another number.",
    names=("F-204", "P-42"),
    space=dataclasses.replace(NEAR_SPACE, min_heads=2),
)
def abel(trial: Trial, case: Case) -> Finding:
    """h_i, S_j, the sum by parts and both bounds are what rotated pairs give, head by head."""
    m, n = two_sides(trial, case)
    q, k = case.make_x(m), case.make_x(m, seed=1)
    (left, _), (right, call) = _heads(trial, case, q, m), _heads(trial, case, k, n)
    seen, offset = Forms("what rotated pairs give", call), right.m - left.m
    h = _products(case, left, _heads(trial, case, k, m)[0])
    keywords = case.only("interleaved")
    products = decay.pair_products(left.x, right.x, **keywords)
    seen.add("decay.pair_products", h.got, products, h.off)
    total = _products(case, left, right)
    # With a leading axis of length 1: heads and components keep their places.
    x, y = left.x[np.newaxis], right.x[np.newaxis]
    (by_parts,) = decay.abel_sum(x, y, [[offset]], **conventions_of(case))
    rounding = STEPS * case.dim * np.abs(total.got).sum(axis=-1)
    off = total.off.sum(axis=-1) + rounding
    seen.add("decay.abel_sum", total.got.sum(axis=-1), by_parts, off)
    S = _sums(_products(case, _unit(trial, case, m), _unit(trial, case, n)))
    sums = decay.partial_sums(offset, case.dim, **based(case))
    seen.add("decay.partial_sums", S.got, sums, S.off)
    (trivial,) = decay.trivial_bound(x, y, **keywords)
    seen.add("decay.trivial_bound", np.abs(h.got).sum(axis=-1), trivial, h.off.sum(axis=-1))
    largest = np.abs(np.diff(h.got, axis=-1, append=0.0)).max(axis=-1)
    sizes, error = np.abs(S.got).sum(), 2 * h.off.max(axis=-1)
    allowed = error * (sizes + S.off.sum()) + largest * S.off.sum() + STEPS * largest * sizes
    both = decay.abel_bound(x, y, [[offset], [-offset]], **conventions_of(case))
    seen.add("decay.abel_bound", np.stack([largest * sizes] * 2), both, np.stack([allowed] * 2))
    return seen.finding()


@printed(
    "DEC-2.forms",
    "The curve of a score, or the mean of the partial sums, is not that of rotated vectors.",
    names=("F-202", "P-43"),
    space=dataclasses.replace(NEAR_SPACE, positions=("arange",)),
    applies=lambda trial: None if trial.profile.max_position >= 32 else "position 32 not claimed",
)
def curves(trial: Trial, case: Case) -> Finding:
    """C(D) = <q, f(q, D)> for any q and for all ones, B(D) and S_j are what rotated pairs give."""
    row = np.broadcast_to(np.arange(case.seq, dtype=np.int64), (case.batch, case.seq))
    base, drawn = based(case), case.make_x(row)
    seen = None
    for x in (np.broadcast_to(drawn[:, :1], drawn.shape).copy(), np.ones_like(drawn)):
        found = beside(trial, case, x, row)
        seen = seen or Forms("the score of a vector with itself", found.call)
        head = np.s_[0, :, 0, : case.dim]
        q = x.astype(np.float64)[head][0]
        got = found.y[head] @ q
        allowed = found.exact.allowed[head] @ np.abs(q) + STEPS * case.dim * (q @ q)
        vector = None if (q == 1.0).all() else woven(case, q)
        curve = decay.decay_curve(case.seq - 1, case.dim, **base, q=vector)
        seen.add("decay.decay_curve", got, curve, allowed)
    assert seen is not None
    m, n = two_sides(trial, case)
    left, right = _unit(trial, case, m), _unit(trial, case, n)
    products = _products(case, left, right)
    S, offset = _sums(products), right.m - left.m
    sums = decay.partial_sums(offset, case.dim, **base)
    seen.add("decay.partial_sums", S.got, sums, S.off)
    mean = decay.decay_bound(offset, case.dim, **base)
    seen.add("decay.decay_bound", np.abs(S.got).mean(), mean, S.off.mean())
    _cosines(seen, case, products, offset)
    return seen.finding()


def _cosines(seen: Forms, case: Case, products: Products, offset: int) -> None:
    """Note the sum of cosines, which is the same for both signs of the offset."""
    got, off = products.got[0].real.sum(), products.off[0].sum()
    cosines = decay.cosine_sum([offset, -offset], case.dim, **based(case))
    seen.add("decay.cosine_sum", np.full(2, got), cosines, off)


@printed(
    "DEC-3.forms",
    "The trace, the sum of cosines or a bound at offset 0 is not that of rotated vectors.",
    names=("F-202", "F-203", "E-29", "P-43"),
    space=dataclasses.replace(NEAR_SPACE, min_heads=2),
)
def not_true(trial: Trial, case: Case) -> Finding:
    """tr R_{n-m} is read off unit vectors; at offset 0 both bounds are reached where h falls."""
    m, n = two_sides(trial, case)
    units = [(_unit(trial, case, m, member), _unit(trial, case, n, member)) for member in (0, 1)]
    products = [_products(case, *pair) for pair in units]
    (left, call), (right, _) = (_heads(trial, case, x, m) for x in tapered(case))
    seen, base = Forms("what rotated pairs give", call), based(case)
    offset = units[0][1].m - units[0][0].m
    _cosines(seen, case, products[0], offset)
    traced = sum(one.got[0].real.sum() for one in products)
    off = sum(one.off[0].sum() for one in products)
    seen.add("decay.trace", traced, decay.trace(offset, case.dim, **base), off)
    S, mean = _sums(products[0]), decay.decay_bound(offset, case.dim, **base)
    seen.add("decay.decay_bound", np.abs(S.got).mean(), mean, S.off.mean())
    h = _products(case, left, right)
    score, error = h.got.real.sum(axis=-1), h.off.sum(axis=-1)
    allowed = error + STEPS * case.dim * np.abs(score)
    conventions = conventions_of(case)
    for name, value in (
        ("trivial_bound", decay.trivial_bound(left.x, right.x, **case.only("interleaved"))),
        ("abel_sum", decay.abel_sum(left.x, right.x, 0, **conventions).real),
    ):
        seen.add(f"decay.{name}", score, value, allowed)
    # S_j is j at offset 0; where the steps of h are equal the bound is the score itself.
    steps = np.abs(np.diff(h.got, axis=-1, append=0.0)).max(axis=-1)
    count = case.dim // 2 * (case.dim // 2 + 1) / 2
    bound = decay.abel_bound(left.x, right.x, 0, **conventions)
    seen.add("decay.abel_bound", steps * count, bound, 2 * h.off.max(axis=-1) * count + allowed)
    return seen.finding()
