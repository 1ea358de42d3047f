"""Wrong chapters are noticed: the measure of the tests of the text."""

from collections import Counter

import pytest

from ropespec.spec import CHAPTERS, chapter_text
from spec_reading.mutants import KINDS, mutants, sample
from spec_reading.survivors import survivors, tried

EACH = 8  # wrong texts of each chapter; `python -m spec_reading --wrong 0` tries all


def test_of_twenty_wrong_texts_at_most_one_goes_unnoticed():
    """One sign, exponent, index, function, number, row, source or field is wrong at a time."""
    every = list(tried(CHAPTERS, EACH))
    unnoticed = survivors(every)

    assert len(every) >= 6 * len(CHAPTERS)
    assert len(unnoticed) <= len(every) / 20, "\n".join(unnoticed)


def test_every_kind_of_mistake_is_tried():
    """A kind that is found in no chapter would measure nothing."""
    kinds = Counter(one.kind for chapter in CHAPTERS for one in mutants(chapter_text(chapter)))

    assert set(kinds) == set(KINDS)


@pytest.mark.parametrize(
    ("text", "kind", "before", "after"),
    [
        ("`a = b + c`", "sign", "+", "-"),
        ("`θ_i = base^(-2i/d)`", "exponent", "-2", "2"),
        ("`R_{n-m} = x`", "index", "n-m", "m-n"),
        ("```math\n\\cos m = 1\n```\n", "function", "cos", "sin"),
        ("A turn is 6.28 radians.", "number", "6.28", "6.29"),
        ("| a | b |\n|---|---|\n| 1 | 20 |\n", "table", "20", "21"),
        ("- **Sources:** F-001 (document 000 L55)", "source", "55", "56"),
        ("- **Functions:** `a.b`, `a.c`", "field", ", `a.c`", ""),
    ],
)
def test_mutants_are_what_they_say(text, kind, before, after):
    """Each kind of change, on a text that has nothing else."""
    found = [(one.before, one.after) for one in mutants(text) if one.kind == kind]

    assert (before, after) in found


def test_examples_headings_and_ids_are_left_alone():
    """The doctests hold the examples, and an id is no number."""
    text = "## ROT-12 Title 34\n\nSee E-04, ROT-16.not-a-number, L55 and float32.\n"
    text += "```python\n>>> 12 + 34\n46\n```\n"

    assert not [one for one in mutants(text) if one.kind != "source"]


def test_a_sample_is_the_same_every_time_and_has_every_kind():
    """The same seed chooses the same mutants."""
    text = chapter_text("relative")
    first, again = sample(text, 9, 3), sample(text, 9, 3)

    assert first == again
    assert len({one.kind for one in first}) >= 6
