"""Limits of a run: errors, state, slowness, deadlines, and what is left as it was."""

import math
import time

import pytest
from hypothesis import configuration

from ropespec.conformance.cli import main
from ropespec.conformance.opening import open_subject
from ropespec.conformance.report import summary
from ropespec.conformance.report.progress import Progress
from ropespec.conformance.report.screen import Screen
from ropespec.conformance.results import Status
from ropespec.conformance.runner import Plan, run

RIGHT = """
import os, time
import numpy as np

calls = []


def right(x, positions):
    d = x.shape[-1]
    angle = positions[..., None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angle)[:, :, None], np.sin(angle)[:, :, None]
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)


"""
RAISES_LATE = """
def f(x, positions):
    calls.append(1)
    if len(calls) > {after}:
        raise RuntimeError("cache full")
    return right(x, positions)
"""
SLOW = """
def f(x, positions):
    time.sleep(0.05)
    return right(x, positions)
"""
WELL_AT_FIRST = 8
"""Calls after which a subject shows its mistake: more than are made before the checks."""

STRICT = """
def f(x, positions):
    with np.errstate(all="raise"):
        return right(x, positions)
"""


def verdict_on(tmp_path, source, *only, **plan):
    """Run the suite on a function written to a file."""
    path = tmp_path / "mine.py"
    path.write_text(RIGHT + source, encoding="utf-8")
    with open_subject(f"{path}:f", {"layouts": [False]}, 30.0) as session:
        return run(session, Plan(only=only, **plan))


@pytest.fixture(scope="module")
def filled_up(tmp_path_factory):
    """Return the verdict on a right subject whose cache fills up."""
    return verdict_on(tmp_path_factory.mktemp("late"), RAISES_LATE.format(after=150), "ROT")


def test_an_error_after_many_calls_is_no_evidence_of_anything_else(filled_up):
    """The subject raises; no mistake of its numbers is named."""
    failed = [result for result in filled_up.checks if not result.status.conforms]

    assert {result.status for result in failed} == {Status.ERROR}
    (first,) = (result for result in failed if result.stateful)
    assert "a call before it is to blame" in first.message
    assert [item.name for item in filled_up.diagnosis] == ["it raises"]
    assert "cache full" in filled_up.diagnosis[0].sentence


def test_an_error_that_goes_away_is_followed_by_a_fresh_start(filled_up):
    """The checks after it judge numbers again, instead of repeating one error to the end."""
    statuses = [result.status for result in filled_up.checks if result.status is not Status.SKIP]
    first = statuses.index(Status.ERROR)

    assert Status.PASS in statuses[first + 1 :]


def test_an_error_of_arithmetic_is_named_an_error(tmp_path):
    """np.errstate(all="raise") raises for infinities: that is what the report says of it."""
    verdict = verdict_on(tmp_path, STRICT, "ROT-10", "ROT-16", "ROT-1")

    assert [item.name for item in verdict.diagnosis] == ["it raises"]
    assert "FloatingPointError" in verdict.diagnosis[0].sentence


def test_gradients_that_are_switched_off_are_no_other_mistake(tmp_path):
    """torch.set_grad_enabled(False) at import: no gradient, and nothing said of the cotangent."""
    pytest.importorskip("torch")
    path = tmp_path / "mine.py"
    path.write_text(
        "import torch\n\ntorch.set_grad_enabled(False)\n\n\n"
        "def f(x, positions):\n"
        "    d = x.shape[-1]\n"
        "    angle = positions[..., None] * 10000.0 ** (-torch.arange(0, d, 2) / d)\n"
        "    cos, sin = angle.cos()[:, :, None], angle.sin()[:, :, None]\n"
        "    a, b = x.chunk(2, -1)\n"
        "    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1).to(x.dtype)\n",
        encoding="utf-8",
    )
    with open_subject(f"{path}:f", {"layouts": [False], "array": "torch"}, 30.0) as session:
        verdict = run(session, Plan(only=("ROT-17", "ROT-20")))

    assert [item.id for item in verdict.diagnosis] == ["G3"]


def test_a_deadline_leaves_the_rest_undecided(tmp_path, monkeypatch, capsys):
    """Nothing failed and not all was checked: neither conforms nor does not, and status 4."""
    verdict = verdict_on(tmp_path, SLOW, "ROT", deadline=0.2)

    assert verdict.undecided
    assert not verdict.conforms
    assert not verdict.failures
    assert verdict.overdue > 0
    assert "the deadline of 0.2 s had passed" in verdict.checks[-1].message

    monkeypatch.chdir(tmp_path)
    words = ["check", "mine.py:f", "--half", "--only", "ROT", "--deadline", "0.2"]
    assert main(words) == 4
    assert " is undecided: " in capsys.readouterr().out.splitlines()[0]


def test_a_check_that_has_begun_asks_nothing_after_the_deadline(tmp_path):
    """One that walks hundreds of slow calls is left where it is, and is no pass."""
    counted = f"""
def f(x, positions):
    time.sleep(0.05)
    with open({str(tmp_path / "calls")!r}, "a") as file:
        file.write(".")
    return right(x, positions)
"""
    verdict = verdict_on(tmp_path, counted, "ROT-19.walk", deadline=0.2)
    skipped = [one for one in verdict.checks if "the deadline of 0.2 s" in one.message]

    assert skipped
    assert not verdict.failures
    assert len((tmp_path / "calls").read_text()) < WELL_AT_FIRST + 0.2 / 0.05


def test_a_failure_counts_whatever_the_deadline(tmp_path):
    """What failed before the deadline decides."""
    wrong = "def f(x, positions):\n    time.sleep(0.01)\n    return -right(x, positions)\n"
    verdict = verdict_on(tmp_path, wrong, "ROT-1", "ROT-10", "ROT-12", "ROT-15", deadline=0.2)

    assert verdict.failures
    assert not verdict.undecided
    assert any(check.status is Status.SKIP for check in verdict.checks), "the deadline was far off"


def test_a_slow_subject_is_judged_on_fewer_cases_and_the_report_says_so(tmp_path, monkeypatch):
    """A check stops drawing when it has taken long; at least two cases are judged."""
    monkeypatch.setattr("ropespec.conformance.search.PATIENCE", 0.2)
    verdict = verdict_on(tmp_path, SLOW, "ROT-12", "ROT-15")

    assert verdict.conforms
    assert all(result.cut and 2 <= result.examples <= 8 for result in verdict.checks)
    assert any("drew fewer cases" in line.plain for line in summary.verdict_lines(verdict))


def test_a_full_run_waits_for_every_case(tmp_path, monkeypatch):
    """`--full` cuts nothing."""
    monkeypatch.setattr("ropespec.conformance.search.PATIENCE", 0.0)
    verdict = verdict_on(tmp_path, "f = right\n", "ROT-10", full=True)

    assert not any(result.cut for result in verdict.checks)
    assert verdict.checks[0].examples > 24


def test_the_home_of_hypothesis_is_left_as_it_was(tmp_path):
    """A project that sets one keeps it."""
    home = getattr(configuration, "__hypothesis_home_directory", None)
    configuration.set_hypothesis_home_dir(tmp_path)
    try:
        verdict_on(tmp_path, "f = right\n", "ROT-10")
        assert getattr(configuration, "__hypothesis_home_directory") == tmp_path
    finally:
        configuration.set_hypothesis_home_dir(home)


def test_whatever_identification_meets_the_verdict_stands(tmp_path, monkeypatch):
    """An error of ours while a mistake is searched costs the name, and is said."""

    def broken(*_):
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr("ropespec.conformance.diagnosis.diagnose", broken)
    verdict = verdict_on(tmp_path, "def f(x, p):\n    return -right(x, p)\n", "ROT-10")

    assert verdict.failures
    (told,) = verdict.diagnosis
    assert told.name == "unknown"
    assert told.sentence.endswith("could not be examined: ZeroDivisionError: of ours.")


def test_long_silence_is_broken_where_no_terminal_is(capsys, monkeypatch):
    """A line every few seconds says that work goes on, and where it is."""
    monkeypatch.setattr("ropespec.conformance.report.progress.PULSE", 0.01)
    with Progress(Screen(), "mine.py:f"):
        end = time.monotonic() + 30
        out = ""
        while "mine.py:f: loading," not in out and time.monotonic() < end:
            out += capsys.readouterr().out
            time.sleep(0.01)

    assert "ropespec: loading mine.py:f ..." in out
    assert "mine.py:f: loading," in out


@pytest.mark.parametrize("value", ["nan", "0"])
def test_the_deadline_of_a_run_is_a_number_above_zero(value, capsys):
    """As that of a call."""
    assert main(["check", "numpy", "--deadline", value]) == 2
    assert "must be a number above 0" in capsys.readouterr().err


def test_no_deadline_is_the_default():
    """A run ends by itself."""
    assert Plan().deadline == math.inf


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("None", "returns "),
        ("np.ma.array(right(x, positions), mask=True)", "returns "),
        ("right(x, positions).astype('>f4')", "returns "),
        ("in_turn(right(x, positions))", "where that of the call before lay"),
    ],
    ids=["nothing", "masked", "byte order", "three buffers"],
)
def test_memory_is_judged_of_arrays_alone_and_over_several_calls(tmp_path, result, words):
    """What is no array like x never passes, however late, and buffers used in turn are seen."""
    source = (
        "buffers, asked = {}, []\n\n\n"
        "def in_turn(y):\n"
        "    calls.append(1)\n"
        "    own = buffers.setdefault(y.shape, [np.empty_like(y) for _ in range(3)])\n"
        "    own[len(calls) % 3][...] = y\n"
        "    return own[len(calls) % 3]\n\n\n"
        "def f(x, positions):\n"
        "    asked.append(1)\n"
        f"    return right(x, positions) if len(asked) <= {WELL_AT_FIRST} else {result}\n"
    )
    (found,) = verdict_on(tmp_path, source, "ROT-17.unwritten").checks

    assert found.status is Status.FAIL
    assert words in found.message


def test_what_outlives_the_subject_is_in_the_verdict(tmp_path):
    """A child in a session of its own is ended, and the verdict says so when the run is over."""
    source = """
import subprocess

def f(x, positions):
    if not calls:
        calls.append(subprocess.Popen(["sleep", "1000"], start_new_session=True))
    return right(x, positions)
"""
    verdict = verdict_on(tmp_path, source, "ROT-10")

    assert verdict.conforms
    assert verdict.stragglers == {"sleep": 1}
    assert verdict.lacks == ()


def test_what_a_system_lacks_is_in_the_verdict(tmp_path, monkeypatch):
    """Where there is no keeper the verdict says what follows, whatever became of the worker."""
    monkeypatch.setattr("ropespec.conformance.subject.process.can_keep", lambda: False)
    verdict = verdict_on(tmp_path, "def f(x, p):\n    os._exit(1)\n", "ROT-10")

    assert verdict.failures[0].status is Status.CRASH
    assert "its memory is not limited" in verdict.lacks


FLAKY = """
def f(x, positions):
    calls.append(1)
    if len(calls) % 40 == 39:
        raise RuntimeError("flaky")
    return right(x, positions)
"""


def test_what_passes_when_it_is_asked_once_more_has_no_culprit(tmp_path):
    """An error that comes and goes is not blamed on earlier calls alone, and shows no numbers."""
    verdict = verdict_on(tmp_path, FLAKY, "ROT-16", "ROT-10", "ROT-11")
    first = next(result for result in verdict.checks if result.stateful)
    example = first.counterexample

    assert first.message.partition("\n")[0] == (
        "RuntimeError: flaky; asked once more, the same case passes: chance, or a call before it"
    )
    assert example.no_script == "asked once more, the same case passes"
    assert (example.where, example.expected, example.got, example.off) == ("", None, None, None)
    assert example.inputs["function"] == "apply_rotary"
