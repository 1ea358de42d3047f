"""Boxes of text that stand side by side, level with each other: what formulas are laid out of."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["Box", "beside", "columns", "matrix"]

_LEFT, _RIGHT = "⎛⎜⎝", "⎞⎟⎠"


class Box(NamedTuple):
    """Lines of one width.

    Attributes
    ----------
    lines : tuple of str
        From top to bottom.
    level : int
        The line that is level with what stands beside the box.
    kind : str
        `name`, `fraction`, or nothing.
    """

    lines: tuple[str, ...]
    level: int = 0
    kind: str = ""

    @classmethod
    def of(cls, words: str, kind: str = "") -> "Box":
        """Return a box of one line."""
        return cls((words,), 0, kind)

    @property
    def width(self) -> int:
        """How many columns it takes."""
        return max(map(columns, self.lines), default=0)


def columns(text: str) -> int:
    """Count the columns of a line: marks above a letter take none."""
    return sum(not unicodedata.combining(letter) for letter in text)


def beside(boxes: Iterable[Box]) -> Box:
    """Put boxes side by side; one alone stays as it is."""
    parts = [box for box in boxes if box.width]
    if len(parts) == 1:
        return parts[0]
    above = max((box.level for box in parts), default=0)
    below = max((len(box.lines) - box.level for box in parts), default=1)
    lines = [""] * (above + below)
    for box in parts:
        first = above - box.level
        for place in range(len(lines)):
            inside = 0 <= place - first < len(box.lines)
            lines[place] += _filled(box.lines[place - first] if inside else "", box.width)
    return Box(tuple(lines), above)


def _filled(line: str, width: int) -> str:
    return line + " " * (width - columns(line))


def matrix(rows: Sequence[Sequence[Box]]) -> Box:
    """Lay cells out in columns, in brackets; cells that are missing are blank."""
    count = max((len(row) for row in rows), default=0)
    full = [[*row, *[Box.of("")] * (count - len(row))] for row in rows]
    widths = [max(row[place].width for row in full) for place in range(count)]
    lines = ["  ".join(map(_centred, row, widths)) for row in full]
    if len(lines) == 1:
        return Box.of(f"({lines[0]})")
    left, right = ([side[0], *side[1] * (len(lines) - 2), side[2]] for side in (_LEFT, _RIGHT))
    joined = (f"{a} {line} {b}" for a, line, b in zip(left, lines, right, strict=True))
    return Box(tuple(joined), (len(lines) - 1) // 2)


def _centred(box: Box, width: int) -> str:
    line = box.lines[box.level].strip()
    blank = width - columns(line)
    return " " * (blank // 2) + line + " " * (blank - blank // 2)
