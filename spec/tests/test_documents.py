"""The list of the documents agrees with itself, and the index of the text with the parts."""

import re
from collections import Counter
from pathlib import Path

import pytest

from ropespec.spec import CHAPTERS, PARTS, chapter_text

TEXT = chapter_text("documents")
LENGTHS = {
    match[1]: int(match[2])
    for match in re.finditer(r"^\| (00\d) \|.*\| (\d+) \|$", TEXT, re.MULTILINE)
}
ROWS = re.findall(r"^\| ([FEP])-(\d+) \|(.*)\|$", TEXT, re.MULTILINE)


def test_there_are_five_documents():
    """Each with its length; the article says its own in a sentence too."""
    assert list(LENGTHS) == ["000", "001", "002", "003", "004"]
    assert f"an article of {LENGTHS['004']} lines" in TEXT


def test_errata_are_counted_by_class():
    """The numbers of the table are those of the rows."""
    classes = Counter(cells.split("|")[1].strip() for letter, _, cells in ROWS if letter == "E")
    written = dict(re.findall(r"^\| ([A-Z]+|all) \| (\d+) \|$", TEXT, re.MULTILINE))

    assert {name: int(count) for name, count in written.items() if name != "all"} == dict(classes)
    assert int(written["all"]) == classes.total()


@pytest.mark.parametrize("letter", "FEP")
def test_entries_are_numbered_without_gaps(letter):
    """An id is never left out and never given twice."""
    numbers = [int(number) for kind, number, _ in ROWS if kind == letter]

    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("letter", "FP")
def test_every_line_lies_in_its_document(letter):
    """A line beyond the end of a document is a misprint."""
    for kind, number, cells in ROWS:
        current = ""
        for match in re.finditer(r"\b(00\d)\b|\bL(\d+)(?:[–-](\d+))?", cells):
            current = match[1] or current
            last = int(match[3] or match[2] or 0)
            if kind == letter:
                assert last <= LENGTHS.get(current, 0), f"{kind}-{number}: {current} L{last}"


def test_the_index_lists_the_chapters_by_part():
    """Every chapter once, in reading order, under the part it belongs to."""
    index = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    parts = re.split(r"^\*\*(.+)\*\* says", index, flags=re.MULTILINE)[1:]
    found = {
        name: tuple(re.findall(r"^\| \[(\w+)\]", text, re.MULTILINE))
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }

    assert found == PARTS
    assert sum(found.values(), ()) == CHAPTERS
