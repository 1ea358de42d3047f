"""Checks of given memory that does not fit (ROT-23): refused, or as right as it can be."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.checks.rotation.into import (
    SPACE,
    Asked,
    asked_of,
    into,
    ordered,
    passed,
    takes_out,
)
from ropespec.conformance.checks.rotation.walked import every_item
from ropespec.conformance.judge.finding import Finding, broken, compare, held, worst
from ropespec.conformance.registry import check, walks
from ropespec.conformance.subject.session import NotPossible, Reply, SubjectRaised
from ropespec.conformance.trial import Trial

__all__: list[str] = []

Array = NDArray[Any]

_UNFIT = {
    "shape": "an out of another shape",
    "dtype": "an out of another dtype",
    "shifted": "an out that overlaps x in part",
    "folded": "an out whose elements share memory",
}


@check(
    "ROT-23.refused",
    "An out of another shape or dtype, or that overlaps x in part, or itself, gives wrong numbers.",
    needs=(),
    space=dataclasses.replace(SPACE, strided=False),
    applies=takes_out,
)
@walks(every_item(len(_UNFIT)))
def refused(trial: Trial, case: Case) -> Finding:
    """An out that does not fit is refused, or at least holds the right numbers, as far as it can.

    Who promises the errors of ROT-21 refuses it in their words. Where elements share memory nothing
    else could be right, so that is asked of nobody else.
    """
    kind = list(_UNFIT)[case.seed % len(_UNFIT)]
    if kind == "folded" and not trial.profile.refusals:
        raise NotPossible("no errors are promised, and no number could be right")
    findings = []
    for asked in asked_of(trial, case):
        try:
            got = _unfit(trial, asked, kind)
        except SubjectRaised as error:
            findings.append(_refusal(trial, asked, kind, error))
            continue
        if trial.profile.refusals:
            return broken(f"{asked.function} accepts {_UNFIT[kind]}", call=asked.call)
        findings.append(_right(trial, case, asked, got, kind))
    return worst(*findings)


def _unfit(trial: Trial, asked: Asked, kind: str) -> Reply:
    if kind in ("shifted", "folded"):
        return into(trial, asked, kind)
    x = asked.arrays[0]
    made = np.zeros(x.shape[1:] if kind == "shape" else x.shape, x.dtype)
    if kind == "dtype":
        made = made.astype(_other_than(x.dtype))
    return trial.session.call(
        asked.function, asked.arrays, keywords={**passed(trial, asked), "out": made}
    )


def _refusal(trial: Trial, asked: Asked, kind: str, error: SubjectRaised) -> Finding:
    wanted = "ArgumentTypeError" if kind == "dtype" else "ArgumentValueError"
    if not trial.profile.refusals:
        return held()
    if error.type_name == wanted and error.message.startswith("out must be"):
        return held()
    said = f"{error.type_name}: {error.message}"
    message = f"{asked.function} refuses {_UNFIT[kind]} by {said}; expected {wanted}"
    return broken(message, call=asked.call)


def _other_than(dtype: np.dtype[Any]) -> type[np.floating]:
    return np.float16 if dtype.itemsize > 2 else np.float32


def _rounding_to(dtype: type[np.floating], exact: Array) -> Array:
    """Return by how much a number may be off because it was stored in another dtype."""
    held = np.finfo(dtype)
    rounding = np.abs(exact) * float(held.eps) + float(held.smallest_subnormal)
    return np.where(np.abs(exact) > float(held.max), np.inf, rounding)


def _right(trial: Trial, case: Case, asked: Asked, got: Reply, kind: str) -> Finding:
    message = f"{asked.function} accepts {_UNFIT[kind]}, and its numbers are wrong"
    expected = ordered(trial, asked, asked.exact.y)
    allowed = asked.exact.allowed(trial.loosest(case.dtype), trial.machine)
    if kind == "dtype":
        allowed = allowed + _rounding_to(_other_than(asked.arrays[0].dtype), asked.exact.y)
    if got.values[0].shape != expected.shape:
        return broken(message, call=asked.call)
    return compare(
        got.values[0],
        expected,
        ordered(trial, asked, allowed),
        name="out",
        message=message,
    ).after(asked.call)
