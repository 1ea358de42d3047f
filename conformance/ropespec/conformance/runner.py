"""One subject, all checks, one verdict."""

import platform
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

from ropespec.conformance.jobs.check import run_check
from ropespec.conformance.jobs.job import Elsewhere, Job, Ran
from ropespec.conformance.jobs.left import Left
from ropespec.conformance.jobs.plan import Plan, select
from ropespec.conformance.judge.fault import Fault
from ropespec.conformance.judge.finding import FLUSHED
from ropespec.conformance.order import dealt, is_late, telling_first
from ropespec.conformance.report.document import version
from ropespec.conformance.results import CheckResult, Diagnosis, Status, Verdict
from ropespec.conformance.subject.session import Session, TargetUnusable
from ropespec.conformance.trial import Trial
from ropespec.conformance.waivers import unneeded

__all__ = ["Plan", "explained", "run", "run_check", "select"]

OnResult = Callable[[CheckResult, int, int], None]


def run(
    session: Session,
    plan: Plan,
    on_result: OnResult | None = None,
    beside: Sequence[Elsewhere] = (),
) -> Verdict:
    """Run the checks of a plan on a subject.

    Parameters
    ----------
    session : Session
        The subject, loaded.
    plan : Plan
        What to run.
    on_result : callable or None
        Called with each result, how many came before it, and the number of checks.
    beside : sequence of Elsewhere
        Jobs in other processes that take their share of the checks.

    Returns
    -------
    Verdict
        One result per check, in the order of the specification, which is not that of the run.
    """
    began = time.perf_counter()
    checks = select(plan)
    job, left = _ran(session, plan, _Counted(on_result, len(checks)), beside)
    results = tuple(job.ran[item.id].result for item in checks)
    learnt = job.learnt()
    verdict = Verdict(
        subject=session.target,
        profile=session.profile.as_dict(),
        seed=plan.seed,
        precision_by_dtype=learnt.measured.best(),
        checks=results,
        environment=_environment(session),
        head_dims=tuple(one for one in session.profile.head_dims if one in learnt.head_dims),
        waivers=dict(session.waivers),
        unneeded=unneeded(session.waivers, results),
        lacks=session.lacks,
        coverage=learnt.covered.as_dict(session.profile),
        style=None if session.style is None else session.style.as_dict(),
    )
    verdict = explained(session, verdict)
    session.refresh()  # what outlives its process is known when that has ended
    left.append(Left(session.spent, session.stragglers))
    return replace(
        verdict,
        stragglers=dict(sum((Counter(one.stragglers) for one in left), Counter())),
        spent=dict(sum((Counter(asdict(one.spent)) for one in left), Counter())),
        duration=time.perf_counter() - began,
    )


def _ran(
    session: Session, plan: Plan, tell: "_Counted", beside: Sequence[Elsewhere]
) -> tuple[Job, list[Left]]:
    """Run all checks, each in its job, and last those that look at all that was seen."""
    job = Job(session, plan)
    checks = telling_first(select(plan))
    early = [item for item in checks if not is_late(item)]
    own, *others = dealt(
        early,
        1 + len(beside),
        compiles=session.profile.compiles,
        skipped={item.id for item in early if item.reason_to_skip(Trial(session)) is not None},
    )
    for other, share in zip(beside, others, strict=True):
        other.begin(plan, share, tell)
    for item in own:
        tell(job.run(item))
    left = [other.finished() for other in beside]
    job.take(tell.told)
    for item in checks:  # the late ones, and what another job has left undone
        if item.id not in job.ran:
            tell(job.run(item))
    return job, left


class _Counted:
    """Tells of checks as they are done, one at a time, whichever thread comes with them."""

    def __init__(self, on_result: OnResult | None, total: int) -> None:
        self.told: list[Ran] = []
        self._on_result, self._total, self._lock = on_result, total, threading.Lock()

    def __call__(self, ran: Ran) -> None:
        with self._lock:
            if self._on_result is not None:
                self._on_result(ran.result, len(self.told), self._total)
            self.told.append(ran)


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
    from ropespec.conformance.diagnosis import diagnose  # noqa: PLC0415  # what conforms needs none

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


def _environment(session: Session) -> dict[str, str]:
    return {
        "ropespec": version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        **session.environment,
    }
