"""Checks that calls leave no trace: those of another kind, and those much like it (ROT-19)."""

import dataclasses
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import differentiable
from ropespec.conformance.checks.rotation.walked import (
    blamed_on_others,
    judged_at,
    listed,
    usual_alone,
    usual_case,
    widened,
)
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge.finding import Finding, broken, compare, held
from ropespec.conformance.registry import check, walks
from ropespec.conformance.subject.session import NotPossible, SubjectRaised
from ropespec.conformance.trial import Trial, unfit
from ropespec.spec.convention import Keywords

__all__: list[str] = []

ROUND = (0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3, 0)
"""A way along each of the twelve arrows between nothing, one, the other and both."""

EDGES = tuple(2**n - 1 for n in range(3, 18))
"""Where tables are usually cut."""

LONGER = 4


@dataclass(frozen=True, slots=True)
class Step:
    """A call: of which case, and in which mode."""

    case: Case
    mode: str = "plain"


Change = Callable[[Step], Step]


def _set(**values: object) -> Change:
    def change(step: Step) -> Step:
        return dataclasses.replace(step, case=dataclasses.replace(step.case, **values))  # type: ignore[arg-type]  # fields of a case

    return change


def _state(**keywords: Unpack[Keywords]) -> Change:
    return lambda step: dataclasses.replace(step, case=step.case.stating(**keywords))


def changes(trial: Trial, case: Case) -> list[Change]:
    """Return what may change from one call to the next: each makes one thing of a case another."""
    claimed, takes = trial.profile, trial.keywords("apply_rotary")
    found: list[Change] = []
    if claimed.compiles:
        found.append(lambda step: dataclasses.replace(step, case=widened(claimed, step.case)))
    else:
        tokens = min(case.seq + LONGER, trial.most_tokens(case.batch))
        found += [_set(seq=tokens)] * (tokens > case.seq)
        wider = claimed.max_tokens is None or case.seq * (case.batch + 1) <= claimed.max_tokens
        found += [_set(batch=case.batch + 1)] * (wider and claimed.axes != "shd")
        found += [_set(head_dim=dim) for dim in claimed.head_dims if dim > case.head_dim][-1:]
        if "rotary_dim" in takes and case.head_dim > 2:
            found.append(_state(rotary_dim=2))
    if edges := [edge for edge in EDGES if edge + case.seq + LONGER <= case.limit]:
        found.append(_set(start=edges[case.seed % len(edges)]))
    found += [_set(dtype=dtype) for dtype in claimed.dtypes if dtype != case.dtype][:2]
    if "base" in takes:
        found.append(_state(base=10000.0 if case.frequencies.base != 10000.0 else 500000.0))
    if "interleaved" in takes and len(set(claimed.layouts)) == 2:
        found.append(_state(interleaved=not case.keywords["interleaved"]))
    return [*found, *_modes(trial)]


def _modes(trial: Trial) -> list[Change]:
    modes = []
    if trial.profile.gradients and differentiable(trial) is None:
        modes.append("gradient")
    if trial.profile.framework.unrecorded:
        modes.append("unrecorded")
    return [lambda step, mode=mode: dataclasses.replace(step, mode=mode) for mode in modes]  # type: ignore[misc]  # bound now


def _pairs(trial: Trial, case: Case) -> list[tuple[Change, Change]]:
    return list(itertools.combinations(changes(trial, case), 2))


def _every_pair(trial: Trial, seed: int, strength: int) -> Walk:
    del seed, strength
    usual = usual_case(trial, 0)
    return listed(
        dataclasses.replace(usual, seed=number) for number in range(len(_pairs(trial, usual)))
    )


@check(
    "ROT-19.walk",
    "A call depends on the calls before it: a cache is keyed by too little, or grows wrongly.",
    space=Space(values=("normal",), positions=("arange", "ragged")),
)
@walks(_every_pair)
def leaves_no_trace(trial: Trial, case: Case) -> Finding:
    """A call that is wrong after others is right on a fresh instance: then the others are to blame.

    A call that is wrong on a fresh instance too is the business of other checks.
    """
    pairs = _pairs(trial, case)
    if not pairs:
        return held()
    one, other = pairs[case.seed % len(pairs)]
    start = Step(case)
    steps = (start, one(start), other(start), other(one(start)))
    for number, place in enumerate(ROUND, start=1):
        finding = _made(trial, steps[place])
        if finding.passed:
            continue
        message = (
            f"call {number} of a sequence is wrong, and right on a fresh instance: earlier calls "
            "of other lengths, dtypes or positions changed it"
        )
        return blamed_on_others(trial, finding, partial(_made, trial, steps[place]), message)
    return held()


def _takes_both_modes(trial: Trial) -> str | None:
    if not trial.profile.framework.unrecorded:
        return f"{trial.profile.array} records nothing"
    if not trial.profile.gradients:
        return "no gradient claimed"
    return differentiable(trial)


@check(
    "ROT-19.unrecorded",
    "What is kept of a call that records no gradient cannot be used where one is taken.",
    space=Space(values=("normal",)),
    applies=_takes_both_modes,
)
@walks(usual_alone)
def leaves_what_can_be_recorded(trial: Trial, case: Case) -> Finding:
    """The first call of an instance records nothing, and the gradient is taken at the second."""
    plain, back = Step(case, mode="unrecorded"), Step(case, mode="gradient")
    trial.session.refresh()
    if not _made(trial, plain).passed:
        return held()
    try:
        found = _made(trial, back)
    except SubjectRaised as error:
        trial.session.refresh()
        if not _made(trial, back).passed:
            raise
        found = broken(f"the gradient raises {error}")
    where = f"after a first call under {trial.profile.framework.unrecorded}"
    return found if found.passed else dataclasses.replace(found, message=f"{where} {found.message}")


def _made(trial: Trial, step: Step) -> Finding:
    case = step.case
    positions = case.make_positions()
    if step.mode == "plain":
        return judged_at(trial, case, positions)
    x = case.make_x(positions)
    if step.mode == "gradient":
        return _back(trial, case, x, positions)
    try:
        rotated = trial.session.rotate_unrecorded(x, positions, keywords=case.keywords)
    except NotPossible:
        return held()
    return unfit(rotated, x) or trial.judge(case, x, positions, rotated.y)


def _back(
    trial: Trial, case: Case, x: NDArray[np.floating], positions: NDArray[np.int64]
) -> Finding:
    got = trial.rotate_vjp(case, x, positions, x)
    exact = trial.expect(case, x, -positions)
    allowed = exact.allowed(trial.loosest(case.dtype), trial.machine)
    return compare(got, exact.y, allowed, name="gradient")
