"""The chapter `errata`: its tables are computed by the printed and the right forms."""

import re
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from ropespec.reference.errata import FORMS, printed, recomputed, right
from ropespec.reference.rotation import rotation_matrix
from ropespec.spec.clauses import chapter_text
from ropespec.spec.errata import Place, errata, read, values

__all__ = ["BINDINGS", "OWN", "TABLES", "places_problems"]


def _rotated() -> list[Mapping[str, object]]:
    """Bind q, k, m, n and R in four dimensions, with n of either sign."""
    q, k = np.array([1.0, 2.0, 3.0, 4.0]), np.array([4.0, 3.0, 2.0, 1.0])
    return [
        {"q": q, "k": k, "m": m, "n": n, "R": lambda m: rotation_matrix(m, 4, interleaved=True)}
        for m, n in ((3, 1), (2, -5))
    ]


def _forms() -> list[Mapping[str, object]]:
    """Bind both forms of every erratum whose results have one shape."""
    found: list[Mapping[str, object]] = []
    for id_, one in errata().items():
        for row in one.numbers:
            data = values(row.data)
            try:
                pair = [np.asarray(f(id_, **data)) for f in (printed, right)]
            except (AssertionError, IndexError, ValueError):
                continue
            if pair[0].shape == pair[1].shape and all(item.dtype.kind in "ifc" for item in pair):
                found.append(
                    {"printed": _numbers(printed, id_), "right": _numbers(right, id_), "x": data}
                )
    return found


def _numbers(form: Callable[..., object], id_: str) -> Callable[[dict[str, object]], object]:
    return lambda data: form(id_, **data)


def _table(id_: str) -> Callable[[list[dict[str, str]]], list[str]]:
    """Return the check of the table of an erratum."""

    def check(rows: list[dict[str, str]]) -> list[str]:
        found = []
        for row in rows:
            computed = recomputed(id_, row["data"])
            if computed != (row["printed"], row["right"]):
                found.append(
                    f"{row['data']}: printed and right are {computed[0]} and {computed[1]}"
                )
        return found

    return check


def places_problems(text: str) -> list[str]:
    """List quotations from elsewhere than the erratum, and errata elsewhere than their formulas."""
    listed = _lines_of_formulas()
    found = []
    for one in read(text).values():
        own = _lines(one.places)
        found += [
            f"{one.id} is quoted from {quotation.place}, which is no place of it"
            for quotation in one.quotations
            if not _lines([quotation.place]) <= own
        ]
        if not one.quotations:
            found.append(f"{one.id} is not quoted")
        strange = own - set().union(*(listed[id_] for id_ in one.formulas))
        found += [f"{one.id} stands at {place}, its formulas do not" for place in sorted(strange)]
    return found


def _lines(places: Iterable[Place]) -> set[tuple[str, int]]:
    return {
        (place.document, line) for place in places for line in range(place.first, place.last + 1)
    }


def _lines_of_formulas() -> dict[str, set[tuple[str, int]]]:
    """Formula -> the lines that the chapter `documents` gives for it."""
    found: dict[str, set[tuple[str, int]]] = {}
    for id_, where in re.findall(
        r"^\| (F-\d{3}) \|.*\| (00\d L[^|]*) \|", chapter_text("documents"), re.MULTILINE
    ):
        found[id_] = set()
        for part in where.split(";"):
            document = part.strip()[:3]
            for first, last in re.findall(r"L(\d+)(?:[-–](\d+))?", part):
                found[id_] |= _lines([Place(document, int(first), int(last or first))])
    return found


BINDINGS = {
    "ERR-1": _forms,
    "E-04": _rotated,
    "E-21": _rotated,
    "E-07": lambda: {"m": 3, "θ": 0.5},
    "E-30": lambda: {"z": 1 + 2j, "w": 3 - 1j},
}
TABLES = {id_: _table(id_) for id_ in FORMS}
OWN = (places_problems,)
