"""Checks of the values of attention: softmax, V not rotated, shifts (ATT-1 and ATT-3)."""

import dataclasses

import numpy as np

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.attention.common import (
    Exact,
    allowing,
    attend,
    by_reference,
    call_attention,
    heads_first,
    inputs,
    judged,
)
from ropespec.conformance.checks.literal import FEW, first
from ropespec.conformance.checks.shared import NEAR, draw, rotate, rules, takes_rotary_dim
from ropespec.conformance.judge.bounds import Bounded, gamma, softmax, stored
from ropespec.conformance.judge.finding import Finding, compare, worst
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial
from ropespec.reference.attention import attention_plain, scaled_scores
from ropespec.reference.attention import softmax as literal_softmax

__all__: list[str] = []

_NEEDS = ("attention",)
_SHIFTABLE = ("arange", "ragged", "shuffled")


@check(
    "ATT-1.value",
    "The scale is missing or another, the softmax runs over the queries, or a side is not rotated.",
    needs=_NEEDS,
    names=("F-149", "F-183", "F-185", "F-186", "F-218", "E-65", "P-35"),
    every_dtype=True,
)
def value(trial: Trial, case: Case) -> Finding:
    """softmax(QK^T / sqrt(D)) V with rotated q and k: output and weights."""
    given = inputs(case)
    message = "attention differs from softmax(QK^T / sqrt(D)) V with rotated q and k"
    return judged(call_attention(trial, case, given), attend(trial, case, given), message)


@check(
    "ATT-1.rows",
    "The weights are not normalised, or normalised over another axis.",
    needs=_NEEDS,
    names=("P-35",),
)
def rows(trial: Trial, case: Case) -> Finding:
    """Weights are at least 0 and sum to 1 over the keys, whatever the scores."""
    given = inputs(case)
    asked = call_attention(trial, case, given)
    if asked.problem:
        return asked.problem
    allowed = rules(trial, case.dtype)
    negative = compare(
        np.minimum(asked.weights, 0.0),
        np.zeros_like(asked.weights),
        allowed.floor,
        name="weights",
        message="a weight is negative",
    )
    sums = asked.weights.sum(axis=-1)
    count = asked.weights.shape[-1]
    # The sum, the exponentials and the division of a row, and one store for each weight.
    each = gamma((count + 1) * allowed.sum_unit + 3 * allowed.step_unit)
    bound = stored(Bounded(np.ones_like(sums), np.full_like(sums, each)), allowed)
    limit = bound.allowed + count * (allowed.floor + 2.0**-53)
    message = "the weights of a query do not sum to 1 over its keys"
    total = compare(sums, bound.value, limit, name="sum of weights", message=message)
    return worst(negative, total).after(asked.call)


@check(
    "ATT-1.plain",
    "Without a rotation it is not plain attention: position 0 rotates, or an offset is added.",
    needs=_NEEDS,
    names=("F-183", "P-35"),
    share=0.5,
)
def plain(trial: Trial, case: Case) -> Finding:
    """With all positions 0, attention is softmax(QK^T / sqrt(D)) V of the q and k given."""
    # Now and then there is nothing to attend to.
    given = inputs(case, keys=0 if case.seed % 4 == 2 and trial.profile.empty else None)
    # Every other time scores are so large that their exponentials would overflow.
    far = 256.0 if case.seed % 2 else 1.0
    given = dataclasses.replace(
        given,
        q=(far * given.q.astype(np.float64)).astype(given.q.dtype),
        m=np.zeros_like(given.m),
        n=np.zeros_like(given.n),
    )
    message = "with all positions 0 it is not plain attention"
    asked = call_attention(trial, case, given)
    exact = judged(asked, attend(trial, case, given), message)
    Q, K, V = (heads_first(x, case.heads) for x in (given.q, given.k, given.v))
    output, _ = attention_plain(Q, K, V)
    # As matrices without leading axes, row by row and head by head.
    weights = np.stack(
        [
            [literal_softmax(scaled_scores(q, k)) for q, k in zip(*row, strict=True)]
            for row in zip(Q, K, strict=True)
        ]
    )
    forms = allowing(trial, case, given, output.transpose(0, 2, 1, 3), weights)
    message = "with all positions 0 it is not the plain attention of the literal reference"
    return first(exact, judged(asked, forms, message))


@check(
    "ATT-1.reference",
    "Attention agrees with the judge but not with the formula as the documents print it.",
    needs=_NEEDS,
    names=("F-183", "F-186", "P-47"),
    space=Space(max_position=NEAR),
    share=0.5,
)
def against_reference(trial: Trial, case: Case) -> Finding:
    """Attention equals that of the literal NumPy reference."""
    given = inputs(case)
    asked = call_attention(trial, case, given)
    if asked.problem:
        return asked.problem
    exact = by_reference(trial, case, given)
    return judged(asked, exact, "attention differs from the literal reference")


@check(
    "ROT-14.attention",
    "The tail of q and k is rotated or left out, or the scale is that of the part that rotates.",
    needs=_NEEDS,
    space=Space(max_position=NEAR, max_dim=64, partial=True, min_dim=4),
    applies=takes_rotary_dim("attention"),
    share=FEW,
)
def with_tail(trial: Trial, case: Case) -> Finding:
    """Attention with R on the first rotary_dim components of q and k, by the reference."""
    return against_reference(trial, case)


@check(
    "ATT-3.constant",
    "V is rotated: equal values of all keys do not come back as they are.",
    needs=_NEEDS,
    names=("F-184", "E-08", "P-34"),
    share=0.5,
)
def constant(trial: Trial, case: Case) -> Finding:
    """Where all keys have one value, that value is the output, at any positions."""
    given = inputs(case)
    v = np.ascontiguousarray(np.broadcast_to(given.v[:, :1], given.v.shape))
    given = dataclasses.replace(given, v=v)
    asked, allowed = call_attention(trial, case, given), rules(trial, case.dtype)
    if asked.problem:
        return asked.problem
    wanted = np.broadcast_to(v[:, :1].astype(np.float64), asked.output.shape)
    count = v.shape[1]
    # Weights that sum to 1 but for the roundings of their row and their store, and a sum over T.
    lost = gamma(2 * (count + 1) * allowed.sum_unit + 4 * allowed.step_unit + allowed.unit)
    bound = stored(Bounded(wanted, (lost + count * allowed.floor) * np.abs(wanted)), allowed)
    message = "the values of all keys are equal, and the output is another vector"
    found = compare(asked.output, bound.value, bound.allowed, name="output", message=message)
    return found.after(asked.call)


@check(
    "ATT-3.linear",
    "The output is not linear in V.",
    needs=_NEEDS,
    names=("P-34",),
    share=0.5,
)
def linear(trial: Trial, case: Case) -> Finding:
    """Attention(Q, K, V1 + V2) = attention(Q, K, V1) + attention(Q, K, V2), with equal weights."""
    given = inputs(case)
    first, second = (
        np.clip(np.round(draw(case, given.v.shape, s).astype(np.float64) * 8) / 8, -4, 4)
        for s in (2, 3)
    )
    parts = [x.astype(case.numpy_dtype) for x in (first, second, first + second)]
    asked = [call_attention(trial, case, dataclasses.replace(given, v=v)) for v in parts]
    for one in asked:
        if one.problem:
            return one.problem
    allowed = rules(trial, case.dtype)
    count = given.v.shape[1] + 1
    # Whatever the weights are, they are the same three times and at most 1 together.
    sizes = sum(np.abs(v.astype(np.float64)).max(axis=1, keepdims=True, initial=0.0) for v in parts)
    steps = gamma(2 * count * allowed.sum_unit + 4 * allowed.step_unit + allowed.unit)
    sizes = np.broadcast_to(sizes, asked[2].output.shape)
    bound = stored(Bounded(sizes, steps * sizes), allowed).allowed + 2 * allowed.floor
    message = "attention of V1 + V2 is not the sum of those of V1 and V2"
    wanted = asked[0].output + asked[1].output
    found = compare(asked[2].output, wanted, bound, name="output", message=message)
    return found.after(asked[2].call)


@check(
    "ATT-3.shift",
    "Shifting all positions changes the output: V is rotated, or one side is shifted alone.",
    needs=_NEEDS,
    names=("E-08", "P-34"),
    space=Space(positions=_SHIFTABLE, max_position=NEAR),
    share=0.5,
)
def shift(trial: Trial, case: Case) -> Finding:
    """One integer added to the positions of all queries and keys leaves output and weights."""
    given = inputs(case)
    given = dataclasses.replace(given, m=given.m // 2, n=given.n // 2)
    step = min(1 + 37 * case.seed, case.limit // 2)
    moved = dataclasses.replace(given, m=given.m + step, n=given.n + step)
    here, there = call_attention(trial, case, given), call_attention(trial, case, moved)
    if problem := here.problem or there.problem:
        return problem
    one, two = attend(trial, case, given), attend(trial, case, moved)
    exact = Exact(
        Bounded(here.output, one.output.allowed + two.output.allowed),
        Bounded(here.weights, one.weights.allowed + two.weights.allowed),
    )
    return judged(there, exact, f"shifting all positions by {step} changes attention")


@check(
    "ATT-3.weights",
    "Attention with these queries and keys would depend on where the text starts.",
    names=("P-34",),
    space=Space(values=("normal",), positions=_SHIFTABLE, max_position=NEAR, min_seq=2),
    share=0.5,
    general=True,
)
def weights_of_rotated(trial: Trial, case: Case) -> Finding:
    """softmax(<f(q, m), f(k, n)> / sqrt(D)) does not change when all positions are shifted."""
    m = case.make_positions() // 2
    step = min(1 + 37 * case.seed, case.limit // 2)
    q, k = case.make_x(m), case.make_x(m, seed=1)
    allowed = rules(trial, case.dtype)
    found = []
    for where in (m, m + step):
        left, right = rotate(trial, case, q, where), rotate(trial, case, k, where)
        got = np.einsum("bshd,bthd->bhst", left.y, right.y) / np.sqrt(case.head_dim)
        sides = (left.exact, right.exact)
        (a, ea), (b, eb) = (
            (np.abs(s.value) + s.allowed, s.allowed.astype(np.float64)) for s in sides
        )
        lost = np.einsum("bshd,bthd->bhst", a, eb) + np.einsum("bshd,bthd->bhst", ea, b)
        found.append((got, lost / np.sqrt(case.head_dim), right.call))
    everything = np.ones((1, 1, 1, 1), dtype=bool)
    (here, error, _), (there, other, call) = found
    exact = softmax(Bounded(here, error + other), everything, allowed)
    moved = softmax(Bounded(there, error + other), everything, allowed)
    message = f"the attention weights of rotated q and k change when all move by {step}"
    found_here = compare(moved.value, exact.value, exact.allowed, name="weights", message=message)
    return found_here.after(call)
