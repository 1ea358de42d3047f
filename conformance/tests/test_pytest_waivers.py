"""Waivers in a run of pytest: expected failures, and a test for each that nothing needs."""

from xml.etree import ElementTree as ET

import pytest

SUBJECTS = """
from ropespec import reference


def right(x, positions):
    return reference.apply_rotary(x, positions, interleaved=False)


def refuses(x, positions):
    if x.size == 0:
        raise ValueError("no tokens")
    return right(x, positions)
"""
TESTS = """
import my_rope
from ropespec.conformance import conformance_tests

claims = {"interleaved": False, "head_dim": 4, "only": ["ROT-10", "ROT-18"]}

test_refuses = conformance_tests(my_rope.refuses, waivers={"ROT-18": "never so"}, **claims)
test_right = conformance_tests(my_rope.right, waivers={"ROT-18.empty": "never so"}, **claims)
test_string = conformance_tests("own_rope:right", **claims)
test_unwaived = conformance_tests(my_rope.refuses, **claims)
test_unchecked = conformance_tests(my_rope.right, waivers={"ROT-17": "never so"}, **claims)
"""


@pytest.fixture
def waiving(tmp_path):
    """Return a folder with subjects that refuse empty input, and tests that waive it."""
    (tmp_path / "my_rope.py").write_text(SUBJECTS, encoding="utf-8")
    own = 'PROFILE = {"waivers": {"ROT-10": "long ago", "rot-18": "as well"}}\n'
    (tmp_path / "own_rope.py").write_text(SUBJECTS + own, encoding="utf-8")
    (tmp_path / "test_rope.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def test_a_waived_failure_is_expected_and_a_waiver_has_a_test(waiving, run):
    """An xfail with its reason; the test of a waiver fails once nothing needs it."""
    done = run(waiving, "-v", "-rx", "-W", "error", "--junitxml=found.xml")
    lines = done.stdout.splitlines()
    outcome = {
        line.split("::")[1].split()[0]: line.split()[1]
        for line in lines
        if ".py::test_" in line[:20]
    }
    reason = "waived, ROT-18: never so"
    root = ET.parse(waiving / "found.xml").getroot()  # noqa: S314  # our own file
    (skipped,) = (
        one
        for case in root.iter("testcase")
        for one in case.iter("skipped")
        if "xfail" in str(one.attrib)
    )

    assert outcome == {
        "test_refuses[ROT-10.identity]": "PASSED",
        "test_refuses[ROT-18.empty]": "XFAIL",
        "test_refuses[waiver-ROT-18]": "PASSED",
        "test_right[ROT-10.identity]": "PASSED",
        "test_right[ROT-18.empty]": "PASSED",
        "test_right[waiver-ROT-18.empty]": "FAILED",
        "test_string[ROT-10.identity]": "PASSED",
        "test_string[ROT-18.empty]": "PASSED",
        "test_string[waivers]": "FAILED",
        "test_unwaived[ROT-10.identity]": "PASSED",
        "test_unwaived[ROT-18.empty]": "FAILED",
        "test_unchecked[ROT-10.identity]": "PASSED",
        "test_unchecked[ROT-18.empty]": "PASSED",
    }
    assert f"XFAIL test_rope.py::test_refuses[ROT-18.empty] - {reason}" in lines
    assert skipped.get("message") == reason
    assert lines.count("waiver ROT-18.empty is not needed: ROT-18.empty passes") >= 1
    assert done.returncode == 1


def test_both_answers_and_the_waivers_stand_in_the_summary(waiving, run):
    """In the words of the command, with the claim that fits where nothing is waived."""
    done = run(waiving, "-q")
    _, _, end = done.stdout.partition("= ropespec =")
    text = " ".join(end.split())
    only = "(checked only: ROT-10, ROT-18)"

    assert (
        f"my_rope:refuses conforms {only}, waived: ROT-18 (never so): numbers right, contract kept "
        "otherwise; 2 clauses checked in "
    ) in text
    assert "no tokens (waived: never so)" in text
    assert "waiver ROT-18.empty is not needed: ROT-18.empty passes" in text
    assert "waiver ROT-10 is not needed: ROT-10.identity passes" in text
    assert (
        f"my_rope:refuses does not conform {only}: numbers right; deviates from the contract: "
        "ROT-18, raises on empty input"
    ) in text
    assert "(tried: no failure is left): ropespec check my_rope:refuses --half" in text
    assert "--no-empty" in text


@pytest.mark.parametrize("name", ["refuses", "right"])
def test_the_test_of_a_waiver_runs_alone(waiving, run, name):
    """It runs the checks that it is about, and makes no summary of them."""
    done = run(waiving, "-q", "-k", f"test_{name} and waiver")

    assert done.returncode == (1 if name == "right" else 0)
    assert "= ropespec =" not in done.stdout


def test_without_expected_failures_a_waived_one_fails(waiving, run):
    """`--runxfail` shows it."""
    done = run(waiving, "-q", "--runxfail", "-k", "test_refuses")

    assert done.returncode == 1
    assert "raises ValueError: no tokens" in done.stdout
