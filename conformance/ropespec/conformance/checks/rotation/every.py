"""A check that visits every position (ROT-9)."""

import numpy as np

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.walked import listed, usual_case
from ropespec.conformance.coverage.positions import blocks, units_of, unsettled
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge.finding import Finding, held, worst
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial

__all__: list[str] = []

FEW = 512
"""Tokens that are judged at a time."""


def _blocks(trial: Trial, seed: int, strength: int) -> Walk:
    del strength
    cases = list(blocks(trial.profile, usual_case(trial, seed)))
    runs = [case for case in cases if case.positions == "arange"]
    return listed(cases, (0, max(case.start + case.seq for case in runs) - 1))


@check(
    "ROT-9.every",
    "At one position of those claimed the result is another: a table ends there, wraps, or has a "
    "wrong entry.",
    space=Space(values=("ones",), positions=("arange",)),
)
@walks(_blocks)
def every(trial: Trial, case: Case) -> Finding:
    """Unit pairs show cos and sin of every pair at every position."""
    units = units_of(case)
    x, positions = units.x.astype(case.numpy_dtype), units.positions
    y = trial.rotate(case, x, positions)
    left, found, settled_by = np.arange(case.seq), [held()], None
    while left.size:
        best = (trial.measured.tried(case.dtype) or [trial.loosest(case.dtype)])[0]
        if best is not settled_by:  # what was judged may have shown that fewer bits are kept
            open_ = unsettled(y, units, best, trial.machine)
            left = left[np.isin(left, open_)] if open_.size else open_
            settled_by = best
        some, left = left[:FEW], left[FEW:]
        if some.size:
            finding = trial.judge(case, x[:, some], positions[:, some], y[:, some])
            if not finding.passed:
                return finding
            found.append(finding)
    return worst(*found)
