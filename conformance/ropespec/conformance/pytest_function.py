"""The test function behind `conformance_tests`; one worker serves all its tests.

A check that fails and is waived is expected to fail. Each waiver has a test as well, which fails
once the waiver is not needed any more.
"""

import atexit
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from rich.console import Console

from ropespec.conformance.jobs.job import Job
from ropespec.conformance.jobs.plan import Plan, select
from ropespec.conformance.opening import merged_profile, merged_waivers, open_subject
from ropespec.conformance.profile import ProfileError
from ropespec.conformance.pytest_told import text_of
from ropespec.conformance.registry import Check
from ropespec.conformance.report.answers import unneeded_lines
from ropespec.conformance.report.document import plain
from ropespec.conformance.report.failure import failure, finding
from ropespec.conformance.report.page import Page
from ropespec.conformance.report.proof import Proof
from ropespec.conformance.report.screen import shown
from ropespec.conformance.report.table import is_not_offered
from ropespec.conformance.results import CheckResult, Status
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.waivers import covered, unneeded
from ropespec.pytest_plugin import LEFT, OUTCOME

__all__ = ["Place", "Subject", "test_function"]

WIDTH = 100
OWN_WAIVERS = "waivers"
"""The id of the one test for the waivers of a `PROFILE` that is not known before it is loaded."""


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
    beside : mapping or None
        Its `PROFILE`; None if that is not known before it is loaded.
    """

    target: str
    claims: Mapping[str, Any]
    timeout: float
    plan: Plan
    offered: frozenset[str] | None = None
    beside: Mapping[str, Any] | None = None
    _job: Job | None = None
    _unusable: str = ""
    _remedy: str = ""
    _is_refused: bool = False
    _is_ending: bool = False
    _results: dict[str, CheckResult] = field(default_factory=dict)
    _proof: Proof = field(default_factory=Proof)

    def require_possible(self) -> None:
        """Refuse impossible claims and waivers, while tests are collected.

        Raises
        ------
        ProfileError
            If there are any.
        """
        try:
            merged_profile(self.target, None, self.claims)
            merged_waivers(self.target, self.beside, self.claims)
        except TargetUnusable as problem:
            raise ProfileError(str(problem)) from None

    def checks(self) -> tuple[Check, ...]:
        """Return the checks of the plan, without those of functions known not to be offered."""
        chosen = select(self.plan)
        if self.offered is None:
            return chosen
        return tuple(item for item in chosen if self.offered.issuperset(item.needs))

    def waivers(self) -> tuple[str, ...]:
        """Return the waivers that get a test: those of which the plan leaves no check out.

        An empty name stands for those of a `PROFILE` that is not known yet.
        """
        known = merged_waivers(self.target, self.beside, self.claims)
        chosen = set(select(self.plan))
        named = tuple(name for name in known if chosen.issuperset(covered(name)))
        return named if self.beside is not None else (*named, "")

    def found(self, check: Check) -> CheckResult | str:
        """Run a check as the command would after those before it.

        Returns
        -------
        CheckResult or str
            The result; why the subject cannot be loaded, the attempt being made once.
        """
        if self._job is None and not self._unusable:
            self._open()
        job = self._job
        if job is None:
            return self._refusal
        if check.id in self._results:
            return self._results[check.id]
        result = job.run(check).result
        telling = not (result.general or result.waived)
        self._results[check.id] = self._proof.of_result(result) if telling else result
        return self._results[check.id]

    def not_needed(self, waiver: str) -> str:
        """Run the checks of a waiver, and say why it is not needed; nothing if it is.

        An empty name is that of `waivers`.
        """
        if self._job is None and not self._unusable:
            self._open()
        if self._job is None:
            return self._refusal
        given = merged_waivers(self.target, self.beside, self.claims)
        own = [name for name in self._job.session.waivers if name not in given]
        names = [waiver] if waiver else own
        chosen = set(select(self.plan))
        ran = [self.found(one) for name in names for one in covered(name) if one in chosen]
        results = [one for one in ran if isinstance(one, CheckResult)]
        return "\n".join(unneeded_lines(unneeded(names, results)))

    def _open(self) -> None:
        """Start the subject, which ends with the interpreter if not before."""
        try:
            session = open_subject(self.target, self.claims, self.timeout)
        except TargetUnusable as problem:
            self._unusable, self._remedy = str(problem), problem.remedy
            return
        atexit.register(session.close)
        self._job = Job(session, self.plan)

    def end_with(self, module: pytest.Module | None) -> None:
        """End the subject when a test file is done, and leave there what it left running."""
        if self._job is None or self._is_ending or module is None:
            return
        session, self._is_ending = self._job.session, True

        def end() -> None:
            lacks = list(session.lacks)
            session.close()
            left = {"target": self.target, "lacks": lacks, "stragglers": dict(session.stragglers)}
            module.stash.setdefault(LEFT, []).append(left)
            self._job, self._is_ending = None, False

        module.addfinalizer(end)

    def require_usable(self) -> None:
        """Fail once with why the subject cannot be loaded or called; after that, skip."""
        if not self._unusable:
            return
        if self._is_refused:
            pytest.skip(self._refusal)
        self._is_refused = True
        pytest.fail(shown("\n\n".join(filter(None, (self._unusable, self._remedy)))), pytrace=False)

    @property
    def _refusal(self) -> str:
        """Why it cannot be used, told in full by one test alone."""
        if self._is_refused:
            return f"not run: {self.target} cannot be used"
        return shown(self._unusable)

    def told(self, found: CheckResult | str) -> dict[str, Any]:
        """Return what the summary at the end needs of a test, as plain values."""
        outcome = {
            "target": self.target,
            "claims": plain(self.claims),
            "timeout": self.timeout,
            "seed": self.plan.seed,
            "only": list(self.plan.only),
            "offered": None if self.offered is None else sorted(self.offered),
            "waived": False,
            "of_waiver": False,
        }
        if isinstance(found, str) or self._job is None:
            return outcome | {"finding": str(found), "not_offered": False, "result": ""}
        return outcome | {
            "finding": shown(finding(found)),
            "not_offered": found.status is Status.SKIP and is_not_offered(found.message),
            "result": text_of(found),
            "profile": self._job.session.profile.as_dict(),
            "precision": self._job.ran[found.id].learnt.measured.best(),
            "waivers": dict(self._job.session.waivers),
            "waived": bool(found.waived),
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
    cases += [
        pytest.param(name, id=f"waiver-{name}" if name else OWN_WAIVERS)
        for name in subject.waivers()
    ]

    @pytest.mark.parametrize("check", cases)
    def test(check: Check | str, request: pytest.FixtureRequest) -> None:
        if isinstance(check, str):
            reason = subject.not_needed(check)
            subject.end_with(request.node.getparent(pytest.Module))
            request.node.stash[OUTCOME] = subject.told(reason) | {"of_waiver": True}
            subject.require_usable()
            if reason:
                pytest.fail(reason, pytrace=False)
            return
        found = subject.found(check)
        subject.end_with(request.node.getparent(pytest.Module))
        request.node.stash[OUTCOME] = subject.told(found)
        subject.require_usable()
        assert isinstance(found, CheckResult)
        _end(subject.target, found)

    test.__doc__ = f"{subject.target} conforms to the clause."
    test.__code__ = test.__code__.replace(co_filename=place.file, co_firstlineno=place.line)
    return test


def _end(target: str, found: CheckResult) -> None:
    """End the test of a check as its result asks for."""
    if found.status is Status.SKIP:
        pytest.skip(found.message)
    if found.waived:
        why = ", ".join(f"{name}: {reason}" for name, reason in found.waived.items())
        pytest.xfail(f"waived, {why}")  # with --runxfail nothing is expected to fail
    if not found.status.conforms:
        pytest.fail(_message(target, found), pytrace=False)


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
