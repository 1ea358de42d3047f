"""Positions as runs that count on by one, and a rotation with an offset called once for each."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ropespec.conformance.styles.arrays import Array, Space

__all__ = ["Run", "by_runs", "count_runs", "runs_of"]

MANY = 64
"""Runs that are called one by one; of more, those that are alike are the rows of one call."""

Part = Callable[[Array, int], Array]
"""A piece of x, and the position of its first token, to the piece rotated."""


@dataclass(frozen=True)
class Run:
    """Tokens whose positions count on by one.

    Attributes
    ----------
    rows : slice
        Of which rows.
    tokens : slice
        Of which tokens of a row.
    start : int
        The first position.
    """

    rows: slice
    tokens: slice
    start: int

    @property
    def size(self) -> int:
        """How many tokens it has."""
        return int(self.tokens.stop - self.tokens.start)


def runs_of(positions: np.ndarray) -> list[list[Run]]:
    """Take positions (B, S) or (S,) apart: a list for each row, or one where all rows are alike."""
    rows = _rows(positions)
    if len(rows) == 1:
        return [list(_runs(rows[0], slice(None)))]
    return [list(_runs(row, slice(n, n + 1))) for n, row in enumerate(rows)]


def count_runs(positions: np.ndarray) -> int:
    """Return how many calls positions (B, S) or (S,) may take."""
    rows = _rows(positions)
    return len(rows) + int(_goes_elsewhere(rows).sum()) if positions.size else 0


def _rows(positions: np.ndarray) -> np.ndarray:
    """Return the rows, or one where all are alike."""
    rows = np.atleast_2d(positions)
    return rows[:1] if (rows == rows[:1]).all() else rows


def _goes_elsewhere(positions: np.ndarray) -> np.ndarray:
    return np.asarray(np.diff(positions.astype(np.int64)) != 1)


def _runs(row: np.ndarray, rows: slice) -> Iterator[Run]:
    ends = np.flatnonzero(_goes_elsewhere(row)) + 1
    start = 0
    for end in (*ends.tolist(), len(row)):
        yield Run(rows, slice(start, end), int(row[start]))
        start = end


def by_runs(part: Part, x: Array, positions: np.ndarray, axes: str, space: Space) -> Array:
    """Rotate x by one call for each run.

    Parameters
    ----------
    part : callable
        Rotates a piece.
    x : array
        In the order of `axes`.
    positions : ndarray
        (B, S) or (S,).
    axes : str
        As in a profile.
    space : Space
        The functions of the framework.
    """
    found = runs_of(positions)
    if "b" in axes and sum(map(len, found)) > MANY:
        return _grouped(part, x, np.broadcast_to(positions, _sizes(x, axes)), axes, space)
    row, token = axes.find("b"), axes.index("s")

    def cut(run: Run) -> Array:
        at = [slice(None)] * len(axes)
        at[token] = run.tokens
        if row >= 0:
            at[row] = run.rows
        return x[tuple(at)]

    rows = [_joined([part(cut(run), run.start) for run in runs], token, space) for runs in found]
    return _joined(rows, row, space)


def _joined(parts: list[Array], axis: int, space: Space) -> Array:
    return parts[0] if len(parts) == 1 else space.cat(parts, axis)


def _sizes(x: Array, axes: str) -> tuple[int, int]:
    return x.shape[axes.index("b")], x.shape[axes.index("s")]


def _grouped(part: Part, x: Array, positions: np.ndarray, axes: str, space: Space) -> Array:
    """Rotate runs of one start and size as the rows of one call."""
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, row in enumerate(positions):
        for run in _runs(row, slice(None)):
            alike[run.start, run.size].append(number * len(row) + run.tokens.start)
    there = [axes.index(one) for one in "bshd"]
    back = ["bshd".index(one) for one in axes]
    canonical = space.permute(x, there)
    rows, tokens, heads, dim = canonical.shape
    flat = canonical.reshape(rows * tokens, heads, dim)
    parts, places = [], []
    for (start, size), firsts in alike.items():
        at = (np.array(firsts)[:, None] + np.arange(size)).reshape(-1)
        piece = flat[space.like(at, x)].reshape(len(firsts), size, heads, dim)
        y = space.permute(part(space.permute(piece, back), start), there)
        parts.append(y.reshape(len(at), heads, dim))
        places.append(at)
    order = np.argsort(np.concatenate(places))
    y = space.cat(parts, 0)[space.like(order, x)].reshape(rows, tokens, heads, dim)
    return space.permute(y, back)
