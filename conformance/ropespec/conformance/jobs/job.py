"""A job: checks asked of one instance of a subject, one after another."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ropespec.conformance.coverage.tally import Covered
from ropespec.conformance.jobs.check import overdue, result_of, run_check
from ropespec.conformance.jobs.left import Left
from ropespec.conformance.jobs.plan import Plan
from ropespec.conformance.order import is_late
from ropespec.conformance.registry import Check, all_checks
from ropespec.conformance.results import NOT_RUN, CheckResult, Status
from ropespec.conformance.spent import Spent
from ropespec.conformance.subject.session import Session
from ropespec.conformance.subject.trespasses import Trespasses
from ropespec.conformance.trial import Measured, Trial
from ropespec.conformance.waivers import with_waivers

__all__ = ["Elsewhere", "Job", "Learnt", "Ran"]

FATAL_LIMIT = 3
"""In how many checks a subject is lost before nothing more is asked of it."""


@dataclass(slots=True)
class Learnt:
    """What checks learn of a subject beside their results.

    Attributes
    ----------
    measured : Measured
        Of its precision.
    covered : Covered
        What of the input space was judged.
    trespasses : Trespasses
        What it wrote to that is not its own.
    head_dims : set of int
        Sizes of the last axis of what was to be rotated.
    """

    measured: Measured = field(default_factory=Measured)
    covered: Covered = field(default_factory=Covered)
    trespasses: Trespasses = field(default_factory=Trespasses)
    head_dims: set[int] = field(default_factory=set)

    def add(self, later: "Learnt") -> None:
        """Add what a later check has learnt."""
        self.measured.add(later.measured)
        self.covered.add(later.covered)
        self.trespasses.add(later.trespasses)
        self.head_dims |= later.head_dims


@dataclass(frozen=True, slots=True)
class Ran:
    """A check that ran."""

    result: CheckResult
    learnt: Learnt


class Elsewhere(Protocol):
    """A job in another process."""

    def begin(self, plan: Plan, checks: Sequence[Check], tell: Callable[[Ran], None]) -> None:
        """Have the checks run, and each told of when it is done, in any thread."""

    def finished(self) -> Left:
        """Wait for what comes; of checks that were not told of by then nothing comes any more."""


class Job:
    """Checks of one session.

    What a check finds depends on no other, but for those that look at all that was seen, for what
    was called before, and for time.

    Parameters
    ----------
    session : Session
        The subject, loaded.
    plan : Plan
        How many cases, and until when.

    Attributes
    ----------
    session : Session
        As given.
    ran : dict of str to Ran
        The checks that ran here, and those that `take` was told of, by their ids.
    """

    def __init__(self, session: Session, plan: Plan) -> None:
        session.spent = Spent()
        self.ran: dict[str, Ran] = {}
        self.session, self._plan, self._trial = session, plan, Trial(session)
        self._until = time.perf_counter() + plan.deadline

    def run(self, item: Check) -> Ran:
        """Run a check, unless it is too late or the subject was lost too often."""
        learnt = self.learnt() if is_late(item) else Learnt()
        learnt.covered.pace = self._trial.covered.pace
        self._trial.measured, self._trial.covered = learnt.measured, learnt.covered
        self.session.trespasses, self.session.head_dims = learnt.trespasses, learnt.head_dims
        late = time.perf_counter() > self._until
        if reason := overdue(self._plan) if late else self._lost:
            result = result_of(item, Status.SKIP, message=reason)
        else:
            self.session.until = self._until
            found = run_check(item, self._trial, self._plan)
            self.session.until = math.inf
            result = with_waivers(found, self.session.waivers)
        if result.status is Status.ERROR and self._trial.worn:
            self.session.refresh()
        self.ran[item.id] = Ran(result, learnt)
        return self.ran[item.id]

    def take(self, others: Iterable[Ran]) -> None:
        """Take what has run elsewhere."""
        self.ran |= {one.result.id: one for one in others}

    def learnt(self) -> Learnt:
        """Return what all that ran has learnt, in the order of the specification."""
        learnt = Learnt()
        for one in self._in_order():
            learnt.add(one.learnt)
        return learnt

    def _in_order(self) -> list[Ran]:
        return [self.ran[item.id] for item in all_checks() if item.id in self.ran]

    @property
    def _lost(self) -> str:
        """Why nothing more is asked of a subject that was lost again and again; empty if it is."""
        dead = (Status.CRASH, Status.TIMEOUT)
        lost = [one.result.id for one in self._in_order() if one.result.status in dead]
        told = f"{NOT_RUN}the subject was lost in {', '.join(lost)}"
        return told if len(lost) >= FATAL_LIMIT else ""
