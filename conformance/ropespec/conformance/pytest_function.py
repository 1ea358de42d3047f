"""The test function behind `conformance_tests`; one worker serves all its tests."""

import atexit
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from rich.console import Console

from ropespec.conformance.opening import merged_profile, open_subject
from ropespec.conformance.profile import ProfileError
from ropespec.conformance.pytest_told import text_of
from ropespec.conformance.registry import Check
from ropespec.conformance.report.document import plain
from ropespec.conformance.report.failure import failure, finding
from ropespec.conformance.report.page import Page
from ropespec.conformance.report.proof import Proof
from ropespec.conformance.report.screen import shown
from ropespec.conformance.report.table import is_not_offered
from ropespec.conformance.results import CheckResult, Status
from ropespec.conformance.runner import Plan, lost, run_check, select
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.trial import Trial
from ropespec.pytest_plugin import OUTCOME

__all__ = ["Place", "Subject", "test_function"]

WIDTH = 100


class Place(NamedTuple):
    """Where `conformance_tests` is called: failures point there."""

    file: str
    line: int


@dataclass(slots=True)
class Subject:
    """The subject of one call of `conformance_tests`: opened by the first test, shared by all.

    Attributes
    ----------
    target : str
        Where it is.
    claims : mapping
        What is claimed of it.
    timeout : float
        Seconds for one call.
    plan : Plan
        What is checked.
    offered : frozenset of str or None
        The functions it offers; None if that is not known before it is loaded.
    """

    target: str
    claims: Mapping[str, Any]
    timeout: float
    plan: Plan
    offered: frozenset[str] | None = None
    _trial: Trial | None = None
    _unusable: str = ""
    _results: list[CheckResult] = field(default_factory=list)
    _proof: Proof = field(default_factory=Proof)

    def require_possible(self) -> None:
        """Refuse impossible claims, while tests are collected.

        Raises
        ------
        ProfileError
            If there are any.
        """
        try:
            merged_profile(self.target, None, self.claims)
        except TargetUnusable as problem:
            raise ProfileError(str(problem)) from None

    def checks(self) -> tuple[Check, ...]:
        """Return the checks of the plan, without those of functions known not to be offered."""
        chosen = select(self.plan)
        if self.offered is None:
            return chosen
        return tuple(item for item in chosen if self.offered.issuperset(item.needs))

    def found(self, check: Check) -> CheckResult | str:
        """Run a check as the command would after those before it.

        Returns
        -------
        CheckResult or str
            The result; why the subject cannot be loaded, the attempt being made once.
        """
        if self._trial is None and not self._unusable:
            self._open()
        trial = self._trial
        if trial is None:
            return self._unusable
        if reason := lost(self._results):
            skipped = (check.id, check.clause, "", check.sentence, Status.SKIP)
            return CheckResult(*skipped, message=reason)
        result = run_check(check, trial, self.plan)
        self._results.append(result)
        if result.status is Status.ERROR and trial.worn:
            trial.session.refresh()
        return result if result.general else self._proof.of_result(result)

    def _open(self) -> None:
        """Start the subject, which ends with the interpreter."""
        try:
            session = open_subject(self.target, self.claims, self.timeout)
        except TargetUnusable as problem:
            self._unusable = str(problem)
            return
        atexit.register(session.close)
        self._trial = Trial(session)

    def told(self, found: CheckResult | str) -> dict[str, Any]:
        """Return what the summary at the end needs of a test, as plain values."""
        outcome = {
            "target": self.target,
            "claims": plain(self.claims),
            "timeout": self.timeout,
            "seed": self.plan.seed,
            "only": list(self.plan.only),
            "offered": None if self.offered is None else sorted(self.offered),
        }
        if isinstance(found, str) or self._trial is None:
            return outcome | {"finding": str(found), "not_offered": False, "result": ""}
        return outcome | {
            "finding": shown(finding(found)),
            "not_offered": found.status is Status.SKIP and is_not_offered(found.message),
            "result": text_of(found),
            "profile": self._trial.profile.as_dict(),
            "precision": self._trial.measured.best(),
        }


def test_function(subject: Subject, place: Place) -> Callable[..., None]:
    """Make the test function of a subject, parametrized by the checks.

    Parameters
    ----------
    subject : Subject
        What is checked, and how.
    place : Place
        Where its tests are said to be.

    Raises
    ------
    ProfileError
        If a claim is impossible.
    ValueError
        If the plan names no check.
    """
    subject.require_possible()
    cases = [pytest.param(item, id=item.id) for item in subject.checks()]

    @pytest.mark.parametrize("check", cases)
    def test(check: Check, request: pytest.FixtureRequest) -> None:
        found = subject.found(check)
        request.node.stash[OUTCOME] = subject.told(found)
        if isinstance(found, str):
            pytest.fail(found, pytrace=False)
        if found.status is Status.SKIP:
            pytest.skip(found.message)
        if not found.status.conforms:
            pytest.fail(_message(subject.target, found), pytrace=False)

    test.__doc__ = f"{subject.target} conforms to the clause."
    test.__code__ = test.__code__.replace(co_filename=place.file, co_firstlineno=place.line)
    return test


# Not a test itself, whatever its name in the namespace of a test file.
test_function.__test__ = False  # type: ignore[attr-defined]  # an attribute that pytest reads


def _message(target: str, result: CheckResult) -> str:
    """Tell a failure, the finding first; of what almost any mistake causes, only that."""
    if result.general:
        return f"{shown(finding(result))} (as after almost any mistake of {target})"
    page = Page(Console(file=io.StringIO(), width=WIDTH, color_system=None))
    page.add(finding(result))
    page.add(target)
    failure(page, result, is_told=True)
    return "\n".join(shown(line.plain) for line in page.lines)
