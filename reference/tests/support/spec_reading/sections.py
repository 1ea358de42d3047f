"""The parts of a chapter: clauses, and within them what stands under a third-level heading.

Formulas and numbers are looked for in the prose of a section; examples, tables and the fields that
name other things are taken out of it.
"""

import re
from dataclasses import dataclass

from ropespec.spec.clauses import parse

__all__ = ["DOUBLE", "SPAN", "Section", "sections"]

SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
DOUBLE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SECTION = re.compile(r"^### ([EDP]-\d+)\b.*$", re.MULTILINE)
_NAMING = ("Signature", "Sources", "Errata", "Properties", "Functions", "Not checked")
_FIELD = re.compile(rf"^- \*\*(?:{'|'.join(_NAMING)}):\*\* .*\n?(?:^  .*\n?)*", re.MULTILINE)
_TABLE = re.compile(r"(?:^\|.*\|\n?)+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """One clause, one numbered part of a clause, or the text before the first clause (`intro`).

    Attributes
    ----------
    key : str
        The id that bindings and tables are named by.
    text : str
        All of it.
    """

    key: str
    text: str

    @property
    def prose(self) -> str:
        """The text without blocks, tables and the fields that only name other things."""
        return _TABLE.sub("\n", DOUBLE.sub("\n", _FIELD.sub("", self.text)))

    @property
    def examples(self) -> str:
        """What stands in its blocks of Python."""
        return "\n".join(m[2] for m in DOUBLE.finditer(self.text) if m[1] == "python")

    @property
    def formulas(self) -> list[str]:
        """All displays and code spans of the prose that state something, in their order."""
        body = _TABLE.sub("\n", _FIELD.sub("", self.text))
        found = [(m.start(), m[2]) for m in DOUBLE.finditer(body) if m[1] == "math"]
        blank = DOUBLE.sub(lambda m: " " * len(m[0]), body)
        found += [(m.start(), m[1]) for m in SPAN.finditer(blank) if states(m[1])]
        return [text for _, text in sorted(found)]

    @property
    def tables(self) -> list[list[dict[str, str]]]:
        """Its tables as rows by header."""
        bare = DOUBLE.sub("\n", self.text)
        return [_rows(match[0]) for match in _TABLE.finditer(bare)]


def states(span: str) -> bool:
    """Say whether a code span is a formula that states something, and no Python."""
    plain = re.sub(r"_\{[^{}]*\}", "", span)  # the `i=0` of a sum is no keyword argument
    python = re.search(r"==|<=|>=|!=|->|:=|\w=[\w\"'(\[{.-]|\b(?:True|False|None)\b", plain)
    return bool(re.search(r"[=≠<≤>≥≈∈↦≡]", span)) and not python


def sections(chapter: str, text: str) -> list[Section]:
    """Divide a chapter into its sections."""
    first = re.search(r"^## ", text, re.MULTILINE)
    found = [Section("intro", text[: first.start()] if first else text)]
    for clause in parse(chapter, text):
        marks = list(_SECTION.finditer(clause.text))
        ends = [mark.start() for mark in marks] + [len(clause.text)]
        found.append(Section(clause.id, clause.text[: ends[0]]))
        found += [
            Section(mark[1], clause.text[mark.end() : end])
            for mark, end in zip(marks, ends[1:], strict=True)
        ]
    return found


def _rows(table: str) -> list[dict[str, str]]:
    lines = [
        [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
        for line in table.strip().splitlines()
    ]
    return [dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]]
