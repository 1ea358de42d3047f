"""Where the documents say a thing: lines as in `documents.md`, sections as in the documents."""

import functools
import re
from collections.abc import Iterator

from ropespec.spec.clauses import Clause, chapter_text
from spec_reading.sections import Section

__all__ = ["documents_of_errata", "listed", "places"]

# Where each section of a document begins.
_SECTIONS: dict[str, dict[str, int]] = {
    "000": {
        "从内积角度": 3, "基本定义": 7, "内积计算": 13, "复数形式表达": 19, "欧拉公式": 27,
        "注意力计算": 39, "矩阵形式": 43, "矩阵分解": 47,
    },
    "001": {
        "元素表示": 2, "原始论文": 21, "原始论文等价": 74, "llama实现": 125, "矩阵表示": 193,
        "文献": 199,
    },
    "002": {"主要内容": 8, "RoPE": 16, "Long-term Decay": 117},
    "003": {"1": 1, "2": 11, "2.1": 13, "2.2": 25, "3": 41, "3.1": 45, "3.2": 70, "3.3": 112},
    "004": {
        "前言": 14, "一": 38, "1.1": 42, "1.2": 83, "1.3": 91, "二": 132, "2.1": 146, "2.2": 160,
        "2.2.1": 162, "2.2.2": 184, "三": 206, "3.1": 208, "3.1.1": 218, "3.1.2": 402,
        "3.2": 519, "3.2.1": 525, "3.2.1.1": 527, "3.2.1.2": 603, "3.2.1.3": 648, "3.2.2": 660,
        "后记": 692, "参考文献": 705,
    },
}  # fmt: skip
_ENTRY = re.compile(r"((?:F-\d{3}(?:, )?)+) \(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_LINES = r"\bL(\d+)(?:[-–](\d+))?"
_CITED = re.compile(rf"document (\d{{3}})|§ ?([^L;,()]*?)(?=\s*(?:L\d|[;,)]))|(preface)|{_LINES}")


def places(clause: Clause) -> Iterator[str]:
    field = clause.fields.get("Sources", "")
    entries = list(_ENTRY.finditer(field))
    for entry in entries:
        ids = re.findall(r"F-\d{3}", entry[1])
        right = set().union(*(listed().get(id_, set()) for id_ in ids))
        written = _lines(entry[2], r"document (\d{3})")
        if written != right and "see " not in entry[2]:
            yield f"{', '.join(ids)} at {_shown(written)}, but documents.md has {_shown(right)}"
    yield from _in_other_sections(field)
    in_entries = {id_ for entry in entries for id_ in re.findall(r"F-\d{3}", entry[0])}
    for id_ in set(re.findall(r"\bF-\d{3}\b", field)) - in_entries:
        yield f"Sources names {id_} without its lines"


def documents_of_errata(clause: Clause) -> Iterator[str]:
    """A line that names documents and errata names the documents of these errata."""
    for line in clause.text.splitlines():
        named = set(re.findall(r"\b00\d\b", line))
        for id_ in re.findall(r"\bE-\d\d\b", line) if named else ():
            if (right := _errata().get(id_, named)) and not right & named:
                yield f"{id_} is of document {', '.join(sorted(right))}, not {sorted(named)}"


@functools.cache
def _errata() -> dict[str, set[str]]:
    """Erratum -> the documents that print it."""
    return {
        row["id"]: set(re.findall(r"\b00\d\b", row["document"]))
        for row in _entries()
        if "document" in row
    }


def _in_other_sections(field: str) -> Iterator[str]:
    """Say which cited lines stand in another section than the one that is named."""
    document = section = ""
    for match in _CITED.finditer(field):
        if match[1]:
            document, section = match[1], ""
        elif match[2] is not None:
            section = match[2].strip()
        elif match[3]:
            section = "前言"
        elif document and section:
            right = _section(document, int(match[4]))
            if right != section and not right.startswith(f"{section}."):
                yield f"document {document} L{match[4]} is in § {right}, not § {section}"


def _section(document: str, line: int) -> str:
    starts = _SECTIONS[document]
    return max(
        (name for name in starts if starts[name] <= line), key=starts.__getitem__, default=""
    )


@functools.cache
def listed() -> dict[str, set[tuple[str, int]]]:
    """Id -> the lines of the documents where it stands."""
    return {row["id"]: _lines(row.get("where", ""), r"\b(00\d)(?= L)") for row in _entries()}


def _entries() -> Iterator[dict[str, str]]:
    """Yield the rows of the tables of `documents.md` that list ids, by header."""
    for table in Section("documents", chapter_text("documents")).tables:
        yield from (row for row in table if "id" in row)


def _lines(text: str, document: str) -> set[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    current = ""
    for match in re.finditer(rf"{document}|{_LINES}", text):
        if match[1]:
            current = match[1]
        elif current:
            first = int(match[2])
            found |= {(current, line) for line in range(first, int(match[3] or first) + 1)}
    return found


def _shown(places: set[tuple[str, int]]) -> str:
    return ", ".join(f"{document} L{line}" for document, line in sorted(places)) or "no line"
