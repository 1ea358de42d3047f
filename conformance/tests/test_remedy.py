"""The claims that are proposed: what was seen to vanish under them, and no others."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ropespec.conformance.opening import open_subject
from ropespec.conformance.profile import Profile
from ropespec.conformance.remedy import remedied
from ropespec.conformance.remedy.remedied import _Tries
from ropespec.conformance.report.advice import advice
from ropespec.conformance.results import CheckResult, Diagnosis, Remedy, Status, Verdict
from ropespec.conformance.runner import Plan, run_check, select
from ropespec.conformance.trial import Trial

SUBJECTS = Path(__file__).parent / "subjects"
BASIC = ("ROT-7", "ROT-10", "ROT-17", "ROT-18", "ROT-19.tokens")


@pytest.fixture(autouse=True)
def _time_enough(monkeypatch):
    """What is found is tried here, not how fast the machine is."""
    module = sys.modules[_Tries.__module__]
    monkeypatch.setattr(module, "SECONDS", 120.0)
    monkeypatch.setattr(module, "PATIENCE", 30.0)


def checked(name, only=BASIC, *, file="deviating.py", **claims):
    """Run some checks on a subject, and return the verdict with its remedy."""
    diagnosis = claims.pop("diagnosis", ())
    plan = Plan(only=only, deadline=claims.pop("deadline", Plan().deadline))
    known = {"layouts": [False], "max_position": 4095, **claims}
    if file == "deviating.py":
        known.setdefault("head_dims", [4, 8, 16, 24, 32])
    with open_subject(f"{SUBJECTS / file}:{name}", known, 30.0) as session:
        trial = Trial(session, untried=set())
        verdict = Verdict(
            subject=f"{file}:{name}",
            profile=session.profile.as_dict(),
            seed=0,
            precision_by_dtype=trial.measured.best(),
            checks=tuple(run_check(item, trial, plan) for item in select(plan)),
            diagnosis=diagnosis,
        )
        return remedied(session, verdict, plan)


def named(name, sentence=""):
    """Return a diagnosis as the checks of an identification make it."""
    return (Diagnosis("X0", name, sentence),)


@pytest.mark.parametrize(
    ("name", "claims", "only"),
    [
        ("refuses_empty", {"empty": False}, BASIC),
        ("contiguous", {"strided": False}, BASIC),
        ("misreads_strides", {"strided": False}, BASIC),
        ("flushes", {"subnormals": False}, BASIC),
        ("from_sixteen", {"min_head_dim": 16}, BASIC),
        ("powers_of_two", {"head_dims": (4, 8, 16, 32)}, BASIC),
        ("few_tokens", {"max_tokens": 100}, ("ROT-19.many", "ROT-10")),
    ],
)
def test_the_claim_that_fits_is_found(name, claims, only):
    """What is refused, or wrong in one case alone, is left out by one claim; nothing is left."""
    found = checked(name, only)

    assert found.failures
    assert found.remedy.claims == claims
    assert found.remedy.failures == found.remedy.tried == len(found.failures)
    assert (found.remedy.left, found.remedy.waivers) == (0, ())


def test_a_short_patience_is_no_failure(monkeypatch):
    """What only took longer than the search waits is not tried; it says nothing of the claim."""
    monkeypatch.setattr(sys.modules[_Tries.__module__], "PATIENCE", 0.5)
    found = checked("slow_from_sixteen", ("ROT-7", "ROT-19.many"))

    assert found.remedy.claims == {"min_head_dim": 16}
    assert (found.remedy.left, found.remedy.waivers) == (0, ())
    assert found.remedy.tried == len(found.failures) - 1


def test_claims_are_found_together():
    """A table that refuses what is beyond it, below zero and empty needs three of them."""
    told = (
        *named("positions refused", "raise (beyond 63)"),
        *named("negative positions refused"),
    )
    only = ("FREQ-6", "ROT-7", "ROT-10", "ROT-18")
    found = checked("table", only, diagnosis=told)

    claims = {"max_position": 63, "negative_positions": False, "empty": False}
    assert found.remedy.claims == claims
    assert found.remedy.left == 0


def test_a_base_that_was_found_is_claimed():
    """The command holds the base that the diagnosis names."""
    told = named("wrong base", "The base is 500000. Pass it on.")

    assert checked("other_base", ("ROT-7",), diagnosis=told).remedy.claims == {"base": 500000.0}


def test_small_heads_that_raise_are_named():
    """What is refused at small sizes is no unknown mistake."""
    found = checked("refuses_small", diagnosis=named("unknown"))

    assert [one.name for one in found.diagnosis] == ["small heads refused"]
    assert found.remedy.claims == {"min_head_dim": 16, "empty": False}


def test_what_is_for_inference_alone_is_found():
    """Only checks of gradients raise."""
    found = checked("inference", ("ROT-10", "ROT-18", "ROT-20.gradient"), file="torch_deviating.py")

    assert [one.id for one in found.failures] == ["ROT-20.gradient"]
    assert found.remedy == Remedy({"gradients": False}, failures=1, tried=1, left=0)


@pytest.mark.parametrize(
    ("name", "diagnosis", "claims", "only"),
    [
        ("neighbours", named("wrong pairing"), {"layouts": (True,)}, ("ROT-6", "ROT-7")),
        (
            "positive",
            named("negative positions clamped"),
            {"negative_positions": False},
            ("ROT-7", "ROT-12"),
        ),
    ],
)
def test_what_a_diagnosis_says_is_tried(name, diagnosis, claims, only):
    """It is proposed because the failures vanished, and what is asked then did not fail."""
    found = checked(name, only, diagnosis=diagnosis)

    assert found.remedy.claims == claims
    assert found.remedy.left == 0


@pytest.mark.parametrize(
    "name", ["wrong pairing", "negative positions clamped", "positions refused"]
)
def test_what_a_diagnosis_says_is_not_believed(name):
    """Under no such claim does the wrong direction come right."""
    every_layout = (*BASIC, "ROT-19")  # ROT-7 is of halves alone
    found = checked("backwards", every_layout, diagnosis=named(name, "refused (beyond 7)"))

    assert any(one.clause == "ROT-18" for one in found.failures)
    assert found.remedy is None


def test_a_layout_in_which_something_else_fails_is_not_proposed():
    """What vanishes with one layout must not appear with the other."""
    found = checked("backwards", ("ROT-6", "ROT-7"), diagnosis=named("wrong pairing"))

    assert {one.clause for one in found.failures} == {"ROT-7"}
    assert found.remedy is None


def test_what_no_claim_is_about_may_be_waived():
    """Another dtype is no claim."""
    found = checked("promotes")

    assert found.remedy == Remedy({}, failures=1, tried=1, left=1, waivers=("ROT-17",))


def test_what_is_left_is_counted():
    """One failure vanishes, the other is left, and may be waived."""
    found = checked("refuses_empty_and_promotes")

    assert found.remedy == Remedy(
        {"empty": False}, failures=2, tried=2, left=1, waivers=("ROT-17",)
    )


def test_what_comes_and_goes_by_itself_vanishes_by_no_claim():
    """A subject that raises at every other call."""
    found = checked("moody")

    assert found.failures
    assert found.remedy is None or found.remedy.claims == {}


def test_there_is_an_end_to_trying():
    """Of what there was no time for it is said so."""
    found = checked("refuses_empty", deadline=1e-9)

    assert found.remedy == Remedy({}, failures=1, tried=0, left=0)


def verdict(remedy, **values):
    """Return a verdict with one failure and a remedy."""
    failed = CheckResult("ROT-18.empty", "ROT-18", "Empty axes", "It raises.", Status.FAIL, 1)
    profile = Profile(layouts=(False,)).as_dict()
    return replace(Verdict("my_rope.py:f", profile, 0, {}, (failed,), remedy=remedy), **values)


def proposed(remedy, **values):
    """Return what the report advises."""
    found = verdict(remedy, **values)
    return [f"{purpose}: {line}" for purpose, line in advice(found, found.failures[0])]


def test_the_advice_says_in_which_case_and_what_was_seen():
    """The command is whole, and the count is that of the trial."""
    first, *others = proposed(Remedy({"empty": False}, failures=1, tried=1, left=0))

    assert first == (
        "if it is never called on empty input (tried: no failure is left): "
        "ropespec check my_rope.py:f --half --no-empty"
    )
    assert not any("--waive" in line for line in others)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Remedy({"empty": False}, 5, 5, 2, ("ROT-17",)), "(tried: 2 of 5 failures are left)"),
        (Remedy({"empty": False}, 2, 2, 1, ("ROT-17",)), "(tried: 1 of 2 failures is left)"),
        (Remedy({"empty": False}, 46, 30, 0), "(tried on 30 of 46 failures: none left)"),
        (Remedy({"empty": False}, 46, 30, 4, ("ROT-17",)), "(tried on 30 of 46 failures: 4 left)"),
    ],
)
def test_what_is_left_is_said(found, words):
    """And no more than was tried."""
    assert words in proposed(found)[0]


def test_a_claim_and_a_waiver_make_one_command():
    """The waiver stands beside the claim under which the rest vanished, and those there were."""
    found = Remedy({"min_head_dim": 16}, failures=9, tried=9, left=1, waivers=("ROT-17",))
    lines = proposed(found, waivers={"ROT-21": "says no"})

    assert lines[1] == (
        "if ROT-17 may fail, say why: ropespec check my_rope.py:f --half --min-head-dim 16 "
        "--waive 'ROT-21=says no' --waive ROT-17=\"why\""
    )


def test_what_does_not_answer_may_be_given_more_time():
    """Only where a call was ended."""
    late = replace(verdict(None).failures[0], status=Status.TIMEOUT)
    wait = (
        "if it is only slow, wait longer for a call: ropespec check my_rope.py:f --half --timeout"
    )

    assert f"{wait} 600" in proposed(None, checks=(late,))
    assert not any("--timeout" in line for line in proposed(None))


def test_many_waivers_are_not_proposed():
    """What breaks most of the contract has no exception to it."""
    clauses = tuple(f"ROT-{number}" for number in (17, 18, 20, 21, 23))

    assert not any("--waive" in line for line in proposed(Remedy({}, 5, 5, 5, clauses)))


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"layouts": (True,)}, "the pairs it rotates are those you want"),
        ({"base": 500000.0}, "the base 500000 is the one you want"),
        ({"negative_positions": False}, "it is for no positions below zero"),
        ({"max_position": 7}, "positions up to 7 are enough"),
        ({"head_dims": (64,)}, "no other head_dim is needed"),
        ({"min_head_dim": 4}, "it is for head_dim 4 and above"),
        ({"max_tokens": 9}, "9 tokens a call are enough"),
        ({"gradients": False}, "it is for inference alone"),
        ({"strided": False}, "it takes contiguous arrays alone"),
        ({"empty": False}, "it is never called on empty input"),
        ({"subnormals": False}, "subnormals may become zero"),
        ({"empty": False, "max_tokens": 9}, "it is never called on empty input and 9 tokens a"),
    ],
)
def test_every_claim_is_proposed_in_words(claims, words):
    """Who reads them knows whether the claim is meant."""
    assert proposed(Remedy(claims, 1, 1, 0))[0].startswith(f"if {words} ")


def test_a_command_of_a_report_can_be_typed(tmp_path):
    """The reason of a waiver goes through a shell as it was."""
    why = 'it is "known": $HOME `x` \\ costs 5! and that\'s it'
    found = Remedy({}, failures=1, tried=1, left=1, waivers=("ROT-17",))
    line = proposed(found, waivers={"ROT-18": why})[0].partition(": ")[2]
    code = "import sys\nprint(*sys.argv[1:], sep='\\n')\n"
    (tmp_path / "ropespec").write_text(f"#!{sys.executable}\n{code}", encoding="utf-8")
    (tmp_path / "ropespec").chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "-c", f"./{line}"], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-4:] == ["--waive", f"ROT-18={why}", "--waive", "ROT-17=why"]
