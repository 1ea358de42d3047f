"""Wrong chapters: one sign, exponent, index, function, constant, table row or source put wrong.

A mutant changes one place of a chapter, outside its examples (which the doctests hold) and its
headings. What the tests of the text do not notice could be printed wrong.
"""

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["KINDS", "Mutant", "mutants", "sample"]

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]+`")
_NOT_A_FORMULA = re.compile(r"`[\w.*/-]+`")  # a name, a file
_IDS = re.compile(
    r"§ [\d.]+|eqs?\. \([\d)( to,]+"  # sections, and equations of a paper that is not here
    r"|\b(?:[A-Z]{2,5}-\d+(?:\.[\w-]+)?|[FEPD]-\d{2,3}|L\d+(?:[-–]L?\d+)?|arXiv[ :]*\d{4}\.\d+"
    r"|documents? \d{3}|(?:b?float|int|uint|complex|bf)\d+|https?://\S+)\b"
)
_NUMBER = re.compile(r"(?<![\w.^{])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w])")
_RELATION = re.compile(r"[=≠<≤>≥≈∈↦]")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong chapter.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    line : int
        Line of the chapter, from 1.
    before, after : str
        What stood there and what stands there now.
    text : str
        The whole chapter.
    """

    kind: str
    line: int
    before: str
    after: str
    text: str


# (kind, pattern, what takes its place) within formulas
_IN_FORMULAS = (
    ("sign", re.compile(r"(?<=[\w)}\]] )\+(?= )|(?<=[\w)}\]])\+(?=[\w({\\])"), lambda _: "-"),
    ("sign", re.compile(r"(?<![\w^])-(?=[\w(\\θ])|(?<= )-(?= )|(?<=[\w)}])-(?=[\w({\\])"), "flip"),
    ("exponent", re.compile(r"(?<=\^)\d|(?<=\^\{)-?\d|(?<=\^\()-?\d"), "digit"),
    ("exponent", re.compile(r"\^(?:\\top|T\b)"), lambda _: ""),
    ("exponent", re.compile(r"\^\*"), lambda _: ""),
    ("index", re.compile(r"(?<=_)[mnij012]\b|(?<=_\{)[mnij012]\b"), "index"),
    ("index", re.compile(r"(?<=[qkxyz])[12]\b"), "index"),
    ("index", re.compile(r"\bn ?- ?m\b|\bm ?- ?n\b"), "offset"),
    ("function", re.compile(r"\bcos\b|\bsin\b"), "trigonometry"),
    ("constant", re.compile(r"(?<![\w.^_{])\d+(?:\.\d+)?(?![\w.])"), "digit"),
)
KINDS = ("sign", "exponent", "index", "function", "constant", "number", "table", "source", "field")


def mutants(text: str) -> Iterator[Mutant]:
    """Yield every wrong chapter that one change of the known kinds makes."""
    for start, end in _formulas(text):
        for kind, pattern, change in _IN_FORMULAS:
            for match in pattern.finditer(text, start, end):
                after = _changed(match[0], change)
                if after != match[0]:
                    yield _mutant(kind, text, match.start(), match.end(), after)
    yield from _numbers(text)
    yield from _tables(text)
    yield from _fields(text)


def sample(text: str, count: int, seed: int) -> list[Mutant]:
    """Return `count` of the mutants, every kind as often as it can be."""
    rng = random.Random(seed)  # noqa: S311  # a sample, no secret
    by_kind = {kind: [m for m in mutants(text) if m.kind == kind] for kind in KINDS}
    for found in by_kind.values():
        rng.shuffle(found)
    chosen: list[Mutant] = []
    while len(chosen) < count and any(by_kind.values()):
        chosen += [found.pop() for found in by_kind.values() if found]
    return chosen[:count]


def _formulas(text: str) -> Iterator[tuple[int, int]]:
    """Yield where display formulas and inline relations stand."""
    for block in _BLOCK.finditer(text):
        if block[1] == "math":
            yield block.start(2), block.end(2)
    prose = _without_blocks(text)
    for span in _CODE.finditer(prose):
        if _RELATION.search(span[0]) and not _NOT_A_FORMULA.fullmatch(span[0]):
            yield span.start() + 1, span.end() - 1


def _numbers(text: str) -> Iterator[Mutant]:
    """Change a digit of a number in the prose, outside formulas, ids and headings."""
    prose = _without_blocks(text)
    prose = _CODE.sub(_blank, prose)
    prose = _IDS.sub(_blank, prose)
    at = 0
    for line in prose.splitlines(keepends=True):
        if not line.startswith(("#", "|", "- **Sources", "  F-", "- **Errata", "- **Prop")):
            for match in _NUMBER.finditer(line):
                if len(match[0]) > 1:
                    yield _mutant(
                        "number", text, at + match.start(), at + match.end(), _digit(match[0])
                    )
        at += len(line)


def _tables(text: str) -> Iterator[Mutant]:
    """Change a digit of a cell, or exchange two rows' last cells."""
    at, rows = 0, []
    for line in text.splitlines(keepends=True):
        is_row = line.startswith("| ") and not line.startswith("|---")
        if is_row:
            rows.append((at, line))
            for match in _NUMBER.finditer(_IDS.sub(_blank, line)):
                start, end = at + match.start(), at + match.end()
                yield _mutant("table", text, start, end, _digit(match[0]))
        else:
            yield from _exchanged(text, rows)
            if not line.startswith("|---"):
                rows = []
        at += len(line)


def _exchanged(text: str, rows: list[tuple[int, str]]) -> Iterator[Mutant]:
    body = rows[1:]
    for (at, line), (_, other) in itertools.pairwise(body):
        cell, theirs = line.rstrip().rstrip("|").rpartition("|"), other.rstrip().rstrip("|")
        last = theirs.rpartition("|")[2]
        if last != cell[2]:
            start = at + len(cell[0]) + 1
            yield _mutant("table", text, start, start + len(cell[2]), last)


def _fields(text: str) -> Iterator[Mutant]:
    """Put a source on another line, or drop a function of a clause."""
    for match in re.finditer(r"(?<=\bL)\d+", _without_blocks(text)):
        yield _mutant("source", text, match.start(), match.end(), _digit(match[0]))
    for match in re.finditer(r"^- \*\*Functions:\*\* .*(?:\n  .*)*", text, re.MULTILINE):
        names = list(re.finditer(r", `[\w.]+`", match[0]))
        for name in names:
            start = match.start() + name.start()
            yield _mutant("field", text, start, start + len(name[0]), "")


def _changed(found: str, change: object) -> str:
    if callable(change):
        return str(change(found))
    if change == "flip":
        return "+"
    if change == "digit":
        return found[1:] if found.startswith("-") else _digit(found)
    if change == "index":
        pairs = {"m": "n", "n": "m", "i": "j", "j": "i", "0": "1", "1": "2", "2": "1"}
        return pairs[found]
    if change == "offset":
        return found.translate(str.maketrans("mn", "nm"))
    return {"cos": "sin", "sin": "cos"}[found]


def _digit(number: str) -> str:
    """Change the last digit that counts: 8 for 7, 0 for 9."""
    where = max(i for i, c in enumerate(number.partition("e")[0]) if c.isdigit())
    return f"{number[:where]}{(int(number[where]) + 1) % 10}{number[where + 1 :]}"


def _without_blocks(text: str) -> str:
    """Blank out all fenced blocks, so that places stay what they are."""
    return _BLOCK.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _mutant(kind: str, text: str, start: int, end: int, after: str) -> Mutant:
    line = text.count("\n", 0, start) + 1
    return Mutant(kind, line, text[start:end], after, text[:start] + after + text[end:])
