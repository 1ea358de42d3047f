"""The list of the gallery: what it may say, and what is said of one that says something else."""

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from ropespec.conformance.cli import command
from ropespec.conformance.gallery.installing import install, installed, is_installed
from ropespec.conformance.gallery.judging import judged, settled
from ropespec.conformance.gallery.listed import GalleryError, read
from ropespec.conformance.gallery.reproducing import reproduced

LIST = """
requires = ["one==1.0"]
alone = ["two @ https://example.org/two-2.0.tar.gz"]

[implementations.mine]
package = "one"
bound = "f"
check = "one:f --half"
"""
DEVIATION = """
[[implementations.mine.deviations]]
checks = ["ROT-7"]
reason = "so"
link = "there"
"""


def listed(folder, text):
    """Read a list of this text."""
    (folder / "here.toml").write_text(text)
    return read(folder)


def test_a_list_is_read(tmp_path):
    """Versions are those that the environments pin, by name or by file."""
    text = (
        LIST + DEVIATION + LIST.partition("\n\n")[2].replace("mine", "other").replace("one", "two")
    )
    (first, second) = listed(tmp_path, text).implementations

    assert (first.package, first.version, first.words) == ("one", "1.0", ("one:f", "--half"))
    assert first.deviations[0].checks == ("ROT-7",)
    assert (second.version, second.deviations) == ("2.0", ())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("bound", "binds", "implementations.mine: bound is missing"),
        (
            'bound = "f"',
            'bound = "f"\nbinds = "f"',
            "implementations.mine: 'binds' is no known key",
        ),
        ('check = "one:f --half"', "", "implementations.mine: check is missing"),
        ('check = "one:f --half"', "check = 3", "check must be a text; got 3"),
        ("one:f --half", "one:f 'half", "check cannot be split into words: No closing quotation"),
        ('package = "one"', 'package = "three"', "must be pinned (NAME==VERSION)"),
        (
            "one==1.0",
            "one>=1.0",
            "must be pinned (NAME==VERSION) above; got 'one'",
        ),
        ('["one==1.0"]', '"one==1.0"', "requires must be a list of texts; got 'one==1.0'"),
        ("[implementations.mine]", "[implementations.Mine]", "must have names such as my_rope"),
        ("alone =", "lonely =", "here.toml: 'lonely' is no known key"),
        ('bound = "f"', 'bound = "f"\nnot_run = "why"', "not_run stands alone"),
        ('"ROT-7"', '"rot"', "must be checks, clauses or ('numbers', 'contract'); got 'rot'"),
        ('checks = ["ROT-7"]', "checks = []", "must name a check; got none"),
        ('reason = "so"', 'reason = ""', "reason must be a text; got ''"),
        ('link = "there"', "", "link is missing"),
        (
            "[[implementations.mine.deviations]]",
            "[implementations.mine.deviations]",
            "list of tables",
        ),
    ],
)
def test_what_a_list_may_not_say_is_named(tmp_path, old, new, said):
    """With its place, and what it must be."""
    text = (LIST + DEVIATION).replace(old, new, 1)
    assert text != LIST + DEVIATION
    with pytest.raises(GalleryError) as refused:
        listed(tmp_path, text)

    assert said in str(refused.value)


def test_what_is_no_list_is_refused(tmp_path):
    """In one line each."""
    with pytest.raises(GalleryError, match="has no list of implementations"):
        read(tmp_path)
    with pytest.raises(GalleryError, match=r"here.toml is no TOML"):
        listed(tmp_path, "[")
    with pytest.raises(GalleryError, match="requires must list packages; got none"):
        listed(tmp_path, "")
    listed(tmp_path, LIST)
    (tmp_path / "other.toml").write_text(LIST)
    with pytest.raises(GalleryError, match="mine stands in another list too"):
        read(tmp_path)
    (tmp_path / "My list.toml").touch()
    with pytest.raises(GalleryError, match="must have a name such as small.toml"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--only", "mime"), "--only: the lists have no 'mime'; did you mean 'mine'?"),
        (("--install",), "--install needs DIR"),
        (("/no/such/folder",), "DIR must be a folder that --install has built"),
    ],
)
def test_a_call_that_cannot_be_meant_is_refused(tmp_path, words, said):
    """Before anything is run or built."""
    (tmp_path / "here.toml").write_text(LIST)
    words = ["gallery", "--lists", str(tmp_path), *words]
    done = CliRunner().invoke(command, words, standalone_mode=False)

    assert said in done.exception.message


def test_an_installed_suite_has_no_lists(tmp_path, monkeypatch):
    """It says where they are, and how to name others."""
    monkeypatch.setattr("ropespec.conformance.cli.gallery._LISTS", tmp_path)
    done = CliRunner().invoke(command, ["gallery"], standalone_mode=False)

    assert "the lists are in the repository of ropespec" in done.exception.message


def test_rows_that_are_none_are_refused(tmp_path):
    """Nothing that somebody wrote is overwritten unread."""
    (tmp_path / "here.toml").write_text(LIST)
    (tmp_path / "verdicts.json").write_text("[]")
    words = ["gallery", "--lists", str(tmp_path)]
    done = CliRunner().invoke(command, words, standalone_mode=False)

    assert "must hold rows by the names of implementations" in done.exception.message


def test_what_pip_cannot_install_is_remembered(tmp_path):
    """All together first, the rest one by one, and what failed with the last words of pip."""
    (environment,) = listed(tmp_path, LIST).environments
    python = tmp_path / "here" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    called = []

    def run(words, variables):
        called.append((words[5:], variables))
        lost = words[-1].startswith("two")
        return subprocess.CompletedProcess(
            words, int(lost), "", "ERROR: none\nhint" if lost else ""
        )

    assert install(environment, tmp_path, run=run) == {environment.alone[0]: "ERROR: none"}
    assert [words[-1] for words, _ in called] == ["one==1.0", environment.alone[0]]
    assert "--no-deps" in called[1][0]
    assert not is_installed(environment, tmp_path)


def test_an_environment_that_does_not_answer_says_so(tmp_path):
    """It is no reason to stop."""
    (environment,) = listed(tmp_path, LIST).environments

    assert "there is no environment here" in installed(environment, tmp_path).missing
    python = tmp_path / "here" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/bin/true")
    assert "does not answer" in installed(environment, tmp_path).missing


def item(status="fail", budget=0.1, message="it is off"):
    """Return a check of a verdict whose script prints something."""
    found = {"script": "print()", "budget": budget}
    words = {"id": "ROT-7.value", "clause": "ROT-7", "kind": "numbers"}
    return {**words, "status": status, "message": message, "counterexample": found}


@pytest.mark.parametrize(
    ("printed", "errors", "shown"),
    [
        ("y expected 1.0 got 2.0", "", 1),
        ("y expected 1.0 got 1.05", "", 0),
        ("x after the call: expected as before got changed", "", 1),
        ("", "Traceback\nbuiltins.ValueError: it is off", 0),
        ("", "Traceback\nTypeError: it is off", 0),
        ("nothing", "", 0),
    ],
)
def test_a_script_shows_what_was_found_or_not(printed, errors, shown):
    """Numbers must be apart by more than the budget."""

    def run(words, *_):
        return subprocess.CompletedProcess(words, int(bool(errors)), printed, errors)

    found = reproduced({"checks": [item()]}, Path("python"), Path(), run)
    assert (found["scripts"], found["shown"]) == (1, shown)


def test_a_rotation_behind_a_law_is_not_held_against_the_budget_of_the_law():
    """The difference of two lengths may be of any size, that of two components is not."""
    law = item(budget=3.0)
    law["counterexample"]["script"] = "# one of the rotations behind a length\nprint()"

    def run(words, *_):
        return subprocess.CompletedProcess(words, 0, "y expected 1.0 got 2.0", "")

    assert reproduced({"checks": [law]}, Path("python"), Path(), run)["shown"] == 1
    assert reproduced({"checks": [item(budget=3.0)]}, Path("python"), Path(), run)["shown"] == 0


def test_an_exception_is_what_was_found_where_the_check_names_it():
    """By its name, on the last line."""

    def run(words, *_):
        return subprocess.CompletedProcess(words, 1, "", "Traceback\nmodule.OddError: no")

    raised = item("error", None, "OddError: no")
    assert reproduced({"checks": [raised]}, Path("python"), Path(), run)["shown"] == 1


def test_what_is_known_covers_a_kind_a_clause_or_a_check(tmp_path):
    """And what it does not cover is unknown."""
    row = judged(
        {
            "profile": {"layouts": [False]},
            **{name: [] for name in ("diagnosis", "environment", "head_dims")},
            **{name: {} for name in ("numbers", "contract", "precision_by_dtype")},
            "checks": [item(), {**item(), "id": "ROT-8.x", "clause": "ROT-8"}],
        }
    )
    for checks, unknown in (("numbers", 0), ("ROT-7", 1), ("ROT-7.value", 1), ("contract", 2)):
        text = LIST + DEVIATION.replace("ROT-7", checks)
        (one,) = listed(tmp_path, text).implementations
        assert len(settled(one, row)["unknown"]) == unknown
