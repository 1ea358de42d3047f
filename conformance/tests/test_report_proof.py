"""A script is shown only if it was run and showed the difference."""

import threading
import time
from pathlib import Path

import pytest

from ropespec.conformance.draft import Draft
from ropespec.conformance.profile import Profile
from ropespec.conformance.report.document import document
from ropespec.conformance.report.proof import (
    CONSEQUENCE,
    LATE,
    SILENT,
    SLOW,
    WAIVED,
    Proof,
    proved,
)
from ropespec.conformance.results import CheckResult, Counterexample, Status, Verdict


@pytest.mark.parametrize(
    ("line", "draft", "shows"),
    [
        ("y (0,) expected 1.0 got 1.5", Draft("", 0.1), True),
        ("y (0,) expected 1.0 got 1.05", Draft("", 0.1), False),
        ("y (0,) expected 1.0 got 1.5", Draft("", 0.1, exact=1.0), True),
        ("y (0,) expected 3.0 got 1.5", Draft("", 0.1, exact=1.0), False),
        ("y (0,) expected nan got nan", Draft(""), False),
        ("y (0,) expected nan got 1.5", Draft(""), True),
        ("y (0,) expected inf got inf", Draft(""), False),
        ("y (0,) expected inf got -inf", Draft(""), True),
        ("dtype: expected float32 got float64", Draft(""), True),
        ("dtype: expected float32 got float32", Draft(""), False),
        ("something else", Draft(""), False),
        ("", Draft(""), False),
    ],
)
def test_a_run_shows_a_difference_or_does_not(line, draft, shows):
    """The last line says what was expected and got; NaN for NaN is no difference."""
    assert draft.shown_by(0, f"before\n{line}\n\n", "") is shows
    assert not draft.shown_by(1, line, "")


def example(*sources, **changes):
    """Return a counterexample with these drafts."""
    drafts = tuple(Draft(source, **changes) for source in sources)
    return Counterexample({}, {}, "", None, None, None, drafts=drafts)


SHOWS = 'print("y expected 1 got 2")'
SHOWS_NOTHING = 'print("y expected 1 got 1")'


def test_the_first_script_that_shows_it_is_kept():
    """One that shows nothing is not printed."""
    found = Proof().of(example(SHOWS_NOTHING, SHOWS))

    assert (found.script, found.no_script, found.drafts) == (SHOWS, "", ())


def test_a_script_that_shows_nothing_is_not_kept():
    """Instead the reason is said."""
    found = Proof().of(example(SHOWS_NOTHING))

    assert (found.script, found.no_script, found.drafts) == ("", SILENT, ())


def is_alive(pid):
    """Whether a process runs; one that is dead and not yet waited for does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are listed in /proc")
def test_a_script_that_does_not_end_is_ended(tmp_path):
    """So is what it has started, and the reason is said."""
    script = (
        "import pathlib, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "pathlib.Path('pid').write_text(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    found = Proof(tmp_path, each=3.0).of(example(script))

    child = (tmp_path / "pid").read_text(encoding="ascii")
    end = time.monotonic() + 10

    assert found.no_script == SLOW
    while is_alive(child) and time.monotonic() < end:  # the system takes a moment
        time.sleep(0.05)
    assert not is_alive(child)


def test_nobody_waits_for_a_script_that_is_not_wanted_any_more():
    """Ctrl-C ends what runs, and nothing more is begun."""
    runs = Proof()
    threading.Timer(0.3, runs.stop).start()
    began = time.monotonic()
    found = runs.of(example("import time; time.sleep(60)"))

    assert time.monotonic() - began < 10
    assert found.script == ""
    assert runs.of(example(SHOWS)).script == ""


def test_scripts_have_a_limit_together():
    """What comes after it is said not to have been run."""
    runs = Proof(whole=0.0)

    assert runs.of(example(SHOWS)).no_script == LATE


def test_a_script_is_run_where_the_subject_is_and_leaves_nothing_there(tmp_path):
    """In its folder, without bytecode beside the user's file, and however much it prints."""
    (tmp_path / "mine.py").write_text("answer = 2\n", encoding="utf-8")
    script = "import mine\nprint('x' * 300000)\nprint('y expected 1 got', mine.answer)\n"
    found = Proof(tmp_path).of(example(script))

    assert found.script == script
    assert [item.name for item in tmp_path.iterdir()] == ["mine.py"]


def result(id_, *sources, general=False):
    """Return a failed check with these drafts."""
    return CheckResult(
        *(id_, id_.partition(".")[0], "Title", "Sentence.", Status.FAIL),
        counterexample=example(*sources),
        general=general,
    )


def verdict(*checks):
    """Return a verdict on these checks."""
    return Verdict("mine.py:f", Profile(layouts=(True,)).as_dict(), 0, {}, checks)


def test_what_almost_any_mistake_causes_has_no_script_beside_what_points_at_one():
    """Its reason says so; where nothing else failed, it has its own."""
    telling, general = result("ROT-6.pairing", SHOWS), result("ROT-6.value", SHOWS, general=True)
    first, second = proved(verdict(general, telling)).checks
    (alone,) = proved(verdict(general)).checks

    assert (first.counterexample.script, first.counterexample.no_script) == ("", CONSEQUENCE)
    assert second.counterexample.script == alone.counterexample.script == SHOWS


def test_no_draft_is_in_the_document():
    """A script that was not run is no part of what was found."""
    found = document(verdict(result("ROT-6.value", SHOWS)))
    example_ = found["checks"][0]["counterexample"]

    assert "drafts" not in example_
    assert (example_["script"], example_["no_script"]) == ("", "")


def test_what_is_waived_gets_no_script():
    """And says so."""
    found = CheckResult(
        *("ROT-18.empty", "ROT-18", "", "", Status.FAIL, 1),
        counterexample=example(SHOWS),
        waived={"ROT-18": "why"},
    )
    verdict = Verdict("f", Profile(layouts=(False,)).as_dict(), 0, {}, (found,))
    (result,) = proved(verdict).checks

    assert (result.counterexample.script, result.counterexample.no_script) == ("", WAIVED)
