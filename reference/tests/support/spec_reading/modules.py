"""What the module of a chapter, `chapter_<stem>.py`, may say; all of it is optional.

BINDINGS : dict of str to function
    Section -> the values of its symbols, as one mapping or a list of them.
WORDS : dict of str to str
    `FREQ-1#2` (the second formula of the section) -> why it cannot be computed.
WRONG : dict of str to str
    `E-04#1` -> why this formula stands there although it is wrong: it must not hold.
TABLES : dict of str to function
    Section (or `DEC-2#2`, its second table) -> rows by header to a list of problems.
FACTS : dict of str to str
    Section (or with a number) -> whose facts the table gives, that no code of ours can compute.
RECORDED : dict of str to str
    Section (or with a number) -> digest of a table of words or of facts of others.
NUMBERS : dict of str to tuple of str
    Section -> numbers of others in its prose.
OWN : tuple of function
    Whole text -> list of problems, for what this chapter alone has to hold.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["ChapterModule", "load"]

Bound: TypeAlias = Mapping[str, object] | Sequence[Mapping[str, object]]
Rows: TypeAlias = list[dict[str, str]]


@dataclass(frozen=True)
class ChapterModule:
    """The parts of one chapter's module."""

    bindings: Mapping[str, Callable[[], Bound]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, Callable[[Rows], list[str]]] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    recorded: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def environments(self, key: str) -> list[Mapping[str, object]]:
        """All environments of a section; one without names if none is given."""
        bound = self.bindings.get(key, dict)()
        return [bound] if isinstance(bound, Mapping) else list(bound)


def load(chapter: str) -> ChapterModule:
    """Import the module of a chapter."""
    module = importlib.import_module(f"spec_reading.chapter_{chapter}")
    names = ("bindings", "words", "wrong", "tables", "facts", "recorded", "numbers")
    return ChapterModule(**{name: getattr(module, name.upper(), {}) for name in names})
