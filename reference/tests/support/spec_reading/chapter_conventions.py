"""What the formulas and tables of the chapter `conventions` mean."""

import math
import re
from collections.abc import Callable, Mapping

import numpy as np

from ropespec.reference.rotation import rotation_matrix
from ropespec.reference.rotation_plane import rotation_matrix_2d
from ropespec.spec.clauses import clauses

_CLAIMS = re.compile(r"`(\w+)`")


def _rotate_and_turn() -> list[Mapping[str, object]]:
    full = next(t for t in (math.pi, 2 * math.pi) if np.allclose(rotation_matrix_2d(t), np.eye(2)))
    return [{"R": rotation_matrix_2d, "α": angle, "turn": full} for angle in (0.7, -2.5)]


def _layouts() -> list[Mapping[str, object]]:
    d = 8

    def pairs(*, interleaved: bool) -> Callable[[int], np.ndarray]:
        R = rotation_matrix(1, d, interleaved=interleaved)
        found = sorted({tuple(np.flatnonzero(row).tolist()) for row in R})
        return lambda i: np.array(found[i])

    named = {"interleaved": pairs(interleaved=True), "half_split": pairs(interleaved=False)}
    return [{**named, "d": d, "i": i} for i in range(4)]


def _letters(rows: list[dict[str, str]]) -> list[str]:
    """No letter stands twice, and every clause exists and uses its letters."""
    letters = [letter for row in rows for letter in row["letter"].split(", ")]
    twice = sorted({letter for letter in letters if letters.count(letter) > 1})
    return [f"{letter} stands twice" for letter in twice] + _used(rows)


def _used(rows: list[dict[str, str]]) -> list[str]:
    """Every clause that is named exists, and no letter stands twice for one clause."""
    pairs = [
        (letter, id_)
        for row in rows
        for letter in row["letter"].split(", ")
        for key in row
        if "clause" in key
        for id_ in row[key].split(", ")
    ]
    found = [f"{id_} is no clause" for _, id_ in pairs if id_ not in clauses()]
    twice = sorted({pair for pair in pairs if pairs.count(pair) > 1})
    return found + [f"{letter} stands twice for {id_}" for letter, id_ in twice]


def _words(rows: list[dict[str, str]]) -> list[str]:
    """The words stand in order, once each, and the clauses in brackets exist."""
    words = [row["word"] for row in rows]
    ids = [id_ for row in rows for id_ in re.findall(r"[A-Z]{3,}-\d+", row["means"])]
    found = [f"{id_} is no clause" for id_ in ids if id_ not in clauses()]
    return found if words == sorted(set(words)) else [*found, "the words are not in order"]


def _claims(rows: list[dict[str, str]]) -> list[str]:
    """Each claim stands once; the suite's own tests hold its profile against the table."""
    names = [match[1] for row in rows if (match := _CLAIMS.fullmatch(row["claim"]))]
    return [] if len(set(names)) == len(rows) else ["a claim stands twice, or is no name"]


BINDINGS = {"CON-2": _rotate_and_turn, "CON-3": _layouts}
TABLES = {"CON-1": _letters, "CON-1#2": _used, "CON-6": _words, "CON-10": _claims}
NUMBERS = {"CON-8": ("2119", "8174")}
RECORDED = {
    "CON-1": "3257726b92ca",
    "CON-1#2": "28cb5b5d54f7",
    "CON-6": "88bbb79ef5bc",
    "CON-10": "83d251dfb169",
}
