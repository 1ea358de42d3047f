"""The errata as values, read from their chapter: the Markdown is the only place they are written.

A section `### E-04 Title` begins with a line `MATH, document 000 L15 (F-121).`, quotes the print
(`Printed in 000 L15:` and a block), says what is right (`Right: ...`), and either gives numbers in
a table `| data | printed | right |`, or says `Nothing to compute: why.` An erratum that changes
numbers which no function of the API shows says `In no function of the API: why.`
"""

import ast
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ropespec.spec.clauses import chapter_text

__all__ = ["KINDS", "Erratum", "Numbers", "Place", "Quotation", "errata", "read", "shown", "values"]

KINDS = ("MATH", "CODE", "SCOPE", "LOST", "NOTE")
"""What is wrong: mathematics, code, a claim that goes too far, missing content, wording."""

_SECTION = re.compile(r"^### (E-\d\d) ([^\n]+)\n(.*?)(?=^###? |\Z)", re.MULTILINE | re.DOTALL)
_HEAD = re.compile(rf"^({'|'.join(KINDS)}), (document .+?)(?: \((F-[^()]+)\))?\.$", re.MULTILINE)
_PLACES = re.compile(r"document (\d{3}) ((?:L\d+(?:[-–]\d+)?(?:, )?)+)")
_LINES = re.compile(r"L(\d+)(?:[-–](\d+))?")
_QUOTED = re.compile(
    r"^Printed in (\d{3}) L(\d+)(?:[-–](\d+))?:\n+```text\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_RIGHT = re.compile(r"^Right: (.+?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
_NOTHING = re.compile(r"^Nothing to compute: (.+?)\.(?=\n|\Z)", re.MULTILINE)
_NO_FUNCTION = re.compile(r"^In no function of the API: (.+?)\.(?=\n|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a document, `last` included."""

    document: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Quotation:
    """What stands at a place, to the letter; white space is not counted."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Numbers:
    """One row of a table: the data, what the printed form gives of them, and the right one."""

    data: str
    printed: str
    right: str


@dataclass(frozen=True, slots=True)
class Erratum:
    """One place where a document is wrong.

    Attributes
    ----------
    id : str
        Such as `E-04`.
    title : str
        A few words.
    kind : str
        One of `KINDS`.
    places : tuple of Place
        Where it stands.
    formulas : tuple of str
        Ids F- of what it is about.
    quotations : tuple of Quotation
        The print.
    right : str
        What is right, as Markdown.
    numbers : tuple of Numbers
        Data on which printed and right differ.
    nothing_to_compute : str
        Why there are no numbers; empty if there are.
    in_no_function : str
        Why no function of the API can show the printed form; empty if one does.
    """

    id: str
    title: str
    kind: str
    places: tuple[Place, ...]
    formulas: tuple[str, ...]
    quotations: tuple[Quotation, ...]
    right: str
    numbers: tuple[Numbers, ...]
    nothing_to_compute: str
    in_no_function: str


@functools.cache
def errata() -> Mapping[str, Erratum]:
    """All errata by id, in reading order."""
    return read(chapter_text("errata"))


def read(text: str) -> Mapping[str, Erratum]:
    """Read the errata of a text.

    Parameters
    ----------
    text : str
        The chapter, or what a test makes of it.

    Returns
    -------
    mapping of str to Erratum
        By id, in reading order.

    Raises
    ------
    ValueError
        If a section says nowhere of what class and where it is, an id stands twice, or a section
        has not exactly one of numbers and `Nothing to compute`.
    """
    found: dict[str, Erratum] = {}
    for section in _SECTION.finditer(text):
        erratum = _erratum(section[1], section[2], section[3])
        if erratum.id in found:
            raise ValueError(f"{erratum.id} stands twice")
        found[erratum.id] = erratum
    return MappingProxyType(found)


def values(data: str) -> dict[str, Any]:
    """Read the data of a row: `d = 4, q = (1, 2), θ = 0.5` as keywords.

    The angle is called `theta`, the imaginary unit is written ⅈ, and a bare word is a string.

    Raises
    ------
    ValueError
        If it cannot be read.
    """
    plain = re.sub(r"(?<![\d.])ⅈ", "1j", data).replace("ⅈ", "j").replace("θ", "theta")
    try:
        call = ast.parse(f"f({plain})", mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{data!r} cannot be read as data") from error
    assert isinstance(call, ast.Call)
    return {str(item.arg): _value(item.value) for item in call.keywords}


def shown(value: object) -> str:
    """Write a result as the tables do, to six decimals.

    Parameters
    ----------
    value : object
        A number, an array, a word, or a tuple of them.

    Returns
    -------
    str
        `0.841471`, `(1, 0.01)`, `[[1, 0], [0, 1]]`, `1 + 2ⅈ`; several results are parted by `;`.
        Below 0.001 a number has an exponent and six decimals: `1.154782e-4`.
    """
    if isinstance(value, tuple):
        return "; ".join(shown(item) for item in value)
    if isinstance(value, (str, bool)):
        return str(value)
    array = np.asarray(value)
    if array.ndim == 0:
        return _number(array.item())
    items = ", ".join(_nested(item) for item in array)
    return f"({items})" if array.ndim == 1 else f"[{items}]"


def _value(node: ast.expr) -> object:
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)


def _erratum(id_: str, title: str, text: str) -> Erratum:
    head = _HEAD.search(text)
    if head is None:
        raise ValueError(f"{id_} does not say of what class it is and where it stands")
    rows = tuple(Numbers(*row) for row in _ROW.findall(text)[1:])
    nothing = _first(_NOTHING, text)
    if bool(rows) == bool(nothing):
        raise ValueError(f"{id_} must have either numbers or a reason to have none")
    return Erratum(
        id_,
        title,
        head[1],
        _places(head[2]),
        tuple(re.findall(r"F-\d{3}", head[3] or "")),
        tuple(_quotation(*match) for match in _QUOTED.findall(text)),
        _first(_RIGHT, text),
        rows,
        nothing,
        _first(_NO_FUNCTION, text),
    )


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return " ".join(match[1].split()) if match else ""


def _places(text: str) -> tuple[Place, ...]:
    return tuple(
        Place(document, int(first), int(last or first))
        for document, lines in _PLACES.findall(text)
        for first, last in _LINES.findall(lines)
    )


def _quotation(document: str, first: str, last: str, text: str) -> Quotation:
    return Quotation(Place(document, int(first), int(last or first)), text.rstrip("\n"))


def _nested(value: Any) -> str:  # noqa: ANN401  # an array or a number
    if np.ndim(value) == 0:
        return _number(value.item())
    return f"[{', '.join(_nested(item) for item in value)}]"


def _number(x: complex) -> str:
    if isinstance(x, complex):
        sign = "-" if _real(x.imag).startswith("-") else "+"
        return f"{_real(x.real)} {sign} {_real(abs(x.imag))}ⅈ"
    return _real(float(x))


def _real(x: float) -> str:
    if 0 < abs(x) < 1e-3:
        digits, _, exponent = f"{x:.6e}".partition("e")
        return f"{_trimmed(digits)}e{int(exponent)}"
    return _trimmed(f"{x:.6f}") if np.isfinite(x) else str(x)


def _trimmed(digits: str) -> str:
    short = digits.rstrip("0").rstrip(".")
    return "0" if short == "-0" else short
