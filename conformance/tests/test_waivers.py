"""Waivers: known failures with a reason, through every door, and none that nothing needs."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ropespec.conformance import ProfileError, conformance_tests
from ropespec.conformance.cli import main
from ropespec.conformance.pytest_entry import profile_beside
from ropespec.conformance.report.document import schema
from ropespec.conformance.results import CheckResult, Status
from ropespec.conformance.waivers import covered, read_waivers, unneeded, with_waivers

SUBJECTS = Path(__file__).parent / "subjects"
SOURCE = (SUBJECTS / "deviating.py").read_text(encoding="utf-8")
WHY = "never called without tokens"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a current directory with subjects: one file without waivers, one with."""
    (tmp_path / "bare.py").write_text(SOURCE, encoding="utf-8")
    own = f'\nPROFILE["waivers"] = {{"ROT-18": "{WHY}"}}\n'
    (tmp_path / "own.py").write_text(SOURCE + own, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys, *words, only=("ROT-10", "ROT-17.dtype", "ROT-18")):
    """Run `ropespec check`; return status, document, report without line breaks, and errors."""
    chosen = [word for name in only for word in ("--only", name)]
    file = Path("verdict.json")
    file.unlink(missing_ok=True)
    status = main(["check", *words, *chosen, "--head-dim", "8", "--json", str(file)])
    captured = capsys.readouterr()
    content = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if content:
        Draft202012Validator(schema()).validate(content)
    return status, content, " ".join(captured.out.split()), captured.err


def result(id_, status=Status.PASS, message=""):
    """Return the result of a check."""
    return CheckResult(id_, id_.partition(".")[0], "", "", status, message=message)


def test_a_waiver_names_a_clause_or_a_check():
    """In any case of letters; the reason is one line."""
    assert read_waivers({"rot-18": " never\n so ", "rot-17.DTYPE": "why"}) == {
        "ROT-18": "never so",
        "ROT-17.dtype": "why",
    }
    assert [item.id for item in covered("ROT-18")] == ["ROT-18.empty"]
    assert [item.id for item in covered("ROT-17.dtype")] == ["ROT-17.dtype"]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (["ROT-18"], "waivers must map a clause or a check to a reason; got ['ROT-18'] (list)"),
        ({"ROT-18": ""}, "waiver ROT-18 needs a reason, in words; got '' (str)"),
        ({"ROT-18": "  "}, "waiver ROT-18 needs a reason, in words; got '  ' (str)"),
        ({"ROT-18": True}, "waiver ROT-18 needs a reason, in words; got True (bool)"),
        ({"ROT-188": "why"}, "a waiver names a clause or a check; none is called 'ROT-188'; did"),
        ({"rotation": "why"}, "a waiver names a clause or a check; none is called 'rotation'"),
        ({7: "why"}, "a waiver names a clause or a check; none is called 7"),
        ({"CON-9": "why"}, "CON-9 has no check, so there is nothing to waive"),
    ],
)
def test_what_is_no_waiver_is_refused_in_a_line(given, line):
    """A chapter is no clause, and a clause that asks nothing cannot fail."""
    with pytest.raises(ProfileError) as caught:
        read_waivers(given)

    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_a_failure_takes_the_waivers_that_cover_it():
    """Whatever failed keeps its status; what passed needs none."""
    waivers = {"ROT-18": "one", "ROT-18.empty": "two", "ROT-17": "three"}
    failed = with_waivers(result("ROT-18.empty", Status.ERROR), waivers)

    assert failed.waived == {"ROT-18": "one", "ROT-18.empty": "two"}
    assert failed.status is Status.ERROR
    assert with_waivers(result("ROT-18.empty"), waivers).waived == {}
    assert with_waivers(result("ROT-18.empty", Status.SKIP), waivers).waived == {}


FULL = [result(item.id) for item in covered("ROT-17")]
COUNT = len(FULL)


@pytest.mark.parametrize(
    ("results", "became"),
    [
        (FULL, f"its {COUNT} checks pass"),
        (
            [*FULL[:-1], result(FULL[-1].id, Status.SKIP, "no torch")],
            f"of its {COUNT} checks {COUNT - 1} pass, the",
        ),
        (
            [result(one.id, Status.SKIP, "no torch") for one in FULL],
            f"its {COUNT} checks are skipped",
        ),
        ([*FULL[:-1], result(FULL[-1].id, Status.FAIL)], None),
        ([*FULL[:-1], result(FULL[-1].id, Status.CRASH)], None),
        (FULL[:-1], None),
        ([*FULL[:-1], result(FULL[-1].id, Status.SKIP, "not run: the deadline of 3 s")], None),
        ([*FULL[:-1], result(FULL[-1].id, Status.SKIP, "not run: the subject was lost")], None),
    ],
)
def test_a_waiver_is_not_needed_where_all_was_tried_and_nothing_failed(results, became):
    """What the plan or the deadline left out might have."""
    found = unneeded({"ROT-17": "why"}, results).get("ROT-17")

    assert (found or "").startswith(became or "")
    assert (found is None) == (became is None)


def test_the_only_check_of_a_waiver_is_named():
    """With what became of it."""
    skipped = result("ROT-21.refused", Status.SKIP, "refusals not claimed")

    assert unneeded(["ROT-18"], [result("ROT-18.empty")]) == {"ROT-18": "ROT-18.empty passes"}
    assert unneeded(["ROT-21"], [skipped]) == {
        "ROT-21": "ROT-21.refused is skipped (refusals not claimed)"
    }


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["ROT-18", "rot-18.empty"])
def test_a_waived_failure_counts_no_more(capsys, name):
    """Exit status 0; the failure is shown with its reason."""
    status, content, out, _ = said(capsys, "bare.py:refuses_empty", "--waive", f"{name}={WHY}")
    (failed,) = (one for one in content["checks"] if one["status"] == "fail")
    id_ = "ROT-18" if name == "ROT-18" else "ROT-18.empty"

    assert status == 0
    assert (content["conforms"], content["contract"]) == (True, "broken")
    assert content["waivers"] == failed["waived"] == {id_: WHY}
    assert f"conforms (checked only: ROT-10, ROT-17.dtype, ROT-18), waived: {id_} ({WHY})" in out
    assert (
        f"fail ROT-18.empty x of shape (0, 1, 1, 8) raises ValueError: no tokens (waived: {WHY}"
        in out
    )


@pytest.mark.usefixtures("folder")
def test_what_is_not_waived_counts(capsys):
    """Another failure beside it is one, and is what is explained."""
    words = ("bare.py:refuses_empty_and_promotes", "--waive", f"ROT-18={WHY}")
    status, content, out, _ = said(capsys, *words)

    assert status == 1
    assert content["conforms"] is False
    assert "deviates from the contract: ROT-17, returns float64" in out
    assert f"; waived: ROT-18 ({WHY}) " in out
    assert content["remedy"]["failures"] == 1
    # What is proposed keeps the waiver.
    assert f"--waive 'ROT-18={WHY}' --waive ROT-17=\"why\"" in out


@pytest.mark.usefixtures("folder")
def test_a_waiver_that_is_not_needed_is_an_error(capsys):
    """Exit status 1 and a line of its own, though the subject conforms."""
    status, content, out, _ = said(capsys, "bare.py:right", "--waive", f"ROT-18={WHY}")

    assert status == 1
    assert content["conforms"] is True
    assert content["unneeded_waivers"] == {"ROT-18": "ROT-18.empty passes"}
    assert "waiver ROT-18 is not needed: ROT-18.empty passes" in out
    assert "waived" not in out


@pytest.mark.usefixtures("folder")
def test_a_waiver_may_be_needed_where_nobody_looked(capsys):
    """With --only for other clauses it is left alone."""
    words = ("bare.py:refuses_empty", "--waive", f"ROT-18={WHY}")
    status, content, _, _ = said(capsys, *words, only=("ROT-10",))

    assert status == 0
    assert content["unneeded_waivers"] == {}
    assert content["waivers"] == {"ROT-18": WHY}


TOML = """
interleaved = false
empty = {empty}
max-position = 4095

[waivers]
"ROT-18" = "of the file"
"""


def test_a_file_holds_claims_and_waivers(folder, capsys):
    """Claims have the names of a PROFILE."""
    (folder / "rope.toml").write_text(TOML.format(empty="true"), encoding="utf-8")
    status, content, _, _ = said(capsys, "bare.py:refuses_empty", "--profile", "rope.toml")

    assert status == 0
    assert content["profile"]["max_position"] == 4095
    assert content["waivers"] == {"ROT-18": "of the file"}


def test_options_win_over_the_file_and_the_file_over_the_profile(folder, capsys):
    """By name, for claims and for waivers."""
    (folder / "rope.toml").write_text(TOML.format(empty="true"), encoding="utf-8")
    words = ("own.py:refuses_empty_and_promotes", "--profile", "rope.toml")
    _, from_file, _, _ = said(capsys, *words)
    _, from_options, _, _ = said(
        capsys,
        *words,
        "--max-position",
        "99",
        "--waive",
        "ROT-18=of the option",
        "--waive",
        "ROT-17=x",
    )
    _, alone, _, _ = said(capsys, "own.py:refuses_empty")

    assert alone["waivers"] == {"ROT-18": WHY}
    assert from_file["waivers"] == {"ROT-18": "of the file"}
    assert from_file["profile"]["max_position"] == 4095
    assert from_options["waivers"] == {"ROT-18": "of the option", "ROT-17": "x"}
    assert from_options["profile"]["max_position"] == 99


def test_a_claim_of_the_file_leaves_a_waiver_without_need(folder, capsys):
    """What is left out does not fail."""
    (folder / "rope.toml").write_text(TOML.format(empty="false"), encoding="utf-8")
    status, content, _, _ = said(capsys, "bare.py:refuses_empty", "--profile", "rope.toml")

    assert status == 1
    assert content["conforms"] is True
    assert list(content["unneeded_waivers"]) == ["ROT-18"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("max_positon = 7", "--profile: rope.toml makes an unknown claim, 'max_positon'; did you"),
        ("xyz = 7", "--profile: rope.toml makes an unknown claim, 'xyz'; known are array, axes, "),
        ("empty = ", "--profile: rope.toml is no TOML: "),
        ('waivers = "ROT-18"', "--profile: waivers of rope.toml must be a table of reasons"),
        ("empty = 0", "bare.py:right: empty must be True or False; got 0 (int)"),
        ('max_position = "far"', "bare.py:right: max-position must be an integer; got 'far' (str)"),
        ("base = 1979-05-27", "bare.py:right: base must be a number above 1; got "),
        ('dtypes = ["float8"]', "bare.py:right: dtype must be one of"),
        ("[dtypes]\na = 1", "bare.py:right: dtype must be one of"),
        ('[waivers]\n"ROT-18" = 3', "waiver ROT-18 needs a reason, in words; got 3 (int)"),
        (
            '[waivers]\n"ROT-99" = "x"',
            "a waiver names a clause or a check; none is called 'ROT-99'",
        ),
    ],
)
def test_a_wrong_file_is_one_clear_line(folder, capsys, text, line):
    """Exit status 2, and nothing is checked."""
    (folder / "rope.toml").write_text(text, encoding="utf-8")
    status, content, out, err = said(capsys, "bare.py:right", "--profile", "rope.toml")
    lines = [one for one in err.splitlines() if not one.startswith("ropespec: loading ")]

    assert (status, content, out) == (2, {}, "")
    assert len(lines) == 1
    assert lines[0].startswith(f"ropespec: {line}")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--profile", "none.toml"], "--profile: cannot read none.toml: No such file"),
        (["--profile", "."], "--profile: cannot read .: Is a directory"),
        (["--waive", "ROT-18"], "Invalid value for '--waive': must be a clause or a check, and a"),
        (["--waive", "ROT-18= "], "Invalid value for '--waive': must be a clause or a check, and"),
        (["--waive", "=why"], "Invalid value for '--waive': must be a clause or a check, and a"),
        (["--waive", "ROT-99=why"], "a waiver names a clause or a check; none is called 'ROT-99'"),
        (["--waive", "CON-9=why"], "CON-9 has no check, so there is nothing to waive"),
    ],
)
def test_wrong_options_are_one_clear_line(capsys, words, line):
    """Exit status 2, before anything is loaded."""
    status, content, out, err = said(capsys, "bare.py:right", *words)

    assert (status, content, out) == (2, {}, "")
    assert len(err.splitlines()) == 1
    assert err.startswith(f"ropespec: {line}")


@pytest.mark.parametrize(
    ("waivers", "line"),
    [
        ('{"ROT-18": ""}', "waiver ROT-18 needs a reason, in words; got '' (str)"),
        ('["ROT-18"]', "waivers must map a clause or a check to a reason"),
        ('{"ROT-99": "x"}', "a waiver names a clause or a check; none is called 'ROT-99'"),
    ],
)
def test_wrong_waivers_beside_the_function_are_one_clear_line(folder, capsys, waivers, line):
    """So are those of a PROFILE."""
    text = f'{SOURCE}\nPROFILE["waivers"] = {waivers}\n'
    (folder / "odd.py").write_text(text, encoding="utf-8")
    status, content, _, err = said(capsys, "odd.py:right")

    assert (status, content) == (2, {})
    assert err.splitlines()[-1].startswith(f"ropespec: odd.py:right: {line}")


def test_a_waiver_reason_may_hold_anything(folder, capsys):
    """Equals signs, quotes, letters of any alphabet."""
    del folder
    why = 'a = b, "so" θ'
    _, content, _, _ = said(capsys, "bare.py:refuses_empty", "--waive", f"ROT-18={why}")

    assert content["waivers"] == {"ROT-18": why}


def apply(x, positions):
    """Rotate nothing."""
    del positions
    return x


@pytest.mark.parametrize(
    ("waivers", "line"),
    [
        ({"ROT-99": "why"}, "none is called 'ROT-99'"),
        ({"ROT-18": ""}, "waiver ROT-18 needs a reason"),
    ],
)
def test_wrong_waivers_are_refused_while_collecting(waivers, line):
    """A mistake in a waiver is no test result."""
    with pytest.raises(ProfileError, match=line):
        conformance_tests(apply, interleaved=True, waivers=waivers)


def test_the_profile_beside_an_implementation_is_seen_where_it_can_be():
    """Of the object, or of its module; a name or a class is not known before it is loaded."""

    class WithProfile:
        PROFILE = {"base": 2.0}  # as users write it

        def __call__(self, x, positions):
            return apply(x, positions)

    assert profile_beside(apply) == {}
    assert profile_beside(WithProfile()) == {"base": 2.0}
    assert profile_beside("my_rope:f") is None
    assert profile_beside(WithProfile) is None
