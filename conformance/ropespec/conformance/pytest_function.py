"""The test function behind `conformance_tests`; one worker serves all its tests."""

import atexit
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ropespec.conformance.opening import merged_profile, open_subject
from ropespec.conformance.profile import ProfileError
from ropespec.conformance.registry import Check
from ropespec.conformance.report.failure import failure
from ropespec.conformance.results import CheckResult, Status
from ropespec.conformance.runner import Plan, run_check, select
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.trial import Trial

__all__ = ["test_function"]


def test_function(  # what `conformance_tests` was given
    target: str,
    claims: Mapping[str, Any],
    timeout: float,
    *,
    seed: int,
    full: bool,
    only: tuple[str, ...],
) -> Callable[..., None]:
    """Make the test function of a target, parametrized by the checks.

    Parameters
    ----------
    target : str
        As `ropespec check` takes it.
    claims : mapping
        Arguments of `Profile`.
    timeout : float
        Seconds for one call.
    seed, full, only
        See `ropespec.conformance.runner.Plan`.

    Raises
    ------
    ProfileError
        If a claim is impossible.
    ValueError
        If `only` names nothing.
    """
    subject = _Subject(target, claims, timeout)
    plan = Plan(seed=seed, full=full, only=only)
    cases = [pytest.param(item, id=item.id) for item in select(plan)]

    @pytest.mark.parametrize("check", cases)
    def test(check: Check) -> None:
        __tracebackhide__ = True
        try:
            trial = subject.trial()
        except TargetUnusable as problem:
            pytest.fail(str(problem), pytrace=False)
        result = run_check(check, trial, plan)
        if result.status is Status.SKIP:
            pytest.skip(result.message)
        if not result.status.conforms:
            pytest.fail(_message(target, result), pytrace=False)

    test.__doc__ = f"{target} conforms to the clause."
    return test


# Not a test itself, whatever its name in the namespace of a test file.
test_function.__test__ = False  # type: ignore[attr-defined]  # an attribute that pytest reads


def _message(target: str, result: CheckResult) -> str:
    return f"{target} does not conform to {result.clause}\n{failure(result).plain}"


class _Subject:
    """The subject of one call of `conformance_tests`: opened by the first test, shared by all.

    Parameters
    ----------
    target : str
        Where it is.
    claims : mapping
        What is claimed of it; refused here, while tests are collected, if impossible.
    timeout : float
        Seconds for one call.
    """

    def __init__(self, target: str, claims: Mapping[str, Any], timeout: float) -> None:
        try:
            merged_profile(target, None, claims)
        except TargetUnusable as problem:
            raise ProfileError(str(problem)) from None
        self.target = target
        self._claims = claims
        self._timeout = timeout
        self._trial: Trial | None = None
        self._unusable: TargetUnusable | None = None

    def trial(self) -> Trial:
        """Return the running subject, which ends with the interpreter.

        Raises
        ------
        TargetUnusable
            If it cannot be loaded; the attempt is made once.
        """
        if self._unusable is not None:
            raise self._unusable
        if self._trial is None:
            try:
                session = open_subject(self.target, self._claims, self._timeout)
            except TargetUnusable as problem:
                self._unusable = problem
                raise
            atexit.register(session.close)
            self._trial = Trial(session)
        return self._trial
