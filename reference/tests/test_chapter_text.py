"""The text of every chapter says what the code does: examples, formulas, numbers, tables, names."""

import importlib.util

import pytest

from ropespec.spec import CHAPTERS, chapter_text
from spec_reading import ASPECTS, WITHOUT_MODULE, aspects
from spec_reading.examples import run


@pytest.mark.parametrize(
    ("chapter", "aspect"),
    [(chapter, aspect) for chapter in CHAPTERS for aspect in aspects(chapter)],
)
def test_the_text_of_the_chapter_is_right(chapter, aspect):
    """Nothing that the chapter says differs from what code, documents and arithmetic say."""
    found = ASPECTS[aspect](chapter, chapter_text(chapter))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_is_bound_or_listed_as_not_bound(chapter):
    """Every chapter has a module of bindings, unless the one list says that it has none yet."""
    has_module = importlib.util.find_spec(f"spec_reading.chapter_{chapter}") is not None
    assert has_module != (chapter in WITHOUT_MODULE)


def test_a_wrong_example_is_found():
    """The runner reports an example whose output is not what is shown, with its line."""
    results, report = run("Prose.\n\n```python\n>>> 1 + 1\n3\n```\n", "wrong.md")
    assert results.failed == 1
    assert 'File "wrong.md", line 4' in report


def test_examples_are_counted_in_every_block():
    """Blocks after the first one are run too, and share its names."""
    text = "```python\n>>> a = 1\n```\n\nProse.\n\n```python\n>>> a\n1\n```\n"
    results, _ = run(text, "two.md")
    assert results.attempted == 2
    assert results.failed == 0


def test_an_example_outside_the_blocks_is_found():
    """A line that starts with a prompt and stands in no block is a problem."""
    assert ASPECTS["examples"]("wrong", "## FREQ-1 x\n\n    >>> 1 + 1\n    2\n")
