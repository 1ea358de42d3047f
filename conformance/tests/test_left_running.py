"""Every command says what a subject left running, and what the system could not keep it from."""

import json

import pytest

from ropespec.conformance.cli import main
from ropespec.conformance.subject.plain import _LACKS

STRAY = """
import subprocess

from ropespec import reference

started = []


def f(x, positions):
    if not started:
        started.append(subprocess.Popen(["sleep", "1000"], start_new_session=True))
    return reference.apply_rotary(x, positions, interleaved=False)


def tidy(x, positions):
    return reference.apply_rotary(x, positions, interleaved=False)
"""
TESTS = """
import mine
from ropespec.conformance import conformance_tests

test_f = conformance_tests(mine.f, interleaved=False, only=["ROT-10", "ROT-16"], head_dim=4)
test_tidy = conformance_tests(mine.tidy, interleaved=False, only=["ROT-10"], head_dim=4)
"""
WORDS = "it left processes behind, which were ended: 1 sleep"


@pytest.fixture
def mine(tmp_path):
    """Return the file of a subject that starts a process, and of one that does not."""
    path = tmp_path / "mine.py"
    path.write_text(STRAY, encoding="utf-8")
    return path


def said(capsys, *words):
    """Run a command and return what it printed, and its document."""
    main([*words, "--json", "-"])
    printed = capsys.readouterr()
    return " ".join(printed.err.split()), json.loads(printed.out)


def stragglers(count):
    """Return the words for so many processes."""
    return WORDS.replace("1", str(count))


def test_identify_says_what_was_left_running(mine, capsys):
    """As many as there were processes of the subject, each ended with its children."""
    text, found = said(capsys, "identify", f"{mine}:f", "--half")

    assert set(found["stragglers"]) == {"sleep"}
    assert stragglers(found["stragglers"]["sleep"]) in text
    assert found["lacks"] == []


def test_compare_says_it_of_the_side_that_did_it(mine, capsys):
    """The other is not blamed."""
    text, found = said(capsys, "compare", f"{mine}:f", f"{mine}:tidy", "--half")

    assert set(found["a"]["stragglers"]) == {"sleep"}
    assert found["b"]["stragglers"] == {}
    assert text.count("it left processes behind") == 1


@pytest.mark.parametrize("command", ["identify", "compare"])
def test_what_a_system_lacks_is_said(mine, capsys, monkeypatch, command):
    """Where there is no keeper, whatever is asked."""
    monkeypatch.setattr("ropespec.conformance.subject.process.can_keep", lambda: False)
    targets = [f"{mine}:tidy"] * (2 if command == "compare" else 1)
    text, found = said(capsys, command, *targets, "--half")

    assert text.count(f"isolation is weaker on this system: {'; '.join(_LACKS)}") == len(targets)
    assert (found["a"] if command == "compare" else found)["lacks"] == list(_LACKS)


@pytest.mark.parametrize("spread", [(), ("-n", "1")], ids=["one process", "workers"])
def test_pytest_says_it_once_for_each_subject(mine, run, spread):
    """A subject ends with the test file, so that its last words are known."""
    if spread:
        pytest.importorskip("xdist")
    (mine.parent / "test_mine.py").write_text(TESTS, encoding="utf-8")
    done = run(mine.parent, "-q", *spread)

    assert done.returncode == 0, done.stdout
    assert done.stdout.count("it left processes behind") == 1
    assert f"mine:f: {WORDS}" in done.stdout
