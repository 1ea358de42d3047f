"""One check of one subject: cases from Hypothesis or walked, and one result."""

import math
import time
import traceback
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import target

from ropespec.conformance.case import Case
from ropespec.conformance.coverage.array import PAIRS, TRIPLES
from ropespec.conformance.drawing import cases
from ropespec.conformance.evidence.counterexample import PASSES, counterexample
from ropespec.conformance.jobs.plan import Plan, select
from ropespec.conformance.judge.fault import Fault
from ropespec.conformance.judge.finding import Finding
from ropespec.conformance.order import FIRST
from ropespec.conformance.registry import Check, Walker
from ropespec.conformance.results import OVERDUE, CheckResult, Status
from ropespec.conformance.search import (
    EXAMPLES,
    EXAMPLES_COMPILED,
    FULL,
    PATIENCE_WALKED,
    SHRINK_CONSEQUENCES,
    Enough,
    Failed,
    Outcome,
    Search,
)
from ropespec.conformance.subject.session import (
    NotPossible,
    Overdue,
    SubjectCrashed,
    SubjectError,
    SubjectRaised,
    SubjectTimeout,
    TargetUnusable,
)
from ropespec.conformance.trial import Trial, Unfit
from ropespec.spec import clauses

__all__ = ["overdue", "result_of", "run_check"]

BLAME = "a call before it is to blame"


class _BrokenCheckError(SubjectError):
    """A check raised on a result that nobody expected: an error, but no words of the subject."""

    @classmethod
    def by(cls, error: Exception) -> "_BrokenCheckError":
        """Say what was raised, and where."""
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = " ".join(str(error).split())[:200]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        return cls(f"the check cannot judge this: {type(error).__name__}: {text} ({where})")


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
    except Overdue:
        result = result_of(item, Status.SKIP, message=overdue(plan))
    except Exception as error:  # noqa: BLE001  # what it raises depends on what came back
        result = result_of(item, Status.ERROR, message=_BrokenCheckError.by(error).message)
    return replace(result, seconds=time.perf_counter() - began)


def _run_check(item: Check, trial: Trial, plan: Plan) -> CheckResult:
    if reason := item.reason_to_skip(trial):
        return result_of(item, Status.SKIP, message=reason)
    until = trial.session.until
    search = Search(trial.effort, most=_most(item, plan), patient=plan.full, until=until)
    if item.walk is not None:
        search.patience = PATIENCE_WALKED
    if item.walk is not None and _walked(item, item.walk, trial, plan, search):
        return _conclude(item, trial, search)
    keywords = trial.keywords(item.needs[0]) if item.needs else frozenset()
    compiled = trial.profile.compiles
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
        _note_failure(trial, search, case, outcome)
        raise Failed

    claimed = trial.profile
    if compiled and not item.every_dtype:
        asked = [one for one in claimed.dtypes if one in (item.space.dtypes or claimed.dtypes)]
        claimed = replace(claimed, dtypes=tuple(asked[:1]))
    drawn = cases(claimed, keywords, item.space, whole_pool=plan.full or rotates)
    began, spent = time.perf_counter(), trial.session.spent
    before, search.first = spent.on_cases, plan.seed * examples
    search.run(drawn, body, zlib.crc32(item.id.encode()) ^ plan.seed, examples)
    spent.drawing += time.perf_counter() - began - (spent.on_cases - before)
    return _conclude(item, trial, search)


def _most(item: Check, plan: Plan) -> float:
    """Return how many cases a failure may take to be made smaller, where it tells little.

    Each of the checks that almost any mistake makes fail has its share, whichever fail before it.
    """
    if not item.general or item.id in FIRST:
        return math.inf
    return SHRINK_CONSEQUENCES // max(sum(one.general for one in select(plan)), 1)


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
                _note_failure(trial, search, row.case, outcome)
                break
            search.worst = max(search.worst or 0.0, outcome.ratio)
            seen.append(row.levels)
    trial.covered.note(item.id, seen, steps)
    return search.failed is None


def _note_failure(trial: Trial, search: Search, case: Case, outcome: Outcome) -> None:
    """Keep a case that failed; whatever the deadline, it is told in full."""
    trial.session.until = math.inf
    search.note_failure(case, outcome)


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
        return result_of(item, Status.SKIP, message=search.refused.message)
    if search.failed is None:
        cut = search.cut
        return result_of(item, Status.PASS, examples=search.judged, worst=search.worst, cut=cut)
    case, outcome = search.failed
    if isinstance(outcome, Finding):
        if item.explain is not None and outcome.fault is not Fault.FORM:
            outcome = item.explain(trial, case, outcome)
        shown = counterexample(trial, item.judge, case, outcome)
        found = result_of(
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
    found = result_of(
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


def overdue(plan: Plan) -> str:
    """Say that the deadline of a plan left no time for a check."""
    return f"{OVERDUE} of {plan.deadline:g} s had passed"


def result_of(item: Check, status: Status, **values: Any) -> CheckResult:  # noqa: ANN401  # passed on
    """Return the result of a check; values are those of `CheckResult`."""
    clause = clauses().get(item.clause)
    title = clause.title if clause else ""
    return CheckResult(item.id, item.clause, title, item.sentence, status, **values)
