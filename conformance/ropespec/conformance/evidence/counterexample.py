"""The smallest failing input, written out for a person to look at and to run."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ropespec.conformance.case import Case
from ropespec.conformance.evidence.choice import ROTATIONS, choose
from ropespec.conformance.judge.finding import Finding, broken
from ropespec.conformance.results import Counterexample
from ropespec.conformance.subject.asked import Asked
from ropespec.conformance.subject.schemes import Value
from ropespec.conformance.subject.session import (
    SubjectError,
    SubjectRaised,
    TargetUnusable,
)
from ropespec.conformance.trial import Trial, Unfit

__all__ = ["counterexample"]

LISTED = 32
LOST = "it ends its process, or does not come to an end"
PASSES = "asked once more, the same case passes"
OTHERWISE = "asked once more, the same case ends otherwise"

Judge = Callable[[Trial, Case], Finding]


def counterexample(
    trial: Trial, judge: Judge, case: Case, outcome: Finding | SubjectError
) -> Counterexample:
    """Describe a failing case.

    The case is judged once more to see what is asked of the subject.

    Parameters
    ----------
    trial : Trial
        The subject.
    judge : callable
        The check.
    case : Case
        The smallest case that fails.
    outcome : Finding or SubjectError
        What was found, or what became of the subject.
    """
    if isinstance(outcome, SubjectError) and not isinstance(outcome, SubjectRaised):
        return _untold(trial, case, LOST)  # what was asked last is gone with the process
    tape, again = _again(trial, judge, case)
    reason = _not_again(outcome, again)
    if reason and isinstance(outcome, SubjectError):
        return _untold(trial, case, reason)  # the calls that were made now raised nothing
    if reason or again is None:
        again = outcome
    finding = again if isinstance(again, Finding) else broken(str(again))
    choice = choose(trial, finding, tape)
    where, expected, got, budget, off, of = choice.element
    return Counterexample(
        case=_case_of(finding.case or case, choice.calls),
        inputs=_inputs(choice.calls),
        where=where,
        expected=expected,
        got=got,
        budget=budget,
        off=off,
        of=of,
        drafts=() if reason else choice.drafts,
        no_script=reason or choice.reason,
    )


def _not_again(outcome: Finding | SubjectError, again: Finding | SubjectError | None) -> str:
    """Say how a case ended that was judged once more; nothing if it ended in the same way."""
    if isinstance(again, Finding) and again.passed:
        return PASSES
    return "" if type(again) is type(outcome) else OTHERWISE


def _untold(trial: Trial, case: Case, reason: str) -> Counterexample:
    """Describe a case of which no call can be told; most checks begin with this one."""
    inputs = _inputs((_rotation(case),)) if "apply_rotary" in trial.session.offers else {}
    return Counterexample(case.as_dict(), inputs, "", None, None, None, no_script=reason)


def _again(
    trial: Trial, judge: Judge, case: Case
) -> tuple[Sequence[Asked], Finding | SubjectError | None]:
    """Judge a case, and keep what is asked; None for an outcome that nobody expected."""
    outcome: Finding | SubjectError | None
    with trial.session.recording() as tape:
        try:
            with np.errstate(invalid="ignore"):
                outcome = judge(trial, case)
        except Unfit as error:
            outcome = error.finding
        except SubjectError as error:
            outcome = error
        except TargetUnusable:
            raise
        except Exception:  # noqa: BLE001  # what it raises depends on what came back
            outcome = None
    return tape, outcome


def _case_of(case: Case, calls: Sequence[Asked]) -> dict[str, Any]:
    """Return the case that was drawn, with shape, dtype and strides of the x that is shown."""
    drawn = case.as_dict()
    if not calls or calls[0].function not in ROTATIONS or np.ndim(calls[0].arrays[0]) != 4:
        return drawn
    x = calls[0].arrays[0]
    shape = dict(zip(("batch", "seq", "heads", "head_dim"), x.shape, strict=True))
    return drawn | shape | {"dtype": x.dtype.name, "strided": calls[0].strided}


def _rotation(case: Case) -> Asked:
    positions = case.make_positions()
    return Asked("rotate", ROTATIONS[0], (case.make_x(positions), positions), case.keywords)


def _inputs(calls: Sequence[Asked]) -> dict[str, Any]:
    if not calls:
        return {}
    inputs: dict[str, Any] = {"function": calls[0].function}
    for number, asked in enumerate(calls):
        for name, value in zip(_names(asked, number, len(calls)), asked.arrays, strict=True):
            inputs[name] = _value(value)
    if calls[0].do == "vjp":
        inputs["cotangent"] = _value(calls[0].extra[0])
    keywords: Mapping[str, Any] = calls[0].stated or calls[0].keywords
    return inputs | {key: _value(value) for key, value in keywords.items()}


def _names(asked: Asked, number: int, count: int) -> tuple[str, ...]:
    """Name the positional arguments of a call."""
    if asked.function not in ROTATIONS or len(asked.arrays) != 2:
        return tuple(f"argument {place}" for place in range(1, len(asked.arrays) + 1))
    return ("x", "positions") if count == 1 else (("q", "m"), ("k", "n"))[number]


def _value(value: Any) -> Any:  # noqa: ANN401  # an array, or a plain value
    if isinstance(value, Value):
        return repr(value)
    if not isinstance(value, np.ndarray):
        return value
    if 0 < value.size <= LISTED:
        plain = value if value.dtype.kind in "biufc" else value.astype(np.float64)
        if plain.dtype.kind == "c":
            return [str(item) for item in plain.ravel()]
        return plain.tolist()
    return f"an array of shape {value.shape} and dtype {value.dtype.name}"
