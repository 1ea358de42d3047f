import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ropespec.conformance.cli import main
from ropespec.conformance.cli.named import check_text, known_names, mistake_text
from ropespec.conformance.mistakes.catalogue import CATALOGUE, UNLISTED
from ropespec.conformance.named import in_reference, in_tests
from ropespec.conformance.registry import all_checks
from ropespec.conformance.report.formulas import without_latex
from ropespec.conformance.traceability import Links, Trace, entries, trace_of
from ropespec.spec import CHAPTERS, chapter_text, clauses

FORMULAS = [id_ for id_ in entries() if id_.startswith("F")]


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
    _, written, _ = said(capsys, name, "--markdown")
    clause = clauses()["ROT-6"]

    assert (status, err) == (0, "")
    assert out.startswith(f"## ROT-6 {clause.title}\n")
    assert without_latex(clause.text) in out
    assert clause.text in written
    assert ("```math" in written, "```math" in out) == (True, False)
    assert "- **Functions:** `rotation.apply_rotary`" in out
    assert f"- E-20 (document {entries()['E-20'].where}): {entries()['E-20'].title}\n" in out
    assert "### Checks\n\n- `ROT-6." in out


def test_a_clause_without_errata_has_no_such_section(capsys):
    """Empty sections are left out."""
    _, out, _ = said(capsys, "ROT-15")

    assert "### Errata" not in out
    assert "### Checks" in out


def test_a_chapter_is_printed_as_it_is_written(capsys):
    """On a pipe the Markdown itself comes out, with readable formulas unless it is asked for."""
    status, out, err = said(capsys, "Rotation")
    _, written, _ = said(capsys, "Rotation", "--markdown")

    assert (status, err) == (0, "")
    assert out.startswith("# ")
    assert "\n## ROT-6 " in out
    assert "\\begin{" not in out
    assert written.strip() == chapter_text("rotation").strip()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("E-04", ["## E-04 ", "```text", "- **REL-5** ", "- **REL-6** "]),
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
    assert err.startswith(
        f"ropespec: there is no clause, chapter, entry, check or mistake '{name}'; "
    )
    assert close in err
    assert err.count("\n") == 1


def test_the_map_has_every_entry_and_no_hole(capsys):
    """One line per entry with a cell for each link, then the counts; status 0: nothing missing."""
    status, out, _ = said(capsys, "--map")
    header, *lines = out.splitlines()
    rows = [line.split("\t") for line in lines[: len(entries())]]

    assert header.split("\t") == ["id", "where", "clause", "reference", "test", "check", "wrong"]
    assert [row[0] for row in rows] == list(entries())
    assert all(cell for row in rows for cell in row)
    assert lines[len(entries()) + 1].startswith(f"{len(FORMULAS)} formulas: ")
    assert lines[-1] == "no holes"
    assert status == 0


@pytest.mark.parametrize("name", ["D-03", "d-3", "DIS-3"])
def test_a_disagreement_is_found_by_its_own_id(capsys, name):
    """D-03 of the inventory is clause DIS-3."""
    status, out, _ = said(capsys, name)

    assert status == 0
    assert out.startswith("## DIS-3 ")
    assert "(D-03)" in out


@pytest.mark.parametrize(
    ("name", "links"),
    [
        (
            "F-106",
            (
                "`relative_plane.g_expanded`",
                "`reference/tests/test_relative_reference.py::",
                "`REL-4.",
                "Wrong implementations: ",
            ),
        ),
        ("F-163", ("No clause answers for it: ",)),
    ],
)
def test_an_entry_shows_its_own_chain(capsys, name, links):
    """From the line of the document to the wrong implementation that its check kills."""
    status, out, err = said(capsys, name)

    assert (status, err) == (0, "")
    for link in links:
        assert link in out


def test_the_map_fails_on_a_hole(capsys, monkeypatch):
    """The test above can fail: a clause without a check is shown, and the status is 1."""

    def damaged() -> Trace:
        return trace_of(entries(), clauses(), Links(in_reference(), in_tests(), ()))

    monkeypatch.setattr("ropespec.conformance.cli.spec.trace", damaged)
    status, out, _ = said(capsys, "--map")

    assert status == 1
    assert "\n  ROT-6 has neither a check nor a field `Not checked`: " in out
    assert "\tMISSING\t" in out


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


def place_in(text):
    """Return file and line of `Lives at`."""
    file, _, line = re.search(r"^- Lives at: `(.+)`$", text, re.MULTILINE)[1].rpartition(":")
    return Path(file).read_text(encoding="utf-8").splitlines(), int(line)


@pytest.mark.parametrize("name", ["ROT-7.pairing", "rot-7.Pairing"])
def test_a_check_says_what_it_looks_for_and_where_it_lives(capsys, name):
    """Its sentence, its law, its clause, what it kills, and the line of its function."""
    status, out, err = said(capsys, name)
    lines, number = place_in(out)

    assert (status, err) == (0, "")
    assert out.startswith("## ROT-7.pairing ")
    assert "It looks for this: Component i is paired with another component than i+d/2.\n" in out
    assert "- Clause: **ROT-7** " in out
    assert "zoo.layout:adjacent_for_half` (`" in out
    assert '"ROT-7.pairing"' in lines[number - 1]
    assert "- Judged at: `" in out


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("L1", "L1 wrong pairing"),
        ("wrong pairing", "L1 wrong pairing"),
        ("F1", "F1 wrong base"),
        ("lost minus", "lost minus"),
    ],
)
def test_a_mistake_is_found_by_its_id_and_by_its_name(capsys, name, title):
    """As a diagnosis prints it: F1 is a mistake, F-001 a formula."""
    status, out, err = said(capsys, name)
    lines, number = place_in(out)

    assert (status, err) == (0, "")
    assert out.startswith(f"## {title}\n")
    assert lines[number - 1] == title


def test_every_check_and_every_mistake_answers():
    """None of them has no sentence or no place."""
    texts = [check_text(item.id) for item in all_checks()]
    texts += [mistake_text(name) for name in (*CATALOGUE, *UNLISTED)]

    assert all(re.search(r"^- Lives at: `.+:\d+`$", text, re.MULTILINE) for text in texts)
    assert len(texts) == len(all_checks()) + len(CATALOGUE) + len(UNLISTED)


def test_an_unknown_check_has_close_matches(capsys):
    """A slip in the word after the dot is put right."""
    _, _, err = said(capsys, "ROT-7.paring")

    assert "did you mean ROT-7.pairing" in err
    assert {"ROT-7.pairing", "L1", "lost minus"} <= set(known_names())


LOADED = """
import sys
{before}
from ropespec.conformance.cli import main
assert main(["spec", *sys.argv[1:]]) == 0
heavy = {{"cupy", "hypothesis", "jax", "numba", "torch"}} & set(sys.modules)
print(*sorted(heavy), file=sys.stderr)
"""


def loaded_by(*words, before=""):
    """Return what is heavy and in memory after `ropespec spec`."""
    code = [sys.executable, "-c", LOADED.format(before=before), *words]
    return subprocess.run(code, capture_output=True, text=True, check=True).stderr.split()


@pytest.mark.parametrize("name", ["ROT-7", "rotation", "ROT-7.pairing", "L1", "F-126"])
def test_reading_loads_nothing_heavy(name):
    """No framework, nor what draws cases, is waited for by who reads."""
    assert loaded_by(name) == []


def test_what_is_heavy_would_be_seen():
    """The test above can fail."""
    assert loaded_by("ROT-7", before="import hypothesis") == ["hypothesis"]
