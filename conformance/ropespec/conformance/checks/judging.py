"""Checks of the chapter `judging`: the literal reference as a second source, and precision."""

import dataclasses

import numpy as np

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import EVERYTHING, called
from ropespec.conformance.checks.shared import literal_rotation
from ropespec.conformance.judge.budget import angle_error
from ropespec.conformance.judge.fault import Fault
from ropespec.conformance.judge.finding import Finding, compare
from ropespec.conformance.judge.precision import STAGES, Precision
from ropespec.conformance.judge.rotation import from_pairs
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial

__all__: list[str] = []


@check(
    "JDG-1.reference",
    "The result agrees with the judge but not with the formula as the documents print it.",
    names=("P-47",),
    space=Space(values=("normal", "heavy"), positions=("arange", "ragged", "negative", "spread")),
    general=True,
)
def against_reference(trial: Trial, case: Case) -> Finding:
    """Apply_rotary equals the literal NumPy reference within both their budgets."""
    positions = case.make_positions()
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    literal = literal_rotation(case, x.astype(np.float64), positions)
    exact = trial.expect(case, x, positions)
    pairs = exact.pairs
    # The reference multiplies float64(m) by a rounded theta_i: its own share of the error.
    own = angle_error(
        "float64",
        pairs.position,
        pairs.theta,
        arithmetic="float64",
        machine=trial.machine,
        of=pairs.of,
    )
    length = pairs.gain * np.minimum(own, 2.0) * np.hypot(pairs.x1, pairs.x2)
    length += pairs.gain * 2.0**-50 * (np.abs(pairs.x1) + np.abs(pairs.x2))
    extra = from_pairs(length, length, np.zeros_like(exact.tail), case.convention)
    allowed = exact.allowed(trial.loosest(case.dtype), trial.machine) + extra
    finding = compare(y, literal, allowed, message="y differs from the literal reference")
    return finding.after(called(case, x, positions))


def _name_the_class(trial: Trial, case: Case, finding: Finding) -> Finding:
    """Name the class that explains every result seen so far, if one does."""
    if finding.fault is Fault.FLUSHED:
        return finding
    declared = trial.profile.precision
    standing = trial.measured.tried(case.dtype)
    suspects = trial.measured.suspects(case.dtype)
    if standing:
        allowed = f"`{declared}` is claimed" if declared else f"x is {case.dtype}"
        best = standing[0]
        message = f"{_overran(trial, case, best, finding)} ({best.sentence}), and {allowed}"
    elif suspects:
        names = " or ".join(f"`{item.name}` ({item.sentence})" for item in suspects[:2])
        times = f"{finding.ratio:.2g} times"
        message = f"the angle overran its budget by {times}: the error is that of {names}"
    else:
        message = "no precision class explains the error: it is not a matter of rounding"
        return dataclasses.replace(finding, message=message, general=True)
    return dataclasses.replace(finding, message=message)


def _overran(trial: Trial, case: Case, best: Precision, finding: Finding) -> str:
    """Say which stages the class that fits chooses worse than the one that is allowed."""
    allowed = trial.loosest(case.dtype)
    worse = [stage for stage in STAGES if getattr(best, stage) != getattr(allowed, stage)]
    stages = " and ".join(worse) or "store"
    times = f"{finding.ratio:.2g} times"
    return f"{stages} overran the budget by {times}: the error is that of `{best.name}`"


@check(
    "JDG-3.precision",
    "Positions, frequencies, angles, tables or products have fewer bits than they may.",
    names=(),
    # Angles of the first pair are integers: exact in every class, they tell nothing.
    space=Space(values=EVERYTHING, positions=("arange", "spread", "repeated"), min_dim=4),
    share=3.0,
    explain=_name_the_class,
    every_dtype=True,
)
def precision(trial: Trial, case: Case) -> Finding:
    """The error stays within the budget of a passing precision class; if not, it is named."""
    return trial.rotate_and_judge(case)
