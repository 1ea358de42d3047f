"""Checks that attention sees the order of tokens by their positions alone (ATT-5)."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.attention.common import (
    Exact,
    Inputs,
    allowing,
    attend,
    call_attention,
    heads_first,
    inputs,
    judged,
)
from ropespec.conformance.checks.literal import first
from ropespec.conformance.checks.shared import NEAR
from ropespec.conformance.judge.bounds import Bounded
from ropespec.conformance.judge.finding import Finding
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial
from ropespec.reference.attention import attention_plain

__all__: list[str] = []

Order = NDArray[np.int64]


def _permuted(given: Inputs, queries: Order, keys: Order) -> Inputs:
    """Exchange tokens, and the rows and columns of the mask with them; positions stay."""
    mask = None if given.mask is None else given.mask[..., queries, :][..., keys]
    return dataclasses.replace(
        given, q=given.q[:, queries], k=given.k[:, keys], v=given.v[:, keys], mask=mask
    )


def _moved(exact: Exact, queries: Order, keys: Order) -> Exact:
    """Exchange the rows of output and weights, and the columns of the weights."""
    output, weights = exact.output, exact.weights
    return Exact(
        Bounded(*(part[:, queries] for part in output)),
        Bounded(*(part[:, :, queries][..., keys] for part in weights)),
    )


def _draw(case: Case) -> tuple[Inputs, Order]:
    """Draw as many keys as queries, at the places 0, 1, 2, ..., and another order of them."""
    given = inputs(case, keys=case.seq)
    where = np.broadcast_to(np.arange(case.seq, dtype=np.int64), (case.batch, case.seq)).copy()
    rng = np.random.default_rng([case.seed, 37])
    mask = rng.random((case.seq, case.seq)) < 0.7 if case.seed % 2 else None
    if mask is not None:
        mask[:, 0] |= ~mask.any(axis=-1)
    order = np.roll(rng.permutation(case.seq), 1)
    order = order if (order != np.arange(case.seq)).any() else np.roll(order, 1)
    return dataclasses.replace(given, m=where, n=where, mask=mask), order


@check(
    "ATT-5.order",
    "The positions are dropped: the same tokens in another order are the same sentence.",
    needs=("attention",),
    names=("F-222", "P-49"),
    space=Space(positions=("arange",), max_position=NEAR, min_seq=2),
    applies=lambda trial: None if trial.profile.max_position >= 32 else "position 32 not claimed",
    share=0.5,
)
def order(trial: Trial, case: Case) -> Finding:
    """Without positions the output of permuted tokens is the output permuted; with them it is not.

    Keys and values alone may be exchanged as well, and nothing changes but the columns of weights.
    """
    given, new = _draw(case)
    same = np.arange(case.seq)
    plain = dataclasses.replace(given, m=np.zeros_like(given.m), n=np.zeros_like(given.n))
    before = call_attention(trial, case, plain)
    if before.problem:
        return before.problem
    findings = []
    for queries, words in ((new, "tokens"), (same, "keys and values")):
        other = _permuted(plain, queries, new)
        after = call_attention(trial, case, other)
        if after.problem:
            return after.problem
        one, two = attend(trial, case, plain), attend(trial, case, other)
        here = Exact(
            Bounded(before.output, one.output.allowed), Bounded(before.weights, one.weights.allowed)
        )
        expected = _moved(here, queries, new)
        allowed = Exact(
            Bounded(expected.output.value, expected.output.allowed + two.output.allowed),
            Bounded(expected.weights.value, expected.weights.allowed + two.weights.allowed),
        )
        message = f"without positions another order of {words} is seen"
        findings.append(judged(after, allowed, message))
        Q, K, V = (heads_first(x, case.heads) for x in (plain.q, plain.k, plain.v))
        output, weights = attention_plain(Q, K, V, plain.mask)
        literal = allowing(trial, case, plain, output.transpose(0, 2, 1, 3), weights)
        message = f"without positions it is not plain attention for another order of {words}"
        findings.append(judged(after, _moved(literal, queries, new), message))
    return first(max(findings, key=_ratio), _seen(trial, case, given, new))


def _ratio(finding: Finding) -> float:
    return finding.ratio


def _seen(trial: Trial, case: Case, given: Inputs, new: Order) -> Finding:
    """Judge permuted tokens at the places of the others: that is another sentence."""
    other = _permuted(given, new, new)
    asked, exact = call_attention(trial, case, other), attend(trial, case, other)
    message = "tokens in another order are not what they are at their new places"
    found = judged(asked, exact, message)
    if found.passed or asked.problem:
        return found
    before = call_attention(trial, case, given)
    same = Exact(
        Bounded(before.output, 2 * exact.output.allowed),
        Bounded(before.weights, 2 * exact.weights.allowed),
    )
    if before.problem or not judged(asked, _moved(same, new, new), "").passed:
        return found
    message = "tokens in another order give the output in another order: no order is seen"
    return dataclasses.replace(found, message=message)
