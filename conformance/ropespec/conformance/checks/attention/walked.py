"""A check that walks masks, lengths and heads of attention (ATT-2)."""

import dataclasses
from typing import Any

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.attention.common import Inputs, attend, call_attention, judged
from ropespec.conformance.checks.rotation.walked import usual_case
from ropespec.conformance.checks.shared import NEAR, draw
from ropespec.conformance.coverage.array import Levels
from ropespec.conformance.coverage.attending import (
    Place,
    attention_rows,
    attention_table,
    masked,
    pair_of,
)
from ropespec.conformance.coverage.rows import Row, Walk
from ropespec.conformance.judge.finding import Finding
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial

__all__: list[str] = []

LARGE = 256.0
"""Scores so large that their exponentials would overflow."""


def _all_pairs(trial: Trial, seed: int, strength: int) -> Walk:
    del seed, strength  # the number of a row is its seed
    count = attention_table(trial.profile).count()
    usual = dataclasses.replace(usual_case(trial, 0), limit=min(NEAR, trial.profile.max_position))
    rows = attention_rows(trial.profile)
    cases = (dataclasses.replace(usual, seed=number) for number in range(len(rows)))
    return Walk([Row(*one) for one in zip(rows, cases, strict=True)], count)


@check(
    "ATT-2.value",
    "The mask acts after the softmax, is inverted, counted from the wrong end, or not looked at "
    "for some number of queries, keys or heads.",
    needs=("attention",),
    names=("F-193", "E-58", "E-59", "P-35"),
    space=Space(max_position=NEAR),
    every_dtype=True,
)
@walks(_all_pairs)
def value(trial: Trial, case: Case) -> Finding:
    """Masked scores are minus infinity before the softmax, so that the others sum to 1."""
    rows = attention_rows(trial.profile)
    case, given = _inputs(case, rows[case.seed % len(rows)])
    message = "attention with a mask is not the softmax over the keys it leaves"
    return judged(call_attention(trial, case, given), attend(trial, case, given), message)


def _inputs(case: Case, levels: Levels) -> tuple[Case, Inputs]:
    """Make the case of a row, and its arguments."""
    named: dict[str, Any] = dict(levels)
    (queries, keys), (heads, groups) = pair_of(named["lengths"]), pair_of(named["heads"])
    case = dataclasses.replace(
        case,
        batch=named["rows"],
        seq=queries,
        heads=heads,
        head_dim=named["head_dim"],
        dtype=named["dtype"],
        positions=named["positions"],
        start=case.start % 64,
    )
    if case.dim > case.head_dim:  # it was drawn for another size
        case = case.stating(rotary_dim=None)
    q = draw(case, case.shape, 0)
    k, v = (draw(case, (case.batch, keys, groups, case.head_dim), salt) for salt in (1, 2))
    if named["scores"] == "large":
        q = (q.astype("float64") * LARGE).astype(q.dtype)
    m = case.make_positions()
    n = dataclasses.replace(case, seq=keys).make_positions()
    at = Place((case.batch, heads, queries, keys), m, n, case.seed)
    mask = masked(named["mask"], named["axes of the mask"], at)
    return case, Inputs(q, k, v, m, n, mask)
