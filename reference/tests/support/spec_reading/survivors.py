"""How many wrong chapters the tests of the text let through."""

from collections.abc import Iterable, Iterator

from ropespec.spec import chapter_text
from spec_reading import problems
from spec_reading.mutants import Mutant, mutants, sample

__all__ = ["Tried", "survivors", "tried"]

Tried = tuple[str, Mutant, bool]
"""A chapter, one wrong text of it, and whether it was noticed."""


def tried(chapters: Iterable[str], count: int | None, seed: int = 0) -> Iterator[Tried]:
    """Read wrong texts of each chapter.

    Parameters
    ----------
    chapters : iterable of str
        Their stems.
    count : int or None
        How many of each, every kind as often as it can be; None for all there are.
    seed : int
        Of the choice.
    """
    for chapter in chapters:
        text = chapter_text(chapter)
        chosen = mutants(text) if count is None else sample(text, count, seed)
        for mutant in chosen:
            yield chapter, mutant, bool(problems(chapter, mutant.text))


def survivors(found: Iterable[Tried]) -> list[str]:
    """Return one line for each wrong text that was not noticed."""
    return [
        f"{chapter}.md:{one.line} {one.kind}: {one.before!r} to {one.after!r}"
        for chapter, one, noticed in found
        if not noticed
    ]
