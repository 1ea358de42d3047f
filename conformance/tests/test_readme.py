"""The README says what is true."""

import collections
import re
from pathlib import Path

import pytest

from ropespec.conformance.registry import all_checks
from ropespec.spec import CHAPTERS, clauses

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

    assert promised - {"is", "in", "brings"} <= set(command.commands)
    assert {"check", "identify", "compare", "spec", "zoo"} <= promised
