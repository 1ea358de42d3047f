"""Paragraphs and tables of a report, at every width."""

import io

import pytest
from rich.console import Console

from ropespec.conformance.report.page import Grid, Page, shortened

WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"


def page(width):
    """Return a page of a width."""
    return Page(Console(file=io.StringIO(), width=width))


def plain(lines):
    """Return lines without their styles."""
    return [line.plain for line in lines]


def test_a_paragraph_is_wrapped_between_words_and_hangs():
    """No word is cut, and every line after the first stands further in."""
    one = page(30)
    one.add(WORDS, indent=2, hang=3)

    assert " ".join(plain(one.lines)).split() == WORDS.split()
    assert all(len(line) <= 30 for line in plain(one.lines))
    assert plain(one.lines)[0].startswith("  one")
    assert all(line.startswith("     ") for line in plain(one.lines)[1:])


def test_a_word_that_is_too_long_is_folded_and_not_dropped():
    """A path may be longer than a line."""
    one = page(30)
    one.add("a" * 70)

    assert "".join(plain(one.lines)) == "a" * 70


def test_a_line_break_stays_one():
    """So does a blank line."""
    one = page(80)
    one.add("one\n\ntwo")

    assert plain(one.lines) == ["one", "", "two"]


@pytest.mark.parametrize("most", [1, 2, 9])
def test_a_paragraph_has_a_limit_and_says_when_it_is_cut(most):
    """What is cut is marked, within the width."""
    lines = plain(page(30).wrapped(WORDS, hang=2, most=most))

    assert len(lines) <= most
    assert max(map(len, lines)) <= 30
    assert lines[-1].endswith(" ...") == (most < 9)


def test_code_is_never_wrapped():
    """It is copied as it is."""
    one = page(30)
    one.code("x = [" + "1, " * 40 + "]")

    assert len(one.lines) == 1


def test_a_page_that_is_too_long_says_so():
    """The last line takes the place of all that is left out."""
    one = page(30)
    for word in WORDS.split():
        one.add(word)
    one.cut(4, "and more")

    assert plain(one.lines) == ["one", "two", "three", "and more"]


def test_a_text_is_cut_at_a_word():
    """Or in one, where there is no other way."""
    assert shortened("one two three", 13) == "one two three"
    assert shortened("one two three four", 15) == "one two ..."
    assert shortened("a" * 20, 10) == "aaaaaa ..."


def grid(width):
    """Print a small table, and return its lines."""
    stream = io.StringIO()
    made = Grid("name", "in words", "number", right=("number",), folded=("in words",))
    made.add("first", WORDS, "1.5")
    made.part()
    made.add("second", "short", "25")
    made.print(Console(file=stream, width=width))
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("width", [120, 80, 42, 41, 30])
def test_no_column_of_a_table_vanishes(width):
    """Every cell is there at every width; below the least width rows become sentences."""
    lines = grid(width)
    words = " ".join(lines).replace(";", " ").split()

    assert max(len(line.rstrip()) for line in lines) <= width
    assert {"in", "number", "first", "second", "1.5", "25", *WORDS.split()} <= set(words)
    assert (lines[0].split() == ["name", "in", "words", "number"]) == (width > 41)


def test_the_least_width_of_a_table_is_measured_right():
    """At 42 columns: 6 for the names, 24 for what is wrapped, 6 for numbers, 3 between each."""
    made = Grid("name", "in words", "number", folded=("in words",))
    made.add("second", WORDS, "25")

    assert made._width() == 6 + 3 + 24 + 3 + 6
