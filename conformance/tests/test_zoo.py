"""The suite catches every wrong implementation of the zoo and passes every right one."""

import inspect
import re

import pytest

from ropespec.conformance.registry import all_checks
from ropespec.conformance.results import Status
from ropespec.conformance.runner import Plan, run, run_check
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.trial import Trial
from ropespec.conformance.zoo import Right, Wrong, zoo

WRONG = [entry for entry in zoo() if isinstance(entry, Wrong)]
RIGHT = [entry for entry in zoo() if isinstance(entry, Right)]
LOST = {"hangs": Status.TIMEOUT, "aborts": Status.CRASH, "raises": Status.ERROR}


def open_entry(entry, timeout=20.0):
    """Start a worker for an entry."""
    return Session(load(entry.target), entry.profile, timeout=timeout)


@pytest.mark.parametrize("entry", WRONG, ids=lambda entry: entry.name)
def test_a_wrong_implementation_fails_the_checks_that_are_there_because_of_it(entry):
    """Each check named by the entry ends as a failure, or as the loss of its process."""
    checks = {check.id: check for check in all_checks()}
    with open_entry(entry, timeout=1.0 if entry.name == "hangs" else 20.0) as session:
        trial = Trial(session)
        results = [run_check(checks[id_], trial, Plan()) for id_ in entry.killed_by]

    expected = LOST.get(entry.name, Status.FAIL)
    assert {result.id: result.status for result in results} == dict.fromkeys(
        entry.killed_by, expected
    )


@pytest.mark.parametrize("entry", RIGHT, ids=lambda entry: entry.name)
def test_a_right_implementation_conforms_and_its_precision_is_measured(entry):
    """No check fails, and the class found per dtype is the one it was written in."""
    with open_entry(entry) as session:
        verdict = run(session, Plan())

    assert [r for r in verdict.checks if not r.status.conforms] == []
    assert verdict.conforms
    assert verdict.precision_by_dtype == dict(entry.measured)


@pytest.mark.parametrize("entry", RIGHT[:3], ids=lambda entry: entry.name)
@pytest.mark.parametrize("seed", range(1, 6))
def test_other_seeds_raise_no_false_alarm(entry, seed):
    """A right implementation conforms whatever the seed."""
    with open_entry(entry) as session:
        verdict = run(session, Plan(seed=seed))

    assert [r for r in verdict.checks if not r.status.conforms] == []


def test_every_check_of_a_bare_rotation_has_something_it_kills():
    """No check that runs on a bare callable is idle: some entry names it."""
    named = {id_ for entry in WRONG for id_ in entry.killed_by}
    elsewhere = re.compile(r"\.(gradient|refused|layouts)$")  # need more than a bare NumPy callable
    chapters = ("FREQ-", "ROT-", "DER-", "ERR-", "JDG-")
    bare = [
        check.id
        for check in all_checks()
        if check.needs == ("apply_rotary",)
        and check.id.startswith(chapters)
        and not elsewhere.search(check.id)
    ]

    assert sorted(set(bare) - named) == []


@pytest.mark.parametrize("entry", [*WRONG, *RIGHT], ids=lambda entry: entry.name)
def test_every_entry_is_small_and_says_what_it_is(entry):
    """An entry is a few lines with one sentence; a catalogue id has the form of one."""
    lines = inspect.getsource(entry.function).splitlines()

    assert len(lines) <= 24
    assert entry.sentence.endswith(".")
    if isinstance(entry, Wrong):
        assert re.fullmatch(r"([A-Z]\d+)?", entry.catalogue)
        assert entry.killed_by
