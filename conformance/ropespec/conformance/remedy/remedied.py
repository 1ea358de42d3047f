"""The search for claims under which what failed vanishes."""

import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ropespec.conformance.case import Case
from ropespec.conformance.diagnosis.told import fact
from ropespec.conformance.jobs.check import run_check
from ropespec.conformance.jobs.plan import Plan
from ropespec.conformance.judge.values import BELOW_ZERO
from ropespec.conformance.profile import Profile, ProfileError
from ropespec.conformance.registry import OTHER_LAYOUT, Check, all_checks
from ropespec.conformance.remedy.asking import head_dims, most_tokens
from ropespec.conformance.results import CheckResult, Diagnosis, Remedy, Status, Verdict
from ropespec.conformance.subject.session import (
    NotPossible,
    Session,
    SubjectTimeout,
    TargetUnusable,
)
from ropespec.conformance.trial import Effort, Trial
from ropespec.spec.convention import Convention

__all__ = ["SECONDS", "remedied"]

SECONDS = 10.0
"""How long is tried what to claim."""

PATIENCE = 2.0
"""Seconds for one call in this search."""

FEW = 3
"""Plain wrong numbers that may have to do with something else; with more of them they are wrong."""

LEAVE_OUT = ("gradients", "empty", "strided", "subnormals")
"""Claims that leave out what not everybody takes."""

SHARE = 0.5
"""Of the time that is left, what one claim may take."""

_LIMIT = re.compile(r"beyond (\d+)")
_NUMBER = re.compile(r"\d+")
_FOUND = re.compile(r"[Tt]he base is ([0-9.e+]+)")


def remedied(session: Session, verdict: Verdict, plan: Plan) -> Verdict:
    """Find the claims that fit what failed, by trying them.

    Parameters
    ----------
    session : Session
        The subject.
    verdict : Verdict
        What the checks found.
    plan : Plan
        What was run; the same cases are drawn again, as far as the new claims allow. What is left
        of its deadline is not exceeded.

    Returns
    -------
    Verdict
        With a remedy, unless nothing failed, or numbers are wrong that no claim explains.
    """
    if not verdict.failures or "apply_rotary" not in session.offers:
        return verdict
    seconds = min(SECONDS, plan.deadline - verdict.duration)
    session.refresh()  # what the checks left behind is no part of the subject
    tries = _Tries(session, plan, {one.id: one for one in verdict.failures}, seconds)
    with suppress(Exception):  # what it answers is its own affair, and the verdict stands
        tries.run(verdict)
    remedy = tries.remedy()
    told = _of_remedy(remedy, verdict.failures) if remedy is not None else []
    return replace(verdict, remedy=remedy, diagnosis=_with(told, verdict.diagnosis))


@dataclass
class _Tries:
    """Claims that were tried, and what is left of the failures."""

    session: Session
    plan: Plan
    left: dict[str, CheckResult]
    seconds: float
    claims: dict[str, Any] = field(default_factory=dict)
    untried: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.before = self.profile = self.session.profile
        self.first = dict(self.left)
        self.telling = _one_of_each(self.left)
        self.known = {item.id: item for item in all_checks()}
        self.until = self.end = time.monotonic() + self.seconds

    def run(self, verdict: Verdict) -> None:
        """Find claims by one failure of each kind, then try the others under all of them."""
        self._claim(verdict)
        self.until = self.end
        for name, result in self.first.items():
            if name not in self.left:
                continue
            if self._late:
                self.untried.add(name)
                continue
            again = self._again(result, self.before, self.profile)
            if _conforms(again):
                del self.left[name]
            elif _is_impatient(again, result):
                self.untried.add(name)

    def _claim(self, verdict: Verdict) -> None:
        """Claim what the diagnosis says, what is found by asking, and what can be left out."""
        for changes in _of_diagnosis(verdict.diagnosis, self.profile):
            self.take(changes, _of_other_layout(verdict) if "layouts" in changes else ())
        for ask in (head_dims, most_tokens):
            self.until = self.end
            if self.left and not self._late:
                with suppress(SubjectTimeout):  # where it is only slow, others may still fit
                    self.take(ask(self._trial(self.profile)))
        if sum(_is_plain(one, self.profile) for one in self.left.values()) > FEW:
            return  # its numbers are wrong, and no claim is about that
        for name in LEAVE_OUT:
            if getattr(self.profile, name):
                self.take({name: False})

    def take(self, changes: Mapping[str, Any], more: Iterable[str] = ()) -> None:
        """Claim it if something vanishes under it, and none of the checks that it adds fails."""
        if not changes:
            return
        try:
            profile = replace(self.profile, **changes)
        except ProfileError:
            return
        now = time.monotonic()
        self.until = now + SHARE * (self.end - now)
        under = self._trial(profile)
        asked = [one for one in self.telling if one in self.left]
        asked.sort(key=lambda one: not self.known[one].reason_to_skip(under))  # costs nothing
        tried = {one: self.left[one] for one in asked}
        again = {one: self._again(result, self.profile, profile) for one, result in tried.items()}
        gone = [one for one, result in again.items() if _conforms(result)]
        if gone and all(self._run(one, profile).status.conforms for one in more):
            self.profile = profile
            self.claims |= changes
            self.left |= {one: result for one, result in again.items() if result is not None}
            self.left = {one: result for one, result in self.left.items() if one not in gone}

    def remedy(self) -> Remedy | None:
        """Return what was found; None where numbers stay wrong, or most of what failed is left."""
        gone = len(self.first) - len(self.left)
        if self.claims and len(self.left) - len(self.untried) > gone:
            return None
        still = {name: one for name, one in self.left.items() if name not in self.untried}
        asked = still if self.claims else self.left
        if any(one.kind == "numbers" and one.status is Status.FAIL for one in asked.values()):
            return None
        tried = gone + len(still)
        clauses = dict.fromkeys(one.clause for one in still.values())
        return Remedy(self.claims, len(self.first), tried, len(still), tuple(clauses))

    @property
    def _late(self) -> bool:
        return time.monotonic() > self.until

    def _again(self, result: CheckResult, before: Profile, after: Profile) -> CheckResult | None:
        """Run a check that failed under other claims; None if these are not about its failure."""
        case, item = _case_of(result, before.rotation), self.known[result.id]
        if self._late or case is None or not _admits(before, case):
            return None
        under, now = self._trial(after), self._trial(before)
        if not item.reason_to_skip(under):
            is_about = not _admits(after, case) or after.base != before.base
            if not is_about and not self._is_right(item, under, case):
                return None
        if item.reason_to_skip(now) or self._is_right(item, now, case):
            return None  # what comes and goes by itself vanishes by no claim
        return self._run(result.id, after)

    def _run(self, name: str, profile: Profile) -> CheckResult:
        return run_check(self.known[name], self._trial(profile), self.plan)

    def _trial(self, profile: Profile) -> Trial:
        # Nothing is made smaller, and nothing is tried again.
        spent = Effort(seconds=math.inf)
        return Trial(self.session.under(profile, PATIENCE), untried=set(), effort=spent)

    @staticmethod
    def _is_right(item: Check, trial: Trial, case: Case) -> bool:
        try:
            return item.judge(trial, case).passed
        except NotPossible:
            return True
        except TargetUnusable:
            raise
        except Exception:  # noqa: BLE001  # what it raises depends on what came back
            return False


def _of_diagnosis(found: Sequence[Diagnosis], profile: Profile) -> Iterator[dict[str, Any]]:
    """Return the claims under which a mistake would be none."""
    for item in found:
        if item.name == "wrong pairing" and len(profile.layouts) == 1:
            yield {"layouts": (not profile.layouts[0],)}
        if item.name == "wrong base" and (base := _FOUND.search(item.sentence)) is not None:
            yield {"base": float(base[1])}
        if item.name.startswith("negative positions") or item.name == "sign of positions lost":
            yield {"negative_positions": False}
        limit = _LIMIT.search(item.sentence)
        if item.name == "positions refused" and limit is not None:
            yield {"max_position": int(limit[1])}


def _one_of_each(failures: Mapping[str, CheckResult]) -> list[str]:
    """Return the checks of which none before says the same, whatever the numbers in it."""
    told = {
        name: _NUMBER.sub("#", one.message.partition("\n")[0]) for name, one in failures.items()
    }
    first = {message: name for name, message in reversed(told.items())}
    return [name for name, message in told.items() if first[message] == name]


def _conforms(result: CheckResult | None) -> bool:
    return result is not None and result.status.conforms


def _is_impatient(again: CheckResult | None, first: CheckResult) -> bool:
    """Whether nothing but `PATIENCE` ended it: the checks wait longer."""
    timeout = Status.TIMEOUT
    return again is not None and again.status is timeout and first.status is not timeout


def _of_remedy(remedy: Remedy, failures: Iterable[CheckResult]) -> list[Diagnosis]:
    """Name what the sizes show that were asked for."""
    least = remedy.claims.get("min_head_dim")
    if least is None or all(one.status is not Status.ERROR for one in failures):
        return []
    return [
        fact(
            "small heads refused",
            f"From head_dim {least} on it is right.",
            f"head_dims below {least}",
            "each was tried",
        )
    ]


def _with(told: Sequence[Diagnosis], found: Sequence[Diagnosis]) -> tuple[Diagnosis, ...]:
    """Put what is known better first; then nothing is unknown."""
    return (*told, *(one for one in found if not told or one.name != "unknown"))


def _of_other_layout(verdict: Verdict) -> list[str]:
    return [one.id for one in verdict.checks if one.message == OTHER_LAYOUT]


def _is_plain(result: CheckResult, profile: Profile) -> bool:
    """Whether a number is wrong that no claim so far, and nothing in `LEAVE_OUT`, is about."""
    if result.kind != "numbers" or result.status is not Status.FAIL:
        return False
    case = _case_of(result, profile.rotation)
    if case is None or not _admits(profile, case):
        return False
    return not case.strided and case.values != "subnormal"


def _case_of(result: CheckResult, like: Convention) -> Case | None:
    found = result.counterexample
    try:
        return None if found is None else Case.read(found.case, like)
    except (KeyError, TypeError):  # what was drawn is no case
        return None


def _admits(profile: Profile, case: Case) -> bool:
    """Whether a case is one of those that are drawn under a profile."""
    return (
        case.keywords["interleaved"] in profile.layouts
        and case.head_dim in profile.head_dims
        and case.limit <= profile.max_position
        and (profile.negative_positions or case.positions not in BELOW_ZERO)
        and (profile.strided or not case.strided)
        and (profile.subnormals or case.values != "subnormal")
    )
