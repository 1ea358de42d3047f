"""The README says what is true."""

import collections
import re
from pathlib import Path

import pytest
from click import Context

from ropespec.conformance.registry import all_checks
from ropespec.spec import CHAPTERS, chapter_text, clauses

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_table_of_checks_counts_right():
    """Every chapter with checks has a row with their number, and the sum is theirs."""
    counts = collections.Counter(clauses()[check.clause].chapter for check in all_checks())
    rows = re.findall(r"^\| \[(\w+)\]\([^)]*\) \| .* \| (\d+) \|$", README, re.MULTILINE)
    total = re.search(r"^\| +\| all +\| (\d+) \|$", README, re.MULTILINE)

    assert {chapter: int(number) for chapter, number in rows} == dict(counts)
    assert [chapter for chapter, _ in rows] == [name for name in CHAPTERS if name in counts]
    assert total is not None
    assert int(total[1]) == len(all_checks())


@pytest.mark.parametrize(
    "command", ["pip install -e '.[dev]'", "pytest -q", "ropespec check numpy"]
)
def test_ci_runs_the_commands_of_the_readme(command):
    """What the README tells a reader to type is what is run on a clean clone."""
    options = " --quiet --disable-pip-version-check"
    spelled = CI.replace(options, "").replace('"$work/wheel/bin/ropespec"', "ropespec")

    assert command in README
    assert command in spelled


def test_every_command_of_the_readme_exists():
    """No command is promised that the program has not."""
    promised = set(re.findall(r"\bropespec ([a-z]+)\b", README))
    from ropespec.conformance.cli import command  # noqa: PLC0415  # after the README was read

    assert promised - {"is", "in", "brings"} <= set(command.list_commands(Context(command)))
    assert {"check", "identify", "compare", "spec", "zoo"} <= promised


def test_the_first_lines_count_errata_and_disagreements_right():
    """What the documents print wrong, and where they disagree, is counted by the chapters."""
    rows = re.findall(r"^\| E-\d+ \| [^|]* \| (\w+) \|", chapter_text("documents"), re.MULTILINE)
    wrong = rows.count("MATH") + rows.count("CODE")
    disagreements = sum(clause.chapter == "disagreements" for clause in clauses().values())

    assert f"{len(rows)} places where they are wrong, lost or say too much" in README
    assert f"{wrong} of them wrong mathematics or code" in README
    assert f"{disagreements} matters on which they disagree" in README


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#]+)[^)]*\)", README))))
def test_every_link_leads_somewhere(link):
    """Files and folders that are linked exist."""
    assert (ROOT / link).exists()


def test_the_clause_that_is_shown_is_printed_so(capsys):
    """Every line of the sample is a line of the command's output, in this order."""
    from ropespec.conformance.cli import main  # noqa: PLC0415  # as above

    sample = re.search(r"^\$ ropespec spec ROT-7\n(.*?)^````$", README, re.MULTILINE | re.DOTALL)
    assert main(["spec", "ROT-7"]) == 0
    printed = iter(capsys.readouterr().out.splitlines())

    assert sample is not None
    for line in sample[1].splitlines():
        assert line == "..." or line in printed
