"""The runner turns cases into one result per check, reproducibly."""

import dataclasses
import functools
import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from ropespec import reference
from ropespec.conformance.case import Case, Space, pool
from ropespec.conformance.drawing import cases
from ropespec.conformance.judge.fault import Fault
from ropespec.conformance.judge.finding import FLUSHED, broken, held
from ropespec.conformance.judge.values import POSITIONS, VALUES
from ropespec.conformance.profile import Profile
from ropespec.conformance.registry import Check
from ropespec.conformance.results import CheckResult, Status, Verdict
from ropespec.conformance.runner import Plan, explained, run_check, select
from ropespec.conformance.spent import Spent
from ropespec.conformance.subject.caller import Caller
from ropespec.conformance.subject.errors import (
    NotPossible,
    SubjectCrashed,
    SubjectRaised,
    SubjectTimeout,
    TargetUnusable,
)
from ropespec.conformance.subject.session import Offer
from ropespec.conformance.trial import Trial, Unfit

HALF = Profile(layouts=(False,))


class Nobody(Caller):
    """A session that is never called."""

    profile = HALF
    target = "nobody.py:nothing"
    offers = {"apply_rotary": Offer("apply_rotary", frozenset())}
    environment = {}
    refreshed = False
    spent = Spent()
    until = math.inf

    def ask(self, question):
        """Nothing is asked of nobody."""
        raise AssertionError(question)

    def refresh(self):
        """Take note."""
        self.refreshed = True


def planted(judge, **changes):
    """Make a check of a judge."""
    values = {
        "id": "ROT-6.planted",
        "clause": "ROT-6",
        "sentence": "Something is wrong.",
        "needs": (),
        "names": (),
        "space": Space(),
        "judge": judge,
        "applies": lambda _: None,
        "share": 1.0,
        "explain": None,
        "general": False,
        "every_dtype": False,
    }
    return Check(**(values | changes))


def drawn(profile, space, number, count=40):
    """Draw cases as the runner does."""
    seen = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases(profile, frozenset(), space))
    def collect(case):
        seen.append(case)

    collect()
    return seen


def test_a_check_without_failures_passes_and_counts_its_cases():
    """A pass says how many cases were run and how close the worst came."""
    ratios = iter(np.linspace(0.1, 0.4, 1000))
    result = run_check(planted(lambda *_: held(float(next(ratios)))), Trial(Nobody()), Plan())

    assert result.status is Status.PASS
    assert result.examples >= 20
    assert 0.1 <= result.worst < 0.4


def test_the_smallest_failing_case_is_reported():
    """A fault that needs three rows and position 5 is reported at just that case."""

    def judge(_, case):
        return broken("too many rows") if case.batch >= 3 and case.start >= 5 else held()

    result = run_check(planted(judge), Trial(Nobody()), Plan())

    assert result.status is Status.FAIL
    assert result.message == "too many rows"
    smallest = result.counterexample.case
    assert (smallest["batch"], smallest["seq"], smallest["heads"]) == (3, 1, 1)
    assert (smallest["start"], smallest["head_dim"], smallest["seed"]) == (5, 2, 0)


def test_what_a_call_before_it_has_spoilt_passes_on_a_fresh_instance():
    """The first failure is tried again, and says that it depends on earlier calls; no script."""
    nobody = Nobody()

    def judge(*_):
        return held() if nobody.refreshed else broken("spoilt")

    trial = Trial(nobody)
    first = run_check(planted(judge), trial, Plan())
    nobody.refreshed = False
    second = run_check(planted(judge), trial, Plan())

    assert (first.status, first.stateful) == (Status.FAIL, True)
    assert first.message == "spoilt; on a fresh instance it passes: a call before it is to blame"
    assert first.counterexample.script == ""
    assert (second.status, second.stateful, second.message) == (Status.FAIL, False, "spoilt")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (SubjectRaised(("ValueError", "Exception"), "no"), Status.ERROR),
        (SubjectCrashed("died of SIGABRT", "last words"), Status.CRASH),
        (SubjectTimeout("no answer within 1 s"), Status.TIMEOUT),
    ],
)
def test_an_error_a_crash_and_a_timeout_are_results(error, status):
    """What became of the subject is the status, its words are the message."""
    calls = []

    def judge(*_):
        calls.append(1)
        raise error

    result = run_check(planted(judge), Trial(Nobody()), Plan())

    assert result.status is status
    assert error.message in result.message
    if status is not Status.ERROR:
        assert len(calls) == 1, "a lost worker is not lost again for a smaller case"


def test_a_check_that_does_not_apply_is_skipped_with_the_reason():
    """Nothing that did not run is a pass."""
    check = planted(lambda *_: held(), applies=lambda _: "not today")
    result = run_check(check, Trial(Nobody()), Plan())

    assert (result.status, result.message, result.examples) == (Status.SKIP, "not today", 0)


@pytest.mark.parametrize("nth", [1, 2])
def test_a_refused_case_is_no_example(nth):
    """Refused every time the check is skipped with the words; now and then, those do not count."""
    calls = []

    def judge(*_):
        calls.append(1)
        if len(calls) % nth == 0:
            raise NotPossible("not under vmap")
        return held()

    result = run_check(planted(judge), Trial(Nobody()), Plan())

    assert result.examples == (0 if nth == 1 else len(calls) - len(calls) // 2)
    assert result.status is (Status.SKIP if nth == 1 else Status.PASS)
    assert result.message == ("not under vmap" if nth == 1 else "")


def test_whatever_a_check_raises_is_an_error_that_says_where():
    """A fault inside a check is no finding and no words of the subject, and the run goes on."""

    def judge(*_):
        raise ZeroDivisionError("by nothing")

    result = run_check(planted(judge), Trial(Nobody()), Plan())

    assert result.status is Status.ERROR
    assert re.fullmatch(
        r"the check cannot judge this: ZeroDivisionError: by nothing \(test_runner.py, line \d+\)",
        result.message,
    )


@pytest.mark.parametrize("place", ["explain", "applies"])
def test_what_is_raised_around_the_judging_is_an_error_too(place):
    """Neither the words for a failure nor the question whether to run can end the run."""

    def fails(*_):
        raise KeyError(place)

    result = run_check(planted(lambda *_: broken("no"), **{place: fails}), Trial(Nobody()), Plan())

    assert result.status is Status.ERROR
    assert f"KeyError: '{place}'" in result.message


@pytest.mark.parametrize(("every_dtype", "wanted"), [(False, 1), (True, 2)])
def test_where_dtypes_are_compiled_a_law_draws_the_first_alone(every_dtype, wanted):
    """What is about dtypes draws all of them, and says so where it is registered."""
    nobody = Nobody()
    nobody.profile = Profile(layouts=(False,), array="jax", dtypes=("float32", "bfloat16"))
    seen = set()

    def judge(_, case):
        seen.add(case.dtype)
        return held()

    run_check(planted(judge, every_dtype=every_dtype, share=9.0), Trial(nobody), Plan())

    assert len(seen) == wanted


def test_a_target_that_is_lost_for_good_ends_the_run():
    """What can no longer be loaded is told by the command itself."""

    def judge(*_):
        raise TargetUnusable("gone")

    with pytest.raises(TargetUnusable, match="gone"):
        run_check(planted(judge), Trial(Nobody()), Plan())


WELL = np.ones((1, 2, 1, 4), np.float32)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (np.float32(3), "returns shape () where shape (1, 2, 1, 4) is claimed"),
        (WELL[..., 0], "returns shape (1, 2, 1) where shape (1, 2, 1, 4) is claimed"),
        (WELL.astype(np.complex64), "returns complex64 where float32 is claimed"),
        ((WELL, WELL), "returns 2 results where one array is claimed"),
    ],
)
def test_what_is_no_rotated_x_is_said_before_any_number_is_judged(checks, result, said):
    """A scalar, axes merged, complex numbers and two results are findings, with the call."""
    trial = checks.trial({"apply_rotary": lambda *_, **__: result}, layouts=(False,))
    case = dataclasses.replace(
        drawn(HALF, Space(), 1, count=1)[0], batch=1, seq=2, heads=1, head_dim=4, dtype="float32"
    )
    with trial.session.recording() as tape, pytest.raises(Unfit) as caught:
        trial.rotate_and_judge(case)

    assert (caught.value.finding.message, caught.value.finding.fault) == (said, Fault.FORM)
    assert not caught.value.finding.passed
    assert [one.function for one in tape] == ["apply_rotary"]


@pytest.mark.parametrize(
    ("status", "name"), [(Status.CRASH, "it crashes"), (Status.TIMEOUT, "it hangs")]
)
def test_a_subject_that_is_lost_has_a_diagnosis(status, name):
    """It is not called again to find out what is known."""
    lost = CheckResult("ROT-6.value", "ROT-6", "", "", status, message="no answer\nlast words")
    verdict = explained(Nobody(), Verdict("nobody", {}, 0, {}, (lost,)))

    assert [(one.id, one.name) for one in verdict.diagnosis] == [("", name)]
    assert verdict.diagnosis[0].sentence == "In ROT-6.value: no answer."
    assert verdict.checks[0].diagnosis == verdict.diagnosis


@pytest.mark.parametrize(
    ("fault", "names"),
    [(Fault.FORM, ["other result"]), (Fault.FLUSHED, ["subnormals flushed"]), (None, ["unknown"])],
)
def test_what_needs_no_search_is_named_by_its_kind_and_not_by_its_words(fault, names):
    """The message may say what it likes."""
    failed = CheckResult(
        "ROT-6.value", "ROT-6", "", "", Status.FAIL, message="returns what it likes", fault=fault
    )
    verdict = explained(Nobody(), Verdict("nobody", {}, 0, {}, (failed,)))

    assert [one.name for one in verdict.diagnosis] == names


def test_subnormals_that_are_flushed_are_called_so(checks):
    """On a machine that keeps them that is a failure, and no class of precision."""

    def flushing(x, positions, **conventions):
        y = reference.apply_rotary(x, positions, **conventions)
        return np.where(np.abs(y) < 2.0**-126, np.float32(0), y)

    for name in ("ROT-10.identity", "JDG-3.precision"):
        result = checks.run(name, {"apply_rotary": flushing}, layouts=(False,))
        assert (result.status, result.message) == (Status.FAIL, FLUSHED), name
        assert result.fault is Fault.FLUSHED


def test_the_case_of_a_failure_is_the_one_that_failed(checks):
    """A check that widens the case it drew reports the wide one."""

    def lazy(x, positions, **conventions):
        y = reference.apply_rotary(x, positions, **conventions)
        y[:, :, 8:] = x[:, :, 8:]
        return y

    result = checks.run("ROT-19.many", {"apply_rotary": lazy}, layouts=(False,))
    case = result.counterexample.case

    assert result.status is Status.FAIL
    assert [case[name] for name in ("batch", "seq", "heads", "head_dim")] == [2, 3, 129, 2]
    assert case["positions"] == "spread"


def test_too_little_memory_for_the_largest_calls_is_no_mistake(checks):
    """What runs out of memory with many rows is judged by smaller calls, and other words fail."""

    def small(error, x, positions, **conventions):
        if len(x) > 100:
            raise error
        return reference.apply_rotary(x, positions, **conventions)

    for error, status in (
        (MemoryError(), Status.PASS),
        (RuntimeError("[enforce fail] can't allocate memory: you tried 34 GB"), Status.PASS),
        (RuntimeError("invalid configuration of the launch grid"), Status.ERROR),
    ):
        apply = functools.partial(small, error)
        result = checks.run("ROT-19.many", {"apply_rotary": apply}, layouts=(False,))
        assert result.status is status, error


def test_the_same_seed_gives_the_same_cases_in_another_process():
    """Cases depend on the seed alone, not on the process or its hash seed."""
    script = (
        "from test_runner import HALF, drawn\n"
        "from ropespec.conformance.case import Space\n"
        "print(drawn(HALF, Space(), 7))"
    )
    folder = __file__.rsplit("/", 1)[0]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            check=True,
            capture_output=True,
            text=True,
            cwd=folder,
            env={"PATH": "", "PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for hash_seed in ("0", "1")
    }

    assert outputs == {f"{drawn(HALF, Space(), 7)}\n"}
    assert drawn(HALF, Space(), 7) != drawn(HALF, Space(), 8)


PROFILES = [
    HALF,
    Profile(layouts=(True,), rotary_dim=6, head_dims=(8, 10)),
    Profile(layouts=(True, False), axes="shd", max_position=9),
    Profile(layouts=(False,), negative_positions=False, shared_positions=True),
    Profile(layouts=(False,), strided=False, subnormals=False, max_tokens=5, min_head_dim=6),
    Profile(layouts=(False,), array="jax", max_tokens=5, min_head_dim=6),
    Profile(layouts=(False,), array="jax", max_position=2**31 - 1),
]


@pytest.mark.parametrize("profile", PROFILES, ids=range(len(PROFILES)))
def test_no_case_leaves_the_profile(profile):
    """Shapes, positions and dtypes stay within what is claimed."""
    space = Space(values=VALUES, positions=POSITIONS, min_seq=2, partial=True, strided=True)
    for case in drawn(profile, space, 1, count=150):
        positions = case.make_positions()
        x = case.make_x(positions)
        assert x.shape == case.shape
        assert x.dtype.name == case.dtype
        assert case.head_dim in profile.head_dims
        assert np.abs(positions).max() <= profile.max_position
        assert profile.negative_positions or positions.min() >= 0
        assert profile.max_tokens is None or case.batch * case.seq <= profile.max_tokens
        assert profile.strided or not case.strided
        assert profile.subnormals or case.values != "subnormal"
        if profile.axes == "shd":
            assert case.batch == 1
        if profile.shared_positions:
            assert (positions == positions[0]).all()


def test_jax_cases_come_from_a_small_pool_of_shapes():
    """A compiler pays for each new shape."""
    shapes = {case.shape for case in drawn(PROFILES[-1], Space(), 3, count=200)}

    assert 3 <= len(shapes) <= 8


def test_jax_cases_that_fit_no_shape_of_the_pool_have_one_shape():
    """The shape in the middle has as much of each as a check needs; nothing else is drawn."""
    profile = PROFILES[-1]
    *_, dim = pool(profile.head_dims, one_row=False)[1]
    for space, sizes in (
        (Space(min_heads=7, max_dim=dim), (2, 3, 7)),
        (Space(min_seq=5, max_dim=dim), (2, 5, 2)),
        (Space(min_batch=4), (4, 3, 2)),
    ):
        assert {case.shape for case in drawn(profile, space, 3)} == {(*sizes, dim)}


def test_jax_cases_of_further_dtypes_have_the_largest_shape():
    """A narrow dtype takes many elements to tell how its angles were made."""
    profile = dataclasses.replace(PROFILES[-1], dtypes=("float32", "bfloat16"))
    seen = drawn(profile, Space(), 3, count=200)
    largest = max(seen, key=lambda case: np.prod(case.shape)).shape

    assert {case.shape for case in seen if case.dtype == "bfloat16"} == {largest}
    assert len({case.shape for case in seen if case.dtype == "float32"}) == 3


def test_select_by_clause_check_and_chapter():
    """A plan names clauses, checks or chapters; anything else is refused with one line."""
    assert {c.id for c in select(Plan(only=("ROT-10",)))} == {"ROT-10.identity"}
    assert {c.id for c in select(Plan(only=("rot-10.IDENTITY",)))} == {"ROT-10.identity"}
    assert {c.clause[:3] for c in select(Plan(only=("derivation",)))} == {"DER"}
    assert {c.clause[:4] for c in select(Plan(only=("Rot",)))} == {"ROT-"}
    assert len(select(Plan(only=("REL",)))) == len(select(Plan(only=("relative",))))
    with pytest.raises(ValueError, match="no check is called 'ROT-999'; give a clause"):
        select(Plan(only=("ROT-999",)))


def test_cases_are_frozen_and_print_as_plain_values():
    """A case can be a key, and goes into JSON as it is."""
    case = drawn(HALF, Space(), 1, count=5)[0]

    assert isinstance(case, Case)
    assert hash(case) == hash(case)
    plain = json.loads(json.dumps(case.as_dict()))
    assert set(plain) == set(Case.__dataclass_fields__) - {"convention"} | set(case.keywords)
    assert Case.read(plain, Profile((True,)).convention) == case
