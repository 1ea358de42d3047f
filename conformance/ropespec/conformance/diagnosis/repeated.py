"""Properties of the contract: the call on which a check failed is made again, and looked at."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ropespec.conformance.case import Case
from ropespec.conformance.diagnosis.told import fact
from ropespec.conformance.judge.fault import Fault
from ropespec.conformance.judge.finding import Finding
from ropespec.conformance.registry import Check, all_checks
from ropespec.conformance.results import CheckResult, Diagnosis, Status
from ropespec.conformance.subject.session import Session, SubjectError
from ropespec.conformance.subject.trespasses import Trespasses
from ropespec.conformance.trial import Trial, Unfit

__all__ = ["changed", "repeated"]


class _Property(NamedTuple):
    """What a check sees in one call.

    Attributes
    ----------
    key : str
        The mistake.
    said : str
        What the finding must say: other failures of the check are other properties.
    plain : tuple of str
        Checks of the plain call that must pass on the same case.
    step : int
        How far apart the seeds of the calls are. What checks choose by the seed they choose alike
        again at 60 more, and otherwise at 1 more.
    draws : int
        How many such calls are made.
    """

    key: str
    said: str = ""
    plain: tuple[str, ...] = ("ROT-6.value", "ROT-7.value")
    step: int = 60
    draws: int = 3


_KINDS = 6
_PATTERNS = 21
"""As many as there are for three position numbers, and more than one of them shows it."""

_TABLES = ("ROT-22.value",)
_PROPERTIES = {
    "AXES-1.alike": _Property("position number left out", step=1, draws=_PATTERNS),
    "FREQ-1.integers": _Property("dimension of few bits", "", ("FREQ-2.value",), 70),
    "FREQ-6.integers": _Property("positions of few bits"),
    "PUB-5.dtypes": _Property("dtype of the query", "must return dtype", ("PUB-5.value",)),
    "ROT-10.identity": _Property("not the identity at 0"),
    "ROT-17.rounded": _Property("result cut off", "cut off, not rounded"),
    "ROT-17.unrecorded": _Property("otherwise without a gradient"),
    "ROT-19.refilled": _Property("kept by memory"),
    "ROT-19.unrecorded": _Property("kept without a gradient"),
    "ROT-20.again": _Property("gradient changes what it needs"),
    "ROT-20.gradient": _Property("gradient of zeros", "depends on x"),
    "ROT-20.reused": _Property("positions read again"),
    "ROT-20.two-calls": _Property("tables of another call"),
    "ROT-20.second": _Property("gradient without a history"),
    "ROT-22.constant": _Property("gradient into the tables", "gets a gradient", _TABLES),
    "ROT-22.dtype": _Property("dtype of the tables", "y has dtype", _TABLES),
    "ROT-22.gradient": _Property("gradient by tables", "rotated back", _TABLES),
    "ROT-22.refused": _Property("tables not checked", "are accepted", _TABLES, 1, _KINDS),
    "ROT-22.tables": _Property("gradient of the tables", "gradient of", _TABLES),
    "ROT-23.gradient": _Property("written behind autograd"),
    "ROT-23.in-place": _Property("overwritten operand in place", "hold the numbers"),
    "ROT-23.out": _Property("out not written as asked"),
    "ROT-23.refused": _Property("unfit out accepted", "accepts an out", step=1, draws=_KINDS),
    "ROT-24.compiled": _Property("other numbers when compiled"),
    "ROT-24.jvp": _Property("tangent wrong", "tangent of forward mode"),
    "ROT-24.vmap": _Property("batching rule wrong", "vmap"),
}
"""Each of these compares with the plain call, so what it sees belongs to the other call, or, of
what is cut off, to the last step."""

_OF_ARGUMENTS = (
    _Property("cotangent overwritten", "the cotangent was overwritten", draws=1),
    _Property("tables overwritten", "apply_rotary_cos_sin: argument", _TABLES, draws=1),
    _Property("argument overwritten", "was overwritten", (), draws=1),
)
"""What ROT-17.arguments sees, which asks for all that the other checks ask."""

_COVERED = {
    "ROT-19.unrecorded": ("ROT-20.two-calls",),
    "ROT-20.again": ("ROT-20.gradient",),
    "ROT-20.second": ("ROT-20.gradient",),
    "ROT-20.reused": ("ROT-20.gradient", "ROT-20.two-calls"),
    "ROT-20.two-calls": ("ROT-19.history", "ROT-19.walk"),
    "ROT-23.in-place": ("ROT-23.out",),
    "ROT-23.refused": ("ROT-23.out", "ROT-23.in-place"),
    "ROT-24.vmap": ("ROT-17.unwritten", "ROT-24.compiled"),
}
"""Checks that say nothing new where one of others has failed."""


def repeated(session: Session, results: Sequence[CheckResult]) -> Iterator[Diagnosis]:
    """Name what is seen again when the failing call is made again on a fresh instance.

    An error is no evidence of a property, and nothing is named where the plain call of the same
    case is wrong as well.

    Parameters
    ----------
    session : Session
        The subject.
    results : sequence of CheckResult
        What the checks found.
    """
    known = {check.id: check for check in all_checks()}
    failed = {one.id for one in results if one.status is Status.FAIL}
    for result in results:
        wanted = _wanted(result)
        if wanted is None or result.id not in failed or failed & set(_COVERED.get(result.id, ())):
            continue
        if result.counterexample is not None:
            case = Case.read(result.counterexample.case, session.profile.rotation)
            told = _seen(session, known, known[result.id], wanted, case)
            yield from [told] if told else []


def changed(results: Sequence[CheckResult]) -> Iterator[Diagnosis]:
    """Say that earlier calls are to blame for a failing call, if a check found that.

    Parameters
    ----------
    results : sequence of CheckResult
        What the checks found.
    """
    for result in results:
        blames = result.stateful or result.id in _OF_CALLS_BEFORE
        if result.status is Status.FAIL and blames:
            said = f"{result.message[:1].upper()}{result.message.partition(chr(10))[0][1:]}."
            seen = "the check found it right on a fresh instance"
            key = _KEPT.get(result.id, "changed by earlier calls")
            yield fact(key, said, f"what {result.id} asks", seen)
            return


_KEPT = dict.fromkeys(("SCAL-1.apart", "SCAL-8.apart"), "scheme of another call")
"""What a check says is kept, where that is more than that earlier calls are to blame."""

_OF_CALLS_BEFORE = {
    *(f"ROT-19.{one}" for one in ("dtypes", "generation", "grown", "likeness", "walk")),
    *_KEPT,
}
"""What makes several calls, and blames those before the last one if that passes alone."""


def _wanted(result: CheckResult) -> _Property | None:
    if result.id != "ROT-17.arguments":
        return _PROPERTIES.get(result.id)
    return next((one for one in _OF_ARGUMENTS if one.said in result.message), None)


def _seen(
    session: Session, known: dict[str, Check], check: Check, wanted: _Property, case: Case
) -> Diagnosis | None:
    """Make the call again, and with other numbers; None if the property is not seen in it."""
    hit, said = 0, ""
    for draw in range(wanted.draws):
        session.refresh()
        session.trespasses = Trespasses()
        again = replace(case, seed=case.seed + wanted.step * draw)
        trial = Trial(session)
        found = _judged(check, trial, again)
        if found is None or found.passed:
            if draw == 0:
                return None
            continue
        if wanted.said not in found.message:
            continue
        plain = [known[id_] for id_ in wanted.plain if not known[id_].reason_to_skip(trial)]
        if any((one := _judged(item, trial, again)) is None or not one.passed for item in plain):
            return None
        hit, said = hit + 1, said or found.message.partition("\n")[0]
    if not hit:
        return None
    times = "1 call" if hit == 1 else f"{hit} calls"
    evidence = f"seen in {times}, each of a fresh instance, and not in the plain call of the same x"
    return fact(wanted.key, f"{said[0].upper()}{said[1:]}.", f"what {check.id} asks", evidence)


def _judged(check: Check, trial: Trial, case: Case) -> Finding | None:
    """Judge a case; None if no array came back that could be judged."""
    try:
        with np.errstate(invalid="ignore"):
            found = check.judge(trial, case)
    except (SubjectError, Unfit):
        return None
    return None if found.fault is Fault.FORM else found
