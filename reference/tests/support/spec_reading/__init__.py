"""Reads the text of a chapter as a reader would, and says what in it is not so.

`problems(chapter, text)` is a function of the text, so that a changed text can be tried too.
"""

import importlib.util
from collections.abc import Callable

from spec_reading import examples, fields, formulas, numbers, own, rules, tables

__all__ = ["ASPECTS", "WITHOUT_MODULE", "aspects", "problems"]

ASPECTS: dict[str, Callable[[str, str], list[str]]] = {
    "examples": examples.check,
    "fields": fields.check,
    "formulas": formulas.check,
    "rules": rules.check,
    "numbers": numbers.check,
    "tables": tables.check,
    "own": own.check,
}

WITHOUT_MODULE: frozenset[str] = frozenset()
"""Chapters that no `chapter_<stem>.py` binds yet: only their examples and fields are checked."""


def aspects(chapter: str) -> list[str]:
    """Give the aspects under which a chapter is read."""
    bound = importlib.util.find_spec(f"spec_reading.chapter_{chapter}") is not None
    return list(ASPECTS) if bound else ["examples", "fields"]


def problems(chapter: str, text: str) -> list[str]:
    """List what is wrong in a chapter, one line for each problem.

    Parameters
    ----------
    chapter : str
        Its stem, such as `rotation`.
    text : str
        Its text, which need not be that of the file.
    """
    return [
        f"{chapter} {aspect}: {line}"
        for aspect in aspects(chapter)
        for line in ASPECTS[aspect](chapter, text)
    ]
