"""Inputs of the checks of attention, and attention itself with its error bounds."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case
from ropespec.conformance.checks.shared import (
    LITERAL,
    answer,
    as_claimed,
    based,
    conventions,
    draw,
    rules,
)
from ropespec.conformance.judge.bounds import (
    Bounded,
    Rules,
    gamma,
    softmax,
    weighted_sum,
)
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, worst
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.trial import Trial

__all__ = [
    "Asked",
    "Exact",
    "Inputs",
    "allowing",
    "attend",
    "by_reference",
    "call_attention",
    "heads_first",
    "inputs",
    "judged",
]

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Inputs:
    """The arguments of one call.

    Attributes
    ----------
    q, k, v : ndarray
        (B, S, H, D), (B, T, G, D) and (B, T, G, E).
    m, n : ndarray of int64
        Positions of the queries (B, S) and of the keys (B, T).
    mask : ndarray of bool or None
        Broadcasts to (B, H, S, T).
    """

    q: NDArray[Any]
    k: NDArray[Any]
    v: NDArray[Any]
    m: NDArray[np.int64]
    n: NDArray[np.int64]
    mask: NDArray[np.bool_] | None = None

    @property
    def keep(self) -> NDArray[np.bool_]:
        """The mask, everything if there is none."""
        return np.ones((1, 1, 1, 1), dtype=bool) if self.mask is None else self.mask


class Asked:
    """What came back: output and weights in float64, the call, and what is wrong with it."""

    __slots__ = ("call", "output", "problem", "weights")

    def __init__(
        self, output: NDArray[Any], weights: NDArray[Any], problem: Finding | None, call: Call
    ) -> None:
        self.output, self.weights = output, weights
        self.problem, self.call = problem, call


@dataclass(frozen=True, slots=True)
class Exact:
    """Output (B, S, H, E) and weights (B, H, S, T), exact and bounded."""

    output: Bounded
    weights: Bounded


def inputs(case: Case, *, groups: int | None = None, keys: int | None = None) -> Inputs:
    """Draw q, k, v and positions; as many keys as queries or two more, values of any width.

    All shapes follow from that of x, for a compiler pays for each new one.
    """
    count = case.seq + 2 * (case.heads % 2) if keys is None else keys
    shared = case.heads if groups is None else groups
    where = dataclasses.replace(case, seq=count, seed=case.seed + 1)
    return Inputs(
        draw(case, case.shape, 0),
        draw(case, (case.batch, count, shared, case.head_dim), 1),
        draw(case, (case.batch, count, shared, (1, 3, case.head_dim)[case.seq % 3]), 2),
        case.make_positions(),
        where.make_positions(),
    )


def call_attention(trial: Trial, case: Case, given: Inputs) -> Asked:
    """Call the subject's attention."""
    keywords: dict[str, Any] = {
        "query_positions": as_claimed(trial, given.m),
        "key_positions": as_claimed(trial, given.n),
        "mask": given.mask,
        **conventions(trial, case, "attention"),
    }
    arrays = (given.q, given.k, given.v)
    reply, call = trial.call("attention", arrays, keywords), Call("attention", arrays, keywords)
    problem = answer(reply, call, dtypes=(case.dtype, case.dtype))
    if problem:
        return Asked(np.zeros(0), np.zeros(0), problem, call)
    output, weights = (value.astype(np.float64) for value in reply.values)
    b, s, h, _ = given.q.shape
    t, e = given.v.shape[1], given.v.shape[3]
    for name, got, wanted in (("output", output, (b, s, h, e)), ("weights", weights, (b, h, s, t))):
        if got.shape != wanted:
            problem = broken(f"{name} has shape {got.shape}; expected {wanted}", call=call)
    return Asked(output, weights, problem, call)


def _spread(x: Float, heads: int) -> Float:
    """Give every query head its key head h // (H/G), heads first: (B, H, T, D)."""
    return np.repeat(x, heads // x.shape[2], axis=2).transpose(0, 2, 1, 3)


def attend(trial: Trial, case: Case, given: Inputs, *, literal: bool = False) -> Exact:
    """Compute attention exactly, with the bounds of this trial or of the literal reference."""
    allowed = LITERAL if literal else rules(trial, case.dtype)
    heads = given.q.shape[2]
    sides = []
    for x, where in ((given.q, given.m), (given.k, given.n)):
        rotated = Rotation.of(x, where, case.convention)
        if literal:
            rotated = dataclasses.replace(rotated, dtype="float64")
        error = rotated.allowed(allowed.precision, allowed.machine)
        sides.append(Bounded(_spread(rotated.y, heads), _spread(error, heads)))
    scores = _scores(sides[0], sides[1], allowed)
    weights = softmax(scores, given.keep, allowed)
    v = _spread(given.v.astype(np.float64), heads)
    output = weighted_sum(weights, v, allowed)
    return Exact(Bounded(*(part.transpose(0, 2, 1, 3) for part in output)), weights)


def heads_first(x: NDArray[Any], heads: int) -> Float:
    """Return (B, S, G, D) as (B, H, S, D) in float64, each head of the G standing for H/G."""
    return _spread(x.astype(np.float64), heads)


def by_reference(trial: Trial, case: Case, given: Inputs) -> Exact:
    """Return attention by the literal reference; its error and that of the subject are allowed."""
    keywords = based(case, "interleaved", "rotary_dim")
    mask, rows = given.mask, []
    for row in range(case.batch):  # one by one, as arrays without an axis for the batch
        own = mask if mask is None or mask.ndim < 4 else mask[row % len(mask)]
        wide = (x[row].astype(np.float64) for x in (given.q, given.k, given.v))
        rows.append(
            reference.attention(
                *wide,
                query_positions=given.m[row],
                key_positions=given.n[row],
                mask=own,
                **keywords,
            )
        )
    output, weights = (np.stack(parts) for parts in zip(*rows, strict=True))
    return allowing(trial, case, given, output, weights)


def allowing(
    trial: Trial, case: Case, given: Inputs, output: NDArray[Any], weights: NDArray[Any]
) -> Exact:
    """Bound results of the reference: what the subject and what the reference may be off by."""
    own, theirs = attend(trial, case, given), attend(trial, case, given, literal=True)
    return Exact(
        Bounded(output, own.output.allowed + theirs.output.allowed),
        Bounded(weights, own.weights.allowed + theirs.weights.allowed),
    )


def _scores(first: Bounded, second: Bounded, allowed: Rules) -> Bounded:
    """Bound q k^T / sqrt(D): errors of q and k, a sum of D products, a root and a division."""
    (q, eq), (k, ek) = first, second
    back, dim = (0, 1, 3, 2), q.shape[-1]
    a, b = np.abs(q), np.abs(k)
    size = (a + eq) @ (b + ek).transpose(back)
    steps = gamma((dim + 1) * allowed.sum_unit + 3 * allowed.step_unit) + gamma(
        (dim + 8) * 2.0**-53
    )
    lost = (a + eq) @ ek.transpose(back) + eq @ b.transpose(back) + steps * size
    return Bounded(q @ k.transpose(back) / np.sqrt(dim), lost / np.sqrt(dim))


def judged(asked: Asked, exact: Exact, message: str) -> Finding:
    """Compare output and weights."""
    if asked.problem:
        return asked.problem
    parts = (
        ("weights", asked.weights, exact.weights),
        ("output", asked.output, exact.output),
    )
    return worst(
        *(
            compare(got, bound.value, bound.allowed, name=name, message=message).after(asked.call)
            for name, got, bound in parts
        )
    )
