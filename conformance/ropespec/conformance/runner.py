"""Runs checks on a subject: cases from Hypothesis, one result per check, one verdict at the end."""

import math
import platform
import time
import traceback
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import target

from ropespec.conformance.case import Case
from ropespec.conformance.coverage.array import PAIRS, TRIPLES
from ropespec.conformance.diagnosis import diagnose
from ropespec.conformance.drawing import cases
from ropespec.conformance.evidence.counterexample import PASSES, counterexample
from ropespec.conformance.judge.fault import Fault
from ropespec.conformance.judge.finding import FLUSHED, Finding
from ropespec.conformance.order import telling_first
from ropespec.conformance.registry import Check, Walker, all_checks
from ropespec.conformance.report.document import version
from ropespec.conformance.results import OVERDUE, CheckResult, Diagnosis, Status, Verdict
from ropespec.conformance.search import (
    EXAMPLES,
    EXAMPLES_COMPILED,
    FULL,
    PATIENCE_WALKED,
    Enough,
    Failed,
    Outcome,
    Search,
)
from ropespec.conformance.spent import Spent
from ropespec.conformance.subject.session import (
    NotPossible,
    Session,
    SubjectCrashed,
    SubjectError,
    SubjectRaised,
    SubjectTimeout,
    TargetUnusable,
)
from ropespec.conformance.subject.trespasses import Trespasses
from ropespec.conformance.trial import Trial, Unfit
from ropespec.conformance.waivers import unneeded, with_waivers
from ropespec.spec import CHAPTERS, clauses

__all__ = ["Plan", "explained", "lost", "run", "run_check", "select"]

FATAL_LIMIT = 3
"""In how many checks a subject is lost before nothing more is asked of it."""

BLAME = "a call before it is to blame"

OnResult = Callable[[CheckResult, int, int], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run.

    Attributes
    ----------
    seed : int
        The same seed gives the same cases everywhere.
    full : bool
        Ten times as many cases.
    only : tuple of str
        Clauses, the letters they begin with, checks or chapters; empty for all.
    deadline : float
        Seconds for the whole run; checks that it leaves no time for are skipped.
    """

    seed: int = 0
    full: bool = False
    only: tuple[str, ...] = ()
    deadline: float = math.inf


class _BrokenCheckError(SubjectError):
    """A check raised on a result that nobody expected: an error, but no words of the subject."""

    @classmethod
    def by(cls, error: Exception) -> "_BrokenCheckError":
        """Say what was raised, and where."""
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = " ".join(str(error).split())[:200]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        return cls(f"the check cannot judge this: {type(error).__name__}: {text} ({where})")


def select(plan: Plan) -> tuple[Check, ...]:
    """Return the checks of a plan.

    Raises
    ------
    ValueError
        If `only` names something that is no clause, prefix of clauses, check or chapter.
    """
    checks = all_checks()
    if not plan.only:
        return checks
    chosen: list[Check] = []
    for name in plan.only:
        found = [item for item in checks if _named(item, name)]
        if not found:
            known = "a clause such as ROT-6, ROT for all of them, a check such as ROT-6.value, or a"
            known += " chapter"
            raise ValueError(f"no check is called {name!r}; give {known}: {', '.join(CHAPTERS)}")
        chosen += [item for item in found if item not in chosen]
    return tuple(item for item in checks if item in chosen)


def _named(item: Check, name: str) -> bool:
    clause = clauses().get(item.clause)
    prefix = item.clause.partition("-")[0]
    same = name.lower() in (item.id.lower(), item.clause.lower(), prefix.lower())
    return same or (clause is not None and clause.chapter == name.lower())


def run(session: Session, plan: Plan, on_result: OnResult | None = None) -> Verdict:
    """Run the checks of a plan on a subject.

    Parameters
    ----------
    session : Session
        The subject, loaded.
    plan : Plan
        What to run.
    on_result : callable or None
        Called with each result, how many came before it, and the number of checks.

    Returns
    -------
    Verdict
        One result per check, in the order of the specification, which is not that of the run.
    """
    began = time.perf_counter()
    trial = Trial(session)
    session.head_dims.clear()  # what was called before is no check
    session.spent = Spent()
    session.trespasses = Trespasses()
    checks = select(plan)
    done: dict[str, CheckResult] = {}
    for index, item in enumerate(telling_first(checks)):
        late = time.perf_counter() - began > plan.deadline
        if reason := _overdue(plan) if late else lost(tuple(done.values())):
            result = _result(item, Status.SKIP, message=reason)
        else:
            result = with_waivers(run_check(item, trial, plan), session.waivers)
        done[item.id] = result
        if result.status is Status.ERROR and trial.worn:
            session.refresh()
        if on_result is not None:
            on_result(result, index, len(checks))
    results = tuple(done[item.id] for item in checks)
    verdict = Verdict(
        subject=session.target,
        profile=session.profile.as_dict(),
        seed=plan.seed,
        precision_by_dtype=trial.measured.best(),
        checks=results,
        environment=_environment(session),
        head_dims=tuple(one for one in session.profile.head_dims if one in session.head_dims),
        waivers=dict(session.waivers),
        unneeded=unneeded(session.waivers, results),
        lacks=session.lacks,
        coverage=trial.covered.as_dict(session.profile),
        style=None if session.style is None else session.style.as_dict(),
    )
    verdict = explained(session, verdict)
    session.refresh()  # what outlives its process is known when that has ended
    return replace(
        verdict,
        stragglers=dict(session.stragglers),
        spent=asdict(session.spent),
        duration=time.perf_counter() - began,
    )


def lost(results: Sequence[CheckResult]) -> str:
    """Say why nothing more is asked of a subject that was lost again and again; empty if it is."""
    lost = [one.id for one in results if one.status in (Status.CRASH, Status.TIMEOUT)]
    return f"not run: the subject was lost in {', '.join(lost)}" if len(lost) >= FATAL_LIMIT else ""


def _overdue(plan: Plan) -> str:
    return f"{OVERDUE} of {plan.deadline:g} s had passed"


def explained(session: Session, verdict: Verdict) -> Verdict:
    """Follow failures by a diagnosis: what is wrong is reproduced, and named if that succeeds.

    Parameters
    ----------
    session : Session
        The subject.
    verdict : Verdict
        What the checks found.

    Returns
    -------
    Verdict
        With the diagnosis, at the top and with each failed check; unchanged if it conforms.
    """
    if not verdict.failures:
        return verdict
    evident = _evident(verdict)
    names: tuple[Diagnosis, ...] = evident
    if not evident or evident[0].name not in _LOST.values():
        session.refresh()  # what the checks left behind is no part of the subject
        try:
            names = diagnose(session, verdict.checks)
        except TargetUnusable:
            raise
        except Exception as error:  # noqa: BLE001  # what it answers is its own affair
            said = f"What came back could not be examined: {type(error).__name__}: {error}."
            names = (Diagnosis("", "unknown", said),)
        if evident and all(item.name == "unknown" for item in names):
            names = evident
    checks = tuple(
        result if result.status.conforms else replace(result, diagnosis=names)
        for result in verdict.checks
    )
    return replace(verdict, checks=checks, diagnosis=names)


_LOST = {Status.CRASH: "it crashes", Status.TIMEOUT: "it hangs"}


def _evident(verdict: Verdict) -> tuple[Diagnosis, ...]:
    """Name what needs no search: the subject was lost, or returns no array that could be judged."""
    for result in verdict.failures:
        said = result.message.partition("\n")[0]
        if result.status in _LOST:
            return (Diagnosis("", _LOST[result.status], f"In {result.id}: {said}."),)
    if all(result.status is Status.ERROR for result in verdict.failures):
        # The one that was tried again says more.
        first = sorted(verdict.failures, key=lambda result: not result.stateful)
        said = first[0].message.partition("\n")[0]
        where = ", ".join(result.id for result in first[:3])
        return (Diagnosis("", "it raises", f"In {where}: {said}."),)
    wanted = [verdict.failures[0], *(one for one in verdict.failures if one.clause == "ROT-17")]
    for result in wanted:
        if result.fault is Fault.FORM:
            return (Diagnosis("", "other result", f"It {result.message}."),)
    if all(result.fault is Fault.FLUSHED for result in verdict.failures):
        return (Diagnosis("", "subnormals flushed", f"{FLUSHED[0].upper()}{FLUSHED[1:]}."),)
    return ()


def run_check(item: Check, trial: Trial, plan: Plan) -> CheckResult:
    """Run one check: draw cases, and on a failure look for the smallest that fails.

    Whatever a check raises on a result that nobody expected is an error of this subject's run, and
    never ends the run.
    """
    began = time.perf_counter()
    try:
        result = _run_check(item, trial, plan)
    except TargetUnusable:
        raise
    except Exception as error:  # noqa: BLE001  # what it raises depends on what came back
        result = _result(item, Status.ERROR, message=_BrokenCheckError.by(error).message)
    return replace(result, seconds=time.perf_counter() - began)


def _run_check(item: Check, trial: Trial, plan: Plan) -> CheckResult:
    if reason := item.reason_to_skip(trial):
        return _result(item, Status.SKIP, message=reason)
    search = Search(trial.effort, consequence=item.general, patient=plan.full)
    if item.walk is not None:
        search.patience = PATIENCE_WALKED
    if item.walk is not None and _walked(item, item.walk, trial, plan, search):
        return _conclude(item, trial, search)
    keywords = trial.keywords(item.needs[0]) if item.needs else frozenset()
    compiled = trial.profile.framework.compiles
    rotates = item.needs[:1] == ("apply_rotary",)
    few = EXAMPLES_COMPILED if rotates else EXAMPLES_COMPILED // 2
    each = few if compiled else EXAMPLES
    examples = max(1, round(each * item.share)) * (FULL if plan.full else 1)

    def body(case: Case) -> None:
        outcome = _outcome(item, trial, case, search)
        if isinstance(outcome, NotPossible):
            return  # it refused, which is no wrong number
        if isinstance(outcome, Finding) and outcome.passed:
            search.worst = max(search.worst or 0.0, outcome.ratio)
            if outcome.ratio > 0.0:
                target(min(outcome.ratio, 1.0))
            return
        search.note_failure(case, outcome)
        raise Failed

    claimed = trial.profile
    if compiled and not item.every_dtype:
        claimed = replace(claimed, dtypes=claimed.dtypes[:1])
    drawn = cases(claimed, keywords, item.space, whole_pool=plan.full or rotates)
    began, spent = time.perf_counter(), trial.session.spent
    before, search.first = spent.on_cases, plan.seed * examples
    search.run(drawn, body, zlib.crc32(item.id.encode()) ^ plan.seed, examples)
    spent.drawing += time.perf_counter() - began - (spent.on_cases - before)
    return _conclude(item, trial, search)


def _walked(item: Check, walk: Walker, trial: Trial, plan: Plan, search: Search) -> bool:
    """Judge what is walked, and count it; False at a failure, for which a smaller case is due."""
    steps = walk(trial, plan.seed, TRIPLES if plan.full else PAIRS)
    seen = []
    with suppress(Enough):
        for row in steps:
            outcome = _outcome(item, trial, row.case, search)
            if isinstance(outcome, NotPossible):
                continue
            if not (isinstance(outcome, Finding) and outcome.passed):
                search.note_failure(row.case, outcome)
                break
            search.worst = max(search.worst or 0.0, outcome.ratio)
            seen.append(row.levels)
    trial.covered.note(item.id, seen, steps)
    return search.failed is None


def _outcome(item: Check, trial: Trial, case: Case, search: Search) -> Outcome:
    """Judge a case once, for Hypothesis replays cases."""
    if case not in search.outcomes:
        search.require_more()
        began, spent = time.perf_counter(), trial.session.spent
        before = spent.on_cases
        search.outcomes[case] = _judged(item, trial, case)
        spent.judging += time.perf_counter() - began - (spent.on_cases - before)
    return search.outcomes[case]


def _judged(item: Check, trial: Trial, case: Case) -> Outcome:
    try:
        with np.errstate(invalid="ignore"):  # a subject's infinities are no warning of ours
            return item.judge(trial, case)
    except Unfit as error:
        return error.finding
    except SubjectError as error:
        return error
    except TargetUnusable:
        raise
    except Exception as error:  # noqa: BLE001  # what it raises depends on what came back
        return _BrokenCheckError.by(error)


def _conclude(item: Check, trial: Trial, search: Search) -> CheckResult:
    if search.refused is not None:
        return _result(item, Status.SKIP, message=search.refused.message)
    if search.failed is None:
        cut = search.cut
        return _result(item, Status.PASS, examples=search.judged, worst=search.worst, cut=cut)
    case, outcome = search.failed
    if isinstance(outcome, Finding):
        if item.explain is not None and outcome.fault is not Fault.FORM:
            outcome = item.explain(trial, case, outcome)
        shown = counterexample(trial, item.judge, case, outcome)
        found = _result(
            item,
            Status.FAIL,
            examples=search.judged,
            worst=outcome.ratio,
            message=outcome.message,
            counterexample=replace(shown, smallest=search.smallest),
            general=item.general or outcome.general,
            fault=outcome.fault,
        )
        return _replayed(item, trial, case, found)
    kinds = {SubjectCrashed: Status.CRASH, SubjectTimeout: Status.TIMEOUT}
    status = next((kinds[kind] for kind in kinds if isinstance(outcome, kind)), Status.ERROR)
    detail = f"\n{outcome.detail}" if outcome.detail else ""
    raised = f"{outcome.type_name}: " if isinstance(outcome, SubjectRaised) else ""
    shown = counterexample(trial, item.judge, case, outcome)
    found = _result(
        item,
        status,
        examples=search.judged,
        message=f"{raised}{outcome.message}{detail}",
        counterexample=replace(shown, smallest=search.smallest),
    )
    return _replayed(item, trial, case, found)


def _replayed(item: Check, trial: Trial, case: Case, found: CheckResult) -> CheckResult:
    """Try the first failure again on a fresh instance: if it passes, earlier calls are to blame."""
    if found.status not in trial.untried:
        return found
    trial.untried.discard(found.status)
    trial.session.refresh()
    outcome = _judged(item, trial, case)
    if not (isinstance(outcome, Finding) and outcome.passed):
        return found
    trial.worn = trial.worn or found.status is Status.ERROR
    assert found.counterexample is not None
    first, line_break, rest = found.message.partition("\n")
    if found.counterexample.no_script == PASSES:
        first += f"; {PASSES}: chance, or a call before it"
        alone = found.counterexample
    else:
        first += f"; on a fresh instance it passes: {BLAME}"
        # A script would show what is right.
        alone = replace(found.counterexample, drafts=(), no_script=BLAME)
    message = first + line_break + rest
    return replace(found, message=message, counterexample=alone, stateful=True)


def _result(item: Check, status: Status, **values: Any) -> CheckResult:  # noqa: ANN401  # passed on
    clause = clauses().get(item.clause)
    title = clause.title if clause else ""
    return CheckResult(item.id, item.clause, title, item.sentence, status, **values)


def _environment(session: Session) -> dict[str, str]:
    return {
        "ropespec": version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        **session.environment,
    }
