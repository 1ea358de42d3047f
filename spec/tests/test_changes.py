"""The list of changes leads to the text as it is."""

import re
from pathlib import Path

import pytest

from ropespec.spec import chapter_text, clauses

CHANGES = (Path(__file__).parents[1] / "CHANGES.md").read_text(encoding="utf-8")
PRESENT = {*clauses(), *re.findall(r"^\| ([FEP]-\d+) \|", chapter_text("documents"), re.MULTILINE)}


def ids(words):
    """Return the ids of a line, those between the two ends of a range included."""
    found = set()
    for letters, first, last in re.findall(r"\b([A-Z]+)-(\d+)(?: to \1-(\d+))?", words):
        numbers = range(int(first), int(last or first) + 1)
        found |= {f"{letters}-{number:0{len(first)}d}" for number in numbers}
    return found


def left(text):
    """Return the ids that are left when everything in a list of changes has happened."""
    present = set()
    for kind, words in reversed(re.findall(r"^\* \*\*(\w[\w ]*):\*\* (.*)$", text, re.MULTILINE)):
        match kind:
            case "Added":
                present |= ids(words)
            case "Given up":
                present -= ids(words)
            case "Changed" if ids(words) <= present:
                pass
            case _:
                raise ValueError(f"{kind}: {words}")
    return present


def test_the_changes_lead_to_the_text_as_it_is():
    """An id that came or went without a line of its own is told here."""
    assert left(CHANGES) == PRESENT


@pytest.mark.parametrize(
    ("lines", "present"),
    [
        ("* **Added:** A-1 to A-3", {"A-1", "A-2", "A-3"}),
        ("* **Given up:** A-2\n* **Added:** A-1 to A-3", {"A-1", "A-3"}),
        ("* **Changed:** A-1\n* **Added:** A-1, F-009 to F-010", {"A-1", "F-009", "F-010"}),
    ],
)
def test_newer_lines_stand_above_older_ones(lines, present):
    """What is given up was there before."""
    assert left(lines) == present


@pytest.mark.parametrize("lines", ["* **Changed:** A-2\n* **Added:** A-1", "* **Moved:** A-1"])
def test_what_cannot_have_happened_is_refused(lines):
    """Nothing changes that is not there, and there are three kinds of change."""
    with pytest.raises(ValueError, match="A-"):
        left(lines)
