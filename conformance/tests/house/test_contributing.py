"""What CONTRIBUTING says of the house is so, and what is not kept yet does not grow."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
FOLDERS = ("spec", "reference", "backends", "conformance", "bench")
MOST_LINES, MOST_OF_A_FUNCTION = 300, 40


def modules():
    """Return the text of every module of the package."""
    files = (file for name in FOLDERS for file in (ROOT / name / "ropespec").rglob("*.py"))
    return [file.read_text(encoding="utf-8") for file in files]


def measured(texts):
    """Count what the page says is not kept yet, in the order of its table."""
    lines = [line for text in texts for line in text.splitlines()]
    functions = [
        node
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    ]
    return [
        sum(text.count("\n") > MOST_LINES for text in texts),
        sum(one.end_lineno - one.lineno + 1 > MOST_OF_A_FUNCTION for one in functions),
        sum("# noqa: " in line for line in lines),
        sum("ANN401" in line for line in lines),
    ]


def written(page):
    """Return the numbers of the table."""
    return [int(number) for number in re.findall(r"^\| [^|]+ \| (\d+) \|$", page, re.MULTILINE)]


def test_what_is_not_kept_yet_does_not_grow():
    """Whoever makes a number smaller writes that down."""
    found = measured(modules())

    assert all(now <= most for now, most in zip(found, written(PAGE), strict=True)), found


def test_what_grows_is_seen():
    """The test above can fail, by each of its numbers."""
    body = "    x = 1  # noqa: ANN401\n" * MOST_OF_A_FUNCTION

    assert measured([f"def f():\n{body}"]) == [0, 1, MOST_OF_A_FUNCTION, MOST_OF_A_FUNCTION]
    assert measured(["x = 1\n" * (MOST_LINES + 1)]) == [1, 0, 0, 0]
    assert written("| a | b |\n|---|---|\n| long | 40 |\n") == [40]


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#]+)[^)]*\)", PAGE))))
def test_every_link_of_the_page_leads_somewhere(link):
    """Files that are linked exist."""
    assert (ROOT / ".github" / link).exists()


def test_every_test_that_tells_when_one_is_done_exists():
    """Nobody runs what is not there."""
    named = set(re.findall(r"\b(test_\w+\.py)\b", PAGE))
    there = {file.name for name in FOLDERS for file in (ROOT / name / "tests").rglob("test_*.py")}

    assert named <= there
