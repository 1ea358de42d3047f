"""Checks of masks, grouped heads and rows with nothing to attend to (ATT-2 and ATT-4)."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.attention.common import (
    Inputs,
    allowing,
    attend,
    by_reference,
    call_attention,
    heads_first,
    inputs,
    judged,
)
from ropespec.conformance.checks.literal import FEW, first, woven
from ropespec.conformance.checks.shared import BASE, NEAR, ten_thousand
from ropespec.conformance.judge.finding import Finding, broken, compare, worst
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial
from ropespec.reference import published
from ropespec.reference.attention import attention_plain, scaled_scores
from ropespec.reference.attention import softmax as literal_softmax

__all__: list[str] = []

_NEEDS = ("attention",)
_SPACE = Space(max_position=NEAR)


def _mask(case: Case, given: Inputs) -> NDArray[np.bool_]:
    """Return a mask of one of the shapes that broadcast; every query may attend somewhere."""
    b, s, h, _ = given.q.shape
    t = given.k.shape[1]
    rng = np.random.default_rng([case.seed, 17])
    shapes = (
        (s, t),
        (1, 1, s, t),
        (b, 1, s, t),
        (b, h, s, t),
        (b, h, 1, t),
        (h, s, t),
        (b, 1, 1, t),
    )
    shape = shapes[(case.batch + case.seq) % len(shapes)]
    if case.seed % 2:
        mask = np.broadcast_to(np.arange(t) <= np.arange(s)[:, None], (b, h, s, t))
        mask = mask[tuple(slice(-n, None) for n in (1,) * (4 - len(shape)) + shape)].copy()
    else:
        mask = rng.random((1,) * (4 - len(shape)) + shape) < 0.6
        mask[..., 0] |= ~mask.any(axis=-1)
    return mask.reshape(shape)


def _masked(case: Case, *, groups: int | None = None) -> Inputs:
    given = inputs(case, groups=groups)
    return dataclasses.replace(given, mask=_mask(case, given))


@check(
    "ATT-2.zero",
    "A masked key keeps a little weight, and its value reaches the output.",
    needs=_NEEDS,
    names=("E-58", "P-35"),
    space=_SPACE,
    share=0.5,
)
def zero(trial: Trial, case: Case) -> Finding:
    """Masked keys have weight 0 exactly: values a thousand times larger change nothing."""
    given = _masked(case)
    t, rows = given.k.shape[1], given.q.shape[1]
    hidden = t - 1  # hidden from everybody, so that its value is nobody's business
    mask = np.broadcast_to(given.keep, (*given.keep.shape[:-2], rows, t)).copy()
    mask[..., hidden] = t == 1
    mask[..., 0] |= ~mask.any(axis=-1)
    v = given.v.astype(np.float64)
    v[:, hidden] *= 1.0 if t == 1 else 1000.0
    given = dataclasses.replace(given, mask=mask, v=v.astype(given.v.dtype))
    asked = call_attention(trial, case, given)
    if asked.problem:
        return asked.problem
    keep = np.broadcast_to(mask, asked.weights.shape)
    leaked = np.where(keep, 0.0, asked.weights)
    message = "the weight of a masked key is not exactly 0"
    nothing = compare(leaked, np.zeros_like(leaked), 0.0, name="weights", message=message)
    message = "the value of a masked key reaches the output"
    return worst(nothing.after(asked.call), judged(asked, attend(trial, case, given), message))


@check(
    "ATT-4.groups",
    "Query head h attends with key head h mod G, or with the first ones, instead of h // (H/G).",
    needs=_NEEDS,
    space=Space(max_position=NEAR, min_heads=4),  # those of which two may share a key head
)
def groups(trial: Trial, case: Case) -> Finding:
    """Neighbouring query heads share a key head; with and without a mask."""
    divisors = [g for g in range(1, case.heads) if case.heads % g == 0]
    shared = divisors[case.seed // 2 % len(divisors)]
    given = _masked(case, groups=shared) if case.seed % 2 else inputs(case, groups=shared)
    message = f"{case.heads} query heads on {shared} key heads: head h must attend with h // (H/G)"
    return judged(call_attention(trial, case, given), attend(trial, case, given), message)


@check(
    "ATT-4.nowhere",
    "A row that may attend nowhere gives NaN, or the mean of all values.",
    needs=_NEEDS,
    space=_SPACE,
    share=0.5,
)
def nowhere(trial: Trial, case: Case) -> Finding:
    """Without any allowed key a query has zero weights and output; the others stay right."""
    given = _masked(case)
    rows, t = given.q.shape[1], given.k.shape[1]
    mask = np.broadcast_to(given.keep, (*given.keep.shape[:-2], rows, t)).copy()
    mask[..., case.seed % rows, :] = False
    given = dataclasses.replace(given, mask=mask)
    asked = call_attention(trial, case, given)
    if asked.problem:
        return asked.problem
    row = case.seed % rows
    found = (("output", asked.output[:, row]), ("weights", asked.weights[:, :, row]))
    for name, got in found:
        if np.any(got != 0.0):  # NaN is not 0 either
            return broken(
                f"query {row} may attend nowhere, and its {name} must be 0",
                expected=0.0,
                got=float(got[got != 0.0][0]),
                budget=0.0,
                call=asked.call,
            )
    message = "queries beside one that may attend nowhere are wrong"
    return judged(asked, attend(trial, case, given), message)


_SHARING = (4, 3, 6, 2)
"""Heads, of which each two share a key head, or all of an odd number."""


@check(
    "ATT-4.reference",
    "Grouped heads, masks or empty rows agree with the judge but not with the literal reference.",
    needs=_NEEDS,
    names=("P-47",),
    space=_SPACE,
    share=FEW,
)
def against_reference(trial: Trial, case: Case) -> Finding:
    """Attention equals the reference, with shared key heads, a mask, and a row without keys."""
    if not trial.profile.compiles:
        case = dataclasses.replace(case, heads=_SHARING[case.seed % len(_SHARING)])
    groups = 1 if case.heads % 2 else case.heads // 2
    given = _masked(case, groups=groups)
    rows, t = given.q.shape[1], given.k.shape[1]
    mask = np.broadcast_to(given.keep, (*given.keep.shape[:-2], rows, t)).copy()
    mask[..., case.seed % rows, :] = False
    given = dataclasses.replace(given, mask=mask)
    message = "attention differs from the literal reference"
    return judged(call_attention(trial, case, given), by_reference(trial, case, given), message)


@check(
    "ATT-2.forms",
    "A printed attention gives another output: its mask, its dropout or its rotation is elsewhere.",
    needs=_NEEDS,
    names=("F-193", "F-199", "E-58", "E-59", "P-35"),
    space=_SPACE,
    applies=lambda trial: ten_thousand("attention")(trial) or _whole_head(trial),
    share=FEW,
)
def forms(trial: Trial, case: Case) -> Finding:
    """attention(q, k, v, mask, dropout, use_RoPE) of document 004 is what the subject gives."""
    case = case.stating(base=BASE, rotary_dim=None)
    given = _masked(case)
    if case.seed // 2 % 2:  # one query may attend nowhere
        mask = np.broadcast_to(given.keep, (*given.keep.shape[:-2], case.seq, given.k.shape[1]))
        mask = mask.copy()
        mask[..., 0, :] = False
        given = dataclasses.replace(given, mask=mask)
    use_rope = case.seed % 3 > 0
    m, n = (
        np.broadcast_to(np.arange(x.shape[1], dtype=np.int64) * use_rope, x.shape[:2]).copy()
        for x in (given.q, given.k)
    )
    given = dataclasses.replace(given, m=m, n=n)
    asked = call_attention(trial, case, given)
    if asked.problem:
        return asked.problem
    Q, K, V = (heads_first(x, case.heads) for x in (given.q, given.k, given.v))
    numbers = given.keep.astype(np.int64) * 2  # what is not 0 is kept
    told: dict[str, Any] = {} if use_rope else {"use_RoPE": False}
    if case.seed % 2:
        told["dropout"] = _dropped
    # The document pairs neighbours; of half-split pairs both sides are put in that order.
    output, weights = published.attention(woven(case, Q), woven(case, K), V, numbers, **told)
    share = 0.5 if case.seed % 2 else 1.0
    printed = allowing(trial, case, given, output.transpose(0, 2, 1, 3) / share, weights / share)
    message = "it is not attention(q, k, v, mask, dropout, use_RoPE) of document 004, corrected"
    found = judged(asked, printed, message)
    if use_rope:
        return found
    plain = attention_plain(Q, K, V, given.mask)[0].transpose(0, 2, 1, 3)
    masked = literal_softmax(scaled_scores(Q, K), given.mask)
    message = "it is not the softmax of the literal reference over the keys that the mask leaves"
    return first(found, judged(asked, allowing(trial, case, given, plain, masked), message))


def _dropped(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Halve the weights: what a dropout does, without its chance."""
    return 0.5 * weights


def _whole_head(trial: Trial) -> str | None:
    """Need a head that rotates as a whole."""
    free = "rotary_dim" in trial.keywords("attention") or trial.profile.rotary_dim is None
    return None if free else "a head that rotates as a whole is not claimed"


@check(
    "ATT-4.no-keys",
    "Without any keys attention raises or divides by zero instead of giving zeros.",
    needs=_NEEDS,
    space=_SPACE,
    applies=lambda trial: None if trial.profile.empty else "no empty axes claimed",
    share=0.25,
)
def no_keys(trial: Trial, case: Case) -> Finding:
    """T = 0: the output is zero and the weights are empty."""
    asked = call_attention(trial, case, inputs(case, keys=0))
    if asked.problem:
        return asked.problem
    message = "without keys the output must be zero"
    zeros = np.zeros_like(asked.output)
    found = compare(asked.output, zeros, 0.0, name="output", message=message)
    return found.after(asked.call)
