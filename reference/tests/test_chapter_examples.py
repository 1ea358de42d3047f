"""The examples in the chapters are run, so that the text cannot drift from the functions."""

import doctest
import re

import pytest

from ropespec.spec import CHAPTERS, chapter_text

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _python_blocks(text):
    """Keep the examples and blank out all prose, so that line numbers stay those of the file."""
    kept, end = [], 0
    for block in _BLOCK.finditer(text):
        kept.append("\n" * text.count("\n", end, block.start(1)) + block[1] + "\n")
        end = block.end()
    return "".join(kept)


def _run(text, name):
    test = doctest.DocTestParser().get_doctest(_python_blocks(text), {}, name, name, 0)
    report = []
    results = doctest.DocTestRunner(optionflags=doctest.FAIL_FAST).run(test, out=report.append)
    return results, "".join(report)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_examples_of_the_chapter_give_what_they_print(chapter):
    """Every example block of a chapter prints exactly what the chapter shows."""
    results, report = _run(chapter_text(chapter), f"{chapter}.md")
    assert results.failed == 0, report


def test_a_wrong_example_is_found():
    """The runner reports an example whose output is not what is shown, with its line."""
    results, report = _run("Prose.\n\n```python\n>>> 1 + 1\n3\n```\n", "wrong.md")
    assert results.failed == 1
    assert 'File "wrong.md", line 4' in report


def test_examples_are_counted_in_every_block():
    """Blocks after the first one are run too, and share its names."""
    text = "```python\n>>> a = 1\n```\n\nProse.\n\n```python\n>>> a\n1\n```\n"
    results, _ = _run(text, "two.md")
    assert results.attempted == 2
    assert results.failed == 0


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_example_is_left_out(chapter):
    """Every line that starts with a prompt stands in a block that is run."""
    text = chapter_text(chapter)
    prompts = len(re.findall(r"^\s*>>> ", text, re.MULTILINE))
    assert prompts == len(re.findall(r"^\s*>>> ", _python_blocks(text), re.MULTILINE))
