"""Our tests in a run of pytest, as a user and a continuous integration see them."""

import math
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from ropespec.conformance import CheckResult, Counterexample, Status
from ropespec.conformance.draft import Draft
from ropespec.conformance.judge.fault import Fault
from ropespec.conformance.pytest_told import result_of, text_of

ROOT = Path(__file__).parents[2]
ROPE = '''
"""A half-split rotation, right and wrong."""
import numpy as np


def rotate(x, positions, sign):
    half = x.shape[-1] // 2
    angle = positions[..., None, None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angle), sign * np.sin(angle)
    a, b = x[..., :half].astype(float), x[..., half:].astype(float)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)


def right(x, positions):
    return rotate(x, positions, 1.0)


def wrong(x, positions):
    return rotate(x, positions, -1.0)
'''
TESTS = """
import os
from functools import partial
from pathlib import Path

import my_rope
import pytest

from ropespec.conformance import conformance_tests

with Path("imports.log").open("a") as log:
    log.write(f"{os.getpid()}\\n")


def own(x, positions):
    return my_rope.right(x, positions)


named = partial(my_rope.rotate, sign=1.0)
claims = {"interleaved": False, "only": ["ROT-7", "ROT-10", "ROT-14"], "head_dim": [4, 8]}

test_right = conformance_tests(my_rope.right, **claims)
test_wrong = conformance_tests(my_rope.wrong, **claims)
test_own = conformance_tests(own, **claims)
test_named = conformance_tests(named, **claims)
test_string = conformance_tests("my_rope:right", **claims)
test_missing = conformance_tests("my_rope:rihgt", **claims)
"""


def filled(folder):
    """Return a folder with an implementation and a test file in it."""
    (folder / "my_rope.py").write_text(ROPE, encoding="utf-8")
    (folder / "test_rope.py").write_text(TESTS, encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path):
    """Return a folder with an implementation and a test file."""
    return filled(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, run):
    """Return what a run of all tests of that file came to."""
    return run(filled(tmp_path_factory.mktemp("whole")), "-v", "-rsf", "-W", "error")


def joined(text):
    """Return a text without its line breaks: the path of a test may be long."""
    return " ".join(text.split())


def line_of(text):
    """Return the number of the first line of the test file that holds a text."""
    lines = TESTS.splitlines()
    return 1 + next(number for number, line in enumerate(lines) if text in line)


def test_each_check_is_a_test_and_says_what_is_wrong(whole):
    """Right ones pass, wrong ones fail readably, what is not claimed is skipped with its reason."""
    lines = whole.stdout.splitlines()
    outcome = {
        line.split("::")[1].split()[0]: line.split()[1]
        for line in lines
        if ".py::test_" in line[:20]
    }
    summary = [line for line in lines if line.startswith("FAILED ")]

    assert whole.returncode == 1
    assert whole.stderr == ""
    for name in ("right", "own", "named", "string"):
        assert outcome[f"test_{name}[ROT-10.identity]"] == "PASSED"
        assert outcome[f"test_{name}[ROT-7.value]"] == "PASSED"
    assert outcome["test_wrong[ROT-10.identity]"] == "PASSED"
    assert outcome["test_wrong[ROT-7.value]"] == "FAILED"
    assert outcome["test_right[ROT-14.tail]"] == "SKIPPED"
    # What cannot be loaded fails once.
    missing = [told for name, told in outcome.items() if name.startswith("test_missing[")]
    assert missing == ["FAILED", *["SKIPPED"] * (len(missing) - 1)]
    assert any("SKIPPED" in line and "no tail claimed" in line for line in lines)
    # The finding comes first, in the test and in the line about it.
    assert "FAILED test_rope.py::test_wrong[ROT-7.value] - y is further from R_m x" in whole.stdout
    assert lines.count("my_rope has no attribute 'rihgt'; did you mean 'right'?") == 1
    assert summary[-1].endswith("- my_rope has no attribute 'rihgt'; did you mean 'right'?")
    assert "During handling" not in whole.stdout
    assert "hidden" not in whole.stdout


def test_the_verdict_and_the_diagnosis_stand_once_at_the_end(whole):
    """Per subject, in the words of the command; a right one has a line as well."""
    _, _, end = whole.stdout.partition("= ropespec =")
    lines = [line for line in end.splitlines() if line]

    assert whole.stdout.count("= ropespec =") == 1
    assert joined(end).count("test_rope:own conforms (checked only: ROT-7, ROT-10, ROT-14): ") == 1
    (wrong,) = (n for n, line in enumerate(lines) if line.startswith("my_rope:wrong does not "))
    assert lines[wrong + 1].startswith("Diagnosis: S1 ")
    assert any(line.startswith("  read what ROT-7 asks for: ropespec spec ROT-7") for line in lines)
    assert "my_rope:rihgt cannot be used: my_rope has no attribute 'rihgt'" in end


def test_what_almost_any_mistake_causes_is_one_line(whole):
    """The input and the script stand where a failure points at the mistake."""
    _, _, failures = whole.stdout.partition("= FAILURES =")
    failures, _, _ = failures.partition("= ropespec =")
    sections = {
        part.split("]", 1)[0]: part.splitlines() for part in failures.split("test_wrong[")[1:]
    }
    (line,) = (one for one in sections["ROT-7.value"][1:] if one and "____" not in one)

    assert line.startswith("y is further from R_m x than ")
    assert line.endswith(" (as after almost any mistake of my_rope:wrong)")


TELLING = """
import my_rope
from ropespec.conformance import conformance_tests

test_telling = conformance_tests(
    my_rope.wrong, interleaved=False, only=["ROT-1.direction"], head_dim=4
)
"""


def test_a_failure_points_at_the_file_of_the_user(folder, run):
    """So do annotations and reports of a continuous integration, which have the script once."""
    (folder / "test_rope.py").write_text(TELLING, encoding="utf-8")
    done = run(folder, "-q", "--junitxml=found.xml", "-o", "junit_family=xunit1", CI="true")
    (case,) = ET.parse(folder / "found.xml").iter("testcase")  # noqa: S314  # our own file
    (failure,) = case.iter("failure")
    finding = failure.text.partition("\n")[0]

    assert (case.get("file"), int(case.get("line"))) == ("test_rope.py", 4)  # counted from 0
    assert failure.get("message") == finding
    assert failure.text.startswith(f"{finding}\nmy_rope:wrong\n")
    assert failure.text.count("import numpy as np") == 1
    assert "this script shows it:" in failure.text
    # With CI set pytest prints the whole message in its summary: it is one line.
    assert f"- {finding}\n" in done.stdout
    assert "pytest_function.py" not in done.stdout


ANNOTATES = """
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        crash = report.longrepr.reprcrash
        print(f"annotation {crash.path} {crash.lineno} {crash.message}")
    return report
"""


def test_an_annotation_has_the_place_of_the_call(folder, run):
    """Path and line of the crash are those of the line that calls `conformance_tests`."""
    (folder / "conftest.py").write_text(ANNOTATES, encoding="utf-8")
    done = run(
        folder, "-q", "-s", "-k", "test_wrong and ROT-7.value or test_missing and ROT-7.value"
    )
    place = folder / "test_rope.py"

    for name in ("wrong", "missing"):
        assert f"annotation {place} {line_of(f'test_{name} = ')} " in done.stdout


def test_a_skip_is_told_at_the_call_and_folded(whole):
    """One line per reason and call, at the line of the user's file."""
    skipped = [line for line in whole.stdout.splitlines() if line.startswith("SKIPPED")]
    lines = [line for line in skipped if f" test_rope.py:{line_of('test_right = ')}: " in line]

    assert lines
    assert all(" test_rope.py:" in line for line in skipped)
    assert len({line.partition(": ")[2] for line in lines}) == len(lines)


TABLES = """
def by_tables(x, table, scale):
    return x
"""
REFUSED = """
from ropespec.conformance import conformance_tests

test_tables = conformance_tests("tables:by_tables", interleaved=False, only=["ROT-7", "ROT-10"])
"""


def test_what_cannot_be_called_is_one_failure(folder, run):
    """With the adapter to write; the other checks are not run, and say so in one line."""
    (folder / "tables.py").write_text(TABLES, encoding="utf-8")
    (folder / "test_rope.py").write_text(REFUSED, encoding="utf-8")
    done = run(folder, "-rsf", "-v")
    lines = done.stdout.splitlines()
    line = (
        "tables:by_tables cannot be called as f(x, positions); its parameters are x, table, scale"
    )

    assert lines.count(line) == 1
    assert lines.count("def apply(x, positions):") == 1
    assert any(one.startswith("FAILED ") and one.endswith(f"] - {line}") for one in lines)
    assert re.search(r"= 1 failed, \d+ skipped in ", done.stdout)
    assert done.stdout.count(": not run: tables:by_tables cannot be used\n") == 1
    assert f"tables:by_tables cannot be used: {line}" in joined(done.stdout)


OFFERS = """
import my_rope
from ropespec.conformance import conformance_tests

test_object = conformance_tests(my_rope.right, interleaved=False, only=["ROT-10", "ATT-1"])
test_string = conformance_tests("my_rope:right", interleaved=False, only=["ATT-1", "ROT-10"])
"""


def test_what_is_not_offered_is_no_test(folder, run):
    """Of an object that is known at once; of a name it is counted by itself, in one line."""
    (folder / "test_rope.py").write_text(OFFERS, encoding="utf-8")
    done = run(folder, "-ra")
    collected = run(folder, "-q", "--collect-only").stdout

    assert "test_object[ROT-10.identity]" in collected
    assert "test_object[ATT-1" not in collected
    assert "test_string[ATT-1.value]" in collected
    assert re.search(r"= 3 passed, \d+ not offered in ", done.stdout)  # one is for waivers
    assert "SKIPPED" not in done.stdout
    assert (
        len(re.findall(r" checks left out: \d+ of functions that it does not offer", done.stdout))
        == 2
    )


TRAVELS = """
import json

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    hook = item.config.hook
    sent = json.dumps(hook.pytest_report_to_serializable(config=item.config, report=report))
    return hook.pytest_report_from_serializable(config=item.config, data=json.loads(sent))
"""


def test_reports_travel_between_processes(folder, run):
    """What a test leaves for the summary is plain: it is sent as text and read again."""
    (folder / "conftest.py").write_text(TRAVELS, encoding="utf-8")
    done = run(folder, "-q", "-k", "test_wrong")

    assert "my_rope:wrong does not conform " in done.stdout
    assert "Diagnosis: S1 " in done.stdout


def test_several_processes_give_one_verdict(folder, run):
    """With pytest-xdist the tests of a subject run in several workers, and are put together."""
    pytest.importorskip("xdist")
    done = run(folder, "-q", "-n", "2", "-k", "test_wrong or test_own")

    assert joined(done.stdout).count("my_rope:wrong does not conform ") == 1
    assert joined(done.stdout).count("test_rope:own conforms ") == 1


ESCAPES = """
def escapes(x, positions):
    raise ValueError("\\x1b[2Jconforms\\u202e")
"""
ESCAPING = """
import my_rope
from ropespec.conformance import conformance_tests

test_escaping = conformance_tests(my_rope.escapes, interleaved=False, only=["ROT-10"], head_dim=4)
"""


def test_what_a_subject_says_is_shown_and_not_obeyed(folder, run):
    """Escape sequences and marks of direction are pictures in the output and in the summary."""
    (folder / "my_rope.py").write_text(ROPE + ESCAPES, encoding="utf-8")
    (folder / "test_rope.py").write_text(ESCAPING, encoding="utf-8")
    done = run(folder, "-q")

    assert "ValueError: \u241b[2Jconforms\ufffd" in done.stdout
    assert "\x1b[2J" not in done.stdout
    assert "\u202e" not in done.stdout


HANGS = """
import my_rope
from ropespec.conformance import conformance_tests

test_hanging = conformance_tests(
    "my_rope:hangs", interleaved=False, only=["ROT"], head_dim=4, timeout=1.0
)
"""


def test_a_subject_that_hangs_is_not_waited_for_in_every_test(folder, run):
    """After three losses the others are left out, and the reason is said."""
    source = ROPE + "\n\ndef hangs(x, positions):\n    while True:\n        pass\n"
    (folder / "my_rope.py").write_text(source, encoding="utf-8")
    (folder / "test_rope.py").write_text(HANGS, encoding="utf-8")
    done = run(folder, "-q", "-rs")

    assert re.search(r"\b3 failed, ", done.stdout)
    assert "not run: the subject was lost in " in done.stdout
    assert "Diagnosis: it hangs. " in done.stdout


def test_the_plugin_is_there_when_pytest_starts(tmp_path):
    """It is declared, and it loads nothing but pytest."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    code = (
        "import sys, ropespec.pytest_plugin; "
        "print({'numpy', 'torch', 'jax', 'cupy', 'hypothesis', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "set()\n"
    assert declared["project"]["entry-points"]["pytest11"] == {"ropespec": "ropespec.pytest_plugin"}


def test_a_result_is_the_same_after_a_journey():
    """Numbers that JSON does not have included."""
    example = Counterexample(
        {"seq": 1}, {"x": [1.0]}, "y[0]", math.inf, -math.inf, None, off=1, of=2
    )
    sent = CheckResult(
        *("ROT-7.value", "ROT-7", "Title", "Sentence.", Status.FAIL, 3),
        worst=math.inf,
        message="wrong",
        counterexample=replace(example, drafts=(Draft("print(1)"),)),
        waived={"ROT-7": "why"},
        fault=Fault.FORM,
    )

    assert result_of(text_of(sent)) == replace(sent, counterexample=example)
    assert math.isnan(result_of(text_of(replace(sent, worst=math.nan))).worst)


def test_collecting_starts_nothing(folder, run):
    """The test file is imported once, by pytest, and no framework and no worker is there."""
    plugin = (
        "import sys\n"
        "from ropespec.conformance.subject.process import WorkerProcess\n"
        "def start(*_):\n"
        "    raise AssertionError('started')\n"
        "WorkerProcess.__init__ = start\n"
        "def pytest_sessionfinish():\n"
        "    print('frameworks', sorted({'torch', 'jax', 'cupy'} & set(sys.modules)))\n"
    )
    (folder / "conftest.py").write_text(plugin, encoding="utf-8")
    collected = run(folder, "--collect-only", "-q")
    ran = run(folder, "-q", "-k", "test_right and identity")

    assert collected.returncode == 0
    assert "test_rope.py::test_right[ROT-10.identity]" in collected.stdout
    assert "frameworks []" in collected.stdout
    # The plugin would have noticed a worker.
    assert ran.returncode == 1
    assert "started" in ran.stdout


def test_all_tests_of_one_call_share_a_worker(folder, run):
    """The test file is imported by pytest and by one worker, however many tests there are."""
    done = run(folder, "-q", "-k", "test_own")
    processes = (folder / "imports.log").read_text(encoding="utf-8").split()

    assert done.returncode == 0
    assert len(processes) == len(set(processes)) == 2
