"""The search for a failing case is ordered, brief, and leaves nothing behind."""

import contextlib
import importlib
import math
import os
import random
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import Phase, configuration, given, seed, settings, strategies
from hypothesis.internal.conjecture import providers

from ropespec.conformance.case import Space
from ropespec.conformance.judge.finding import broken, held
from ropespec.conformance.opening import open_subject
from ropespec.conformance.order import FIRST, telling_first
from ropespec.conformance.profile import Profile
from ropespec.conformance.registry import Check, all_checks
from ropespec.conformance.report.failure import smallest
from ropespec.conformance.results import Status
from ropespec.conformance.runner import Plan, run, run_check, select
from ropespec.conformance.spent import Spent
from ropespec.conformance.subject.errors import SubjectCrashed
from ropespec.conformance.trial import Trial
from ropespec.conformance.undisturbed import undisturbed

CONSEQUENCES = "ropespec.conformance.jobs.check.SHRINK_CONSEQUENCES"
HOME = "__hypothesis_home_directory"
NOBODY = SimpleNamespace(
    profile=Profile(layouts=(False,)),
    target="nobody.py:nothing",
    offers={},
    environment={},
    style=None,
    spent=Spent(),
    until=math.inf,
    recording=lambda: contextlib.nullcontext([]),
)


def planted(judge, *, general=False, share=1.0):
    """Make a check of a judge."""
    return Check(
        "ROT-6.planted",
        "ROT-6",
        "Something is wrong.",
        (),
        (),
        Space(),
        judge,
        lambda _: None,
        share,
        None,
        general,
        every_dtype=False,
    )


def elements(case):
    """Count the elements of x."""
    return case["batch"] * case["seq"] * case["heads"] * case["head_dim"]


def too_large(_, case):
    """Fail where x has more than three elements."""
    return broken("too large") if elements(case.as_dict()) > 3 else held()


def trial():
    """Return a trial of nobody, without fresh instances."""
    return Trial(NOBODY, untried=set())


def test_the_order_of_a_run_is_not_that_of_the_verdict():
    """What almost any mistake breaks is asked once at first and else last; the report is sorted."""
    asked = []
    order = ("ROT-7.value", "ROT-17.dtype", "ROT-10.identity", "ROT-7.forms", "JDG-3.precision")
    plan = Plan(only=tuple(sorted(order)))
    with open_subject("numpy", {}, 30.0) as session:
        verdict = run(session, plan, lambda result, *_: asked.append(result.id))

    assert tuple(asked) == order
    listed = [item.id for item in all_checks()]
    assert [result.id for result in verdict.checks] == sorted(asked, key=listed.index)


def test_the_order_leaves_no_check_out():
    """Every check has its place, and those named first are checks."""
    everything = all_checks()

    assert sorted(telling_first(everything), key=everything.index) == list(everything)
    assert {item.id for item in telling_first(everything)[: len(FIRST)]} == set(FIRST)


@pytest.mark.parametrize(("limit", "value"), [("SHRINK_SECONDS", 0.0), ("SHRINK_TOGETHER", 0.0)])
def test_a_search_that_is_cut_short_has_a_case_and_says_so(monkeypatch, limit, value):
    """Where no time is left the first case that failed is told, and not called the smallest."""
    monkeypatch.setattr(f"ropespec.conformance.search.{limit}", value)
    result = run_check(planted(too_large), trial(), Plan())

    assert result.status is Status.FAIL
    assert elements(result.counterexample.case) > 4
    assert not result.counterexample.smallest
    assert next(iter(smallest(result.counterexample))).startswith("a case, not the smallest: ")


def test_a_search_to_the_end_finds_the_smallest_and_says_so():
    """With time enough four elements are left."""
    tried = trial()
    result = run_check(planted(too_large), tried, Plan())

    assert elements(result.counterexample.case) == 4
    assert result.counterexample.smallest
    assert next(iter(smallest(result.counterexample))).startswith("smallest case: ")
    assert tried.effort.seconds > 0


@pytest.mark.parametrize("seed", range(5))
def test_what_a_check_chooses_by_the_seed_of_a_case_it_chooses_in_turn(seed):
    """No item of a list is left out with any seed, and a smaller case is of the same item."""

    def of_the_fifth_kind(_, case):
        return broken("wrong") if case.seed % 6 == 5 else held()

    result = run_check(planted(of_the_fifth_kind, share=0.25), trial(), Plan(seed=seed))

    assert result.counterexample.case["seed"] % 6 == 5
    assert elements(result.counterexample.case) == 2


def test_checks_share_the_time_for_smaller_cases(monkeypatch):
    """What the first check took is gone for the second, which still has its counterexample."""
    monkeypatch.setattr("ropespec.conformance.search.SHRINK_TOGETHER", 1e9)
    tried = trial()
    first = run_check(planted(too_large), tried, Plan())
    monkeypatch.setattr("ropespec.conformance.search.SHRINK_TOGETHER", tried.effort.seconds)
    second = run_check(planted(too_large), tried, Plan())

    assert first.counterexample.smallest
    assert not second.counterexample.smallest


def test_what_almost_any_mistake_breaks_has_its_share_of_cases(monkeypatch):
    """Of sixty consequences none is made small; a check that points at a mistake always is."""
    plan = Plan(only=("ROT-7.forms", "ROT-10.identity", "JDG-1.reference"))
    general = sum(item.general for item in select(plan))
    monkeypatch.setattr(CONSEQUENCES, 4 * general)
    seen = []

    def judge(_, case):
        found = too_large(_, case)
        seen.append(found.passed)
        return found

    consequence = run_check(planted(judge, general=True), trial(), plan)
    telling = run_check(planted(too_large), trial(), plan)

    assert general > 1
    assert not consequence.counterexample.smallest
    assert len(seen) - seen.index(False) - 1 == 4 + 1  # and once more for the evidence
    assert telling.counterexample.smallest


def test_what_is_cut_short_is_the_smallest_that_was_seen(monkeypatch):
    """The case tried last may be larger than one before it."""
    seen = []

    def judge(_, case):
        seen.append(case)
        return too_large(_, case)

    plan = Plan(only=("ROT-7.forms",))
    monkeypatch.setattr(CONSEQUENCES, 6)
    result = run_check(planted(judge, general=True), trial(), plan)
    sizes = [elements(case.as_dict()) for case in seen]
    failed = [size for size in sizes if size > 3]

    assert elements(result.counterexample.case) == min(failed)


def test_a_case_that_ends_the_process_is_not_called_the_smallest():
    """It is not tried again, and so nobody knows."""

    def judge(_, case):
        if not too_large(_, case).passed:
            raise SubjectCrashed("died of SIGSEGV")
        return held()

    result = run_check(planted(judge), trial(), Plan())

    assert result.status is Status.CRASH
    assert not result.counterexample.smallest


@pytest.mark.skipif(not hasattr(providers, "_get_local_constants"), reason="it draws none")
def test_cases_do_not_depend_on_what_is_loaded(tmp_path, monkeypatch):
    """Hypothesis draws numbers out of modules of the user: before a check and after, not in it."""
    numbers = range(10**9 + 7, 10**11, 10**9)
    (tmp_path / "numbers_of_mine.py").write_text(f"NUMBERS = {list(numbers)}\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("numbers_of_mine")

    def drawn():
        values = set()

        @seed(0)
        @settings(max_examples=200, database=None, phases=[Phase.generate])
        @given(strategies.integers(0, 10**12))
        def draw(value):
            values.add(value)

        draw()
        return values

    assert not drawn().isdisjoint(numbers)
    with undisturbed():
        assert drawn().isdisjoint(numbers)
    assert not drawn().isdisjoint(numbers)


def test_the_generators_that_all_share_are_left_alone():
    """Hypothesis would seed them for every case; a check of ours asks them for nothing."""
    before = random.getstate()
    states = []

    def judge(*_):
        states.append(random.getstate())
        return held()

    run_check(planted(judge), trial(), Plan())

    assert set(states) == {before}


def test_a_run_leaves_no_files(tmp_path, monkeypatch):
    """Neither in the current folder nor among temporary files, and Hypothesis has no home."""
    temporary, current = tmp_path / "temporary", tmp_path / "current"
    for folder in (temporary, current):
        folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.chdir(current)
    monkeypatch.setattr("tempfile.tempdir", None)
    home = getattr(configuration, HOME)
    homes = []

    def judge(*_):
        homes.append(getattr(configuration, HOME))
        return held()

    run_check(planted(judge), trial(), Plan())

    assert set(homes) == {Path(os.devnull) / "nothing"}
    assert getattr(configuration, HOME) == home
    assert [*temporary.iterdir(), *current.iterdir()] == []
