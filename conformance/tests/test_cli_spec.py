import sys
from types import SimpleNamespace

import pytest

from ropespec.conformance.cli import main
from ropespec.conformance.traceability import Trace, entries, trace_of
from ropespec.spec import CHAPTERS, clauses


class Terminal:
    """Standard output that claims to be a terminal."""

    def __init__(self):
        self.parts = []

    def write(self, text):
        """Keep the text."""
        self.parts.append(text)
        return len(text)

    def flush(self):
        """Do nothing."""

    def isatty(self):
        """Say yes."""
        return True


def said(capsys, *words):
    """Run `ropespec spec` and return status, output and errors."""
    status = main(["spec", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_without_a_name_all_chapters_and_clauses_are_listed(capsys):
    """The contents: each chapter with its title, each clause with its id."""
    status, out, err = said(capsys)
    lines = out.splitlines()

    assert (status, err) == (0, "")
    assert [line.split()[1][:-1] for line in lines if line.startswith("## ")] == list(CHAPTERS)
    assert [line for line in lines if line.startswith("- ")] == [
        f"- **{clause.id}** {clause.title}" for clause in clauses().values()
    ]


@pytest.mark.parametrize("name", ["ROT-6", "rot-6"])
def test_a_clause_is_printed_whole(capsys, name):
    """Rule, formula, fields, errata in a line each, and the checks that belong to it."""
    status, out, err = said(capsys, name)
    clause = clauses()["ROT-6"]

    assert (status, err) == (0, "")
    assert out.startswith(f"## ROT-6 {clause.title}\n")
    assert clause.text in out
    assert "```math" in out
    assert "- **Functions:** `rotation.apply_rotary`" in out
    assert f"- E-20 (document {entries()['E-20'].where}): {entries()['E-20'].title}\n" in out
    assert "### Checks\n\n- `ROT-6." in out


def test_a_clause_without_errata_has_no_such_section(capsys):
    """Empty sections are left out."""
    _, out, _ = said(capsys, "ROT-15")

    assert "### Errata" not in out
    assert "### Checks" in out


def test_a_chapter_is_printed_as_it_is_written(capsys):
    """On a pipe the Markdown itself comes out."""
    status, out, err = said(capsys, "Rotation")

    assert (status, err) == (0, "")
    assert out.startswith("# ")
    assert "\n## ROT-6 " in out


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("E-04", ["## E-04 ", "```math", "- **REL-5** ", "- **REL-6** "]),
        ("e4", ["## E-04 "]),
        ("F-126", ["## F-126 ", "Where: ", "- **ROT-3** "]),
        ("P-12", ["## P-12 ", "- **REL-1** "]),
        ("F-163", ["## F-163 ", "No clause answers for it: background"]),
    ],
)
def test_an_entry_names_the_clauses_that_answer_for_it(capsys, name, parts):
    """Formulas, errata and properties; an erratum with the form printed wrong."""
    status, out, err = said(capsys, name)

    assert (status, err) == (0, "")
    for part in parts:
        assert part in out


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("ROT-66", "ROT-6"),
        ("rotatoin", "rotation"),
        ("E-99", "E-"),
        ("xyzxyz", "`ropespec spec`"),
    ],
)
def test_an_unknown_name_is_one_line_with_close_matches(capsys, name, close):
    """Exit status 2, nothing on standard output."""
    status, out, err = said(capsys, name)

    assert (status, out) == (2, "")
    assert err.startswith(f"ropespec: there is no clause, chapter or entry '{name}'; ")
    assert close in err
    assert err.count("\n") == 1


def test_the_map_has_every_entry_and_no_hole(capsys):
    """One line per entry, then the counts; exit status 0 says that nothing is missing."""
    status, out, _ = said(capsys, "--map")
    lines = out.splitlines()

    assert [line.split()[0] for line in lines[: len(entries())]] == list(entries())
    assert lines[len(entries()) + 1] == "221 formulas: 216 with a clause, 5 with a reason"
    assert lines[-1] == "no holes"
    assert status == 0


def test_the_map_fails_on_a_hole(capsys, monkeypatch):
    """The test above can fail: a clause without a check is shown, and the status is 1."""

    def damaged() -> Trace:
        return trace_of(entries(), clauses(), ())

    monkeypatch.setattr("ropespec.conformance.cli.spec.trace", damaged)
    status, out, _ = said(capsys, "--map")

    assert status == 1
    assert "\n  ROT-6 has neither a check nor a field `Not checked`: " in out


def test_the_map_takes_no_name(capsys):
    """Bad use is one line and status 2."""
    status, out, err = said(capsys, "ROT-6", "--map")

    assert (status, out) == (2, "")
    assert err == "ropespec: --map prints the whole map; give it without a name\n"


def test_on_a_terminal_markdown_is_laid_out(monkeypatch):
    """Headings and emphasis lose their marks where a person reads."""
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stdout", terminal)
    status = main(["spec", "ROT-15"])
    text = "".join(terminal.parts)

    assert status == 0
    assert "ROT-15" in text
    assert "**Rule.**" not in text
    assert "Rule." in text


def test_a_reader_that_has_enough_is_no_error(monkeypatch):
    """`ropespec spec | head` ends quietly."""

    def full(text: str) -> int:
        raise BrokenPipeError(text)

    closed = []
    stream = SimpleNamespace(
        write=full, flush=lambda: None, isatty=lambda: False, fileno=lambda: 1, encoding="utf-8"
    )
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr("os.dup2", lambda *_: closed.append(True))

    assert main(["spec"]) == 0
    assert closed == [True]
