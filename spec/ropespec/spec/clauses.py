"""The clause index, read from the chapters: the Markdown is the only place a clause is written.

A clause is a second-level heading `## ROT-6 Title`, a paragraph that starts with `**Rule.**`, free
text, and a list of fields `- **Name:** value` (`Signature`, `Shapes`, `Domain`,
`Sources`, `Errata`, `Properties`, `Functions`, `Not checked`), continued on lines indented by two
spaces.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from types import MappingProxyType

from ropespec.spec.api import CHAPTERS

__all__ = ["FIELDS", "Clause", "chapter_text", "chapter_title", "clauses", "find", "parse"]

FIELDS = (
    "Signature",
    "Shapes",
    "Domain",
    "Sources",
    "Errata",
    "Properties",
    "Functions",
    "Not checked",
)

_HEADING = re.compile(r"^## ([A-Z]+-\d+) (.+)$")
_FIELD = re.compile(rf"^- \*\*({'|'.join(FIELDS)}):\*\* (.*)$")
_ID = re.compile(r"\b[FEP]-\d{2,3}\b")
_CODE = re.compile(r"`([\w.]+)`")


@dataclass(frozen=True, slots=True)
class Clause:
    """One numbered statement of the specification.

    Attributes
    ----------
    id : str
        Stable id such as `ROT-6`.
    title : str
        A few words.
    chapter : str
        The stem of the chapter's file.
    rule : str
        The statement in one or two sentences.
    text : str
        The whole clause as Markdown, without its heading.
    fields : mapping of str to str
        The fields as written.
    """

    id: str
    title: str
    chapter: str
    rule: str
    text: str
    fields: Mapping[str, str] = field(hash=False)

    @property
    def documents(self) -> frozenset[str]:
        """Ids of the formulas (F-), errata (E-) and properties (P-) the clause answers for."""
        named = " ".join(self.fields.get(name, "") for name in ("Sources", "Errata", "Properties"))
        return frozenset(_ID.findall(named))

    @property
    def functions(self) -> tuple[str, ...]:
        """Reference functions that implement it, as `chapter.function`."""
        return tuple(_CODE.findall(self.fields.get("Functions", "")))

    @property
    def not_checked(self) -> str | None:
        """Why no check of an implementation exists, or None if there is one."""
        return self.fields.get("Not checked")


def chapter_text(chapter: str) -> str:
    """Read a chapter as Markdown.

    Parameters
    ----------
    chapter : str
        Its stem, such as `rotation`.
    """
    path = resources.files("ropespec.spec") / "chapters" / f"{chapter}.md"
    return path.read_text(encoding="utf-8")


def chapter_title(chapter: str) -> str:
    """Read the title of a chapter: its first heading."""
    return chapter_text(chapter).splitlines()[0].removeprefix("# ")


@functools.cache
def clauses() -> Mapping[str, Clause]:
    """All clauses by id, in reading order."""
    found = [clause for chapter in CHAPTERS for clause in parse(chapter, chapter_text(chapter))]
    index = {clause.id: clause for clause in found}
    if len(index) != len(found):
        ids = [clause.id for clause in found]
        twice = sorted({id_ for id_ in ids if ids.count(id_) > 1})
        raise RuntimeError(f"clause ids must be unique; written twice: {', '.join(twice)}")
    return MappingProxyType(index)


def find(clause_id: str) -> Clause | None:
    """Look up one clause; upper and lower case mean the same."""
    return clauses().get(clause_id.upper())


def parse(chapter: str, text: str) -> list[Clause]:
    """Read the clauses of a chapter from its text.

    Parameters
    ----------
    chapter : str
        Its stem, such as `rotation`.
    text : str
        The chapter as Markdown.
    """
    parts: list[tuple[str, str, list[str]]] = []
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            parts.append((heading[1], heading[2], []))
        elif line.startswith("## "):
            parts.append(("", "", []))
        elif parts:
            parts[-1][2].append(line)
    return [
        Clause(id_, title, chapter, _rule(lines), "\n".join(lines).strip(), _fields(lines))
        for id_, title, lines in parts
        if id_
    ]


def _rule(lines: list[str]) -> str:
    text = "\n".join(lines).strip()
    paragraph = next((p for p in text.split("\n\n") if p.startswith("**Rule.**")), "")
    return " ".join(paragraph.removeprefix("**Rule.**").split())


def _fields(lines: list[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    current = ""
    for line in lines:
        if match := _FIELD.match(line):
            current = match[1]
            found[current] = match[2]
        elif current and line.startswith("  "):
            found[current] += " " + line.strip()
        else:
            current = ""
    return MappingProxyType(found)
