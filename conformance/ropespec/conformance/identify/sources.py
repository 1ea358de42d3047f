"""Whose position turns a token: change one position at a time and see which outputs change."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.calling import constant
from ropespec.conformance.identify.facts import Source
from ropespec.conformance.identify.probe import Probe

__all__ = ["Sources", "find_sources"]

# The largest of each column and of each row lies elsewhere, so that it shows if one is preferred.
_POSITIONS = 3 * np.array([[11, 3, 8, 6], [2, 9, 5, 12], [7, 1, 10, 4]])
_HEADS = 2
_LINE = (3, 8, 5, 13, 7, 21, 9, 11, 30)


@dataclass(frozen=True, slots=True)
class Sources:
    """What was found.

    Attributes
    ----------
    rows, tokens : Source
        Where the position of a row and of a token comes from.
    heads_alike : bool
        Whether equal heads come back equal.
    detail : str
        Which row, which token.
    """

    rows: Source
    tokens: Source
    heads_alike: bool
    detail: str = ""


def find_sources(probe: Probe, dim: int) -> Sources | None:
    """Find the sources of positions; None if the calls do not succeed."""
    batch, seq = _POSITIONS.shape
    x = constant((batch, seq, _HEADS, dim), seed=1)
    base = probe.rotate(x, _POSITIONS)
    if base.y is None:
        return None
    tolerance = 1e-4 if probe.dtype in ("float32", "float64") else 2e-2
    changed = np.zeros((batch, seq, batch, seq), dtype=bool)
    for b, s in np.ndindex(batch, seq):
        moved = _POSITIONS.copy()
        moved[b, s] += 1
        seen = probe.rotate(x, moved)
        if seen.y is None:
            return None
        changed[b, s] = np.abs(seen.y - base.y).max(axis=(2, 3)) > tolerance
    alike = bool(np.abs(base.y[:, :, 0] - base.y[:, :, 1]).max() <= tolerance)
    one_row = probe.manner.axes == "shd" or probe.manner.shared
    found = _read(changed, base.y, x, alike=alike, one_row=one_row) or _first(probe, dim, alike)
    if found.tokens is Source.OTHER and _taken(probe, changed, base.y, x):
        return replace(found, tokens=Source.TAKEN)
    if found.tokens is Source.OTHER and _stale(probe, dim):
        return replace(found, rows=Source.SHARED if one_row else Source.OWN, tokens=Source.STALE)
    return found


def _read(
    changed: NDArray[np.bool_],
    y: NDArray[np.float64],
    x: NDArray[np.float64],
    *,
    alike: bool,
    one_row: bool,
) -> Sources | None:
    batch, seq = _POSITIONS.shape
    rows = Source.SHARED if one_row else Source.OWN
    own = np.eye(batch * seq, dtype=bool).reshape(changed.shape)
    if (changed == own).all():
        return Sources(rows, Source.OWN, alike)
    if not changed.any():
        if np.abs(y - x).max() < 1e-4:
            return Sources(rows, Source.NOTHING, alike, "identity")
        return None
    source, detail = _one_row(changed)
    if source is not None:
        return Sources(source, Source.OWN, alike, detail)
    within = [changed[b, :, b] for b in range(batch)]  # (changed token, output token)
    only_last = [m[-1].all() and not m[:-1].any() for m in within]
    only_first = [m[0].all() and not m[1:].any() for m in within]
    one = [int(m.all(axis=1).sum()) == 1 and int(m.any(axis=1).sum()) == 1 for m in within]
    if all(one):
        level = np.abs(y - y[:, :1]).max() < 1e-4
        word = "last" if all(only_last) else "first" if all(only_first) else "one"
        token = Source.ONE if level else Source.FROM_FIRST
        return Sources(rows, token, alike, f"the {word} of each row")
    if (part := _divided(changed, within)) is not None:
        return Sources(rows, part, alike)
    still = ~changed.any(axis=(0, 1))
    rest = changed & ~own
    if still.any() and not rest.any() and np.abs(y - x)[still].max() < 1e-4:
        return Sources(rows, Source.LEFT, alike)
    return _other(alike)


def _other(alike: bool) -> Sources:
    return Sources(Source.OTHER, Source.OTHER, alike)


def _taken(
    probe: Probe, changed: NDArray[np.bool_], y: NDArray[np.float64], x: NDArray[np.float64]
) -> bool:
    """Whether each token is turned by one position of the call, as a call of one token would be."""
    size = _POSITIONS.size
    depends = changed.reshape(size, size)
    if (depends.sum(axis=0) != 1).any():
        return False
    where = _POSITIONS.ravel()[np.argmax(depends, axis=0)]
    alone = [probe.rotate(x[:1, :1], np.array([[p]])).y for p in where]
    got = y.reshape(size, *y.shape[2:])
    return all(
        one is not None and np.abs(one[0, 0] - token).max() < 2e-2
        for one, token in zip(alone, got, strict=True)
    )


def _stale(probe: Probe, dim: int) -> bool:
    """Whether a second call of one length, with the same ends, is turned as the first was.

    That a first call of a length obeys all its positions tells memory from positions that are
    never looked at.
    """
    count = len(_LINE)
    x = constant((1, count + 1, _HEADS, dim), seed=2)
    back = np.array([_LINE[0], *_LINE[-2:0:-1], _LINE[-1]])
    calls = [np.array(_LINE), back, np.append(back, 40)]
    one, two, fresh = (probe.rotate(x[:, : len(p)], p[None]).y for p in calls)
    if one is None or two is None or fresh is None:
        return False
    inner, limit = slice(1, count - 1), 1e-3
    kept = np.abs(two[:, inner] - one[:, inner]).max() < limit
    turned = np.abs(fresh[:, inner] - one[:, count - 2 : 0 : -1]).max() < limit
    return bool(kept and turned and np.abs(np.diff(one[0, inner], axis=0)).max() > 10 * limit)


def _divided(changed: NDArray[np.bool_], within: list[NDArray[np.bool_]]) -> Source | None:
    """Whether the tokens are cut in parts or reordered, in every row alike."""
    depends = within[0].T  # (output token, changed token)
    inside = sum(int(m.sum()) for m in within) == int(changed.sum())
    if not inside or any((depends != m.T).any() for m in within):
        return None
    seq = len(depends)
    if (depends.sum(axis=1) == 1).all():
        source = [int(s) for s in np.argmax(depends, axis=1)]
        if sorted(source) == list(range(seq)):
            return Source.MOVED
        goes_on = all(b in (0, a + 1) for a, b in pairwise(source))
        return Source.FIRST_PART if source[:2] == [0, 1] and goes_on else None
    own = np.eye(seq, dtype=bool)
    for start in range(1, seq):  # where the second part begins
        local = own.copy()
        local[start:, start] = True
        local[start, start] = False  # always 0
        if (depends == local).all():
            return Source.LOCAL
    return None


def _one_row(changed: NDArray[np.bool_]) -> tuple[Source | None, str]:
    """Whether one row per token turns all rows, and which."""
    batch, seq = _POSITIONS.shape
    leaders = []
    for s in range(seq):
        leading = [b for b in range(batch) if changed[b, s, :, s].all()]
        others = [b for b in range(batch) if b not in leading and changed[b, s].any()]
        elsewhere = np.delete(changed[:, s], s, axis=2).any()
        if len(leading) != 1 or others or elsewhere:
            return None, ""
        leaders.append(leading[0])
    if leaders == list(np.argmax(_POSITIONS, axis=0)):
        return Source.LARGEST, "the largest"
    if leaders == list(np.argmin(_POSITIONS, axis=0)):
        return Source.LARGEST, "the smallest"
    if len(set(leaders)) == 1:
        return Source.ROW, f"row {leaders[0]}"
    return None, ""


def _first(probe: Probe, dim: int, alike: bool) -> Sources:
    """Tell what turns the tokens when no position of a repeated call does.

    A length that has not been used before shows whether a first call obeys its positions.
    """
    rows = Source.SHARED if probe.manner.shared else Source.OWN
    six = probe.rotate(constant((1, 6, _HEADS, dim), 1), np.arange(6)[None] + 21)
    seven = probe.rotate(constant((1, 7, _HEADS, dim), 1), np.arange(7)[None] + 25)
    if six.y is None or seven.y is None:
        return Sources(rows, Source.OTHER, alike)
    moving = np.abs(np.diff(six.y[0], axis=0)).max() > 1e-3
    if moving and any(np.abs(six.y[0, n:] - six.y[0, :-n]).max() < 1e-3 for n in (2, 3, 4)):
        return Sources(rows, Source.LOCAL, alike)
    if (
        np.abs(six.y[0, 4:6] - seven.y[0, 0:2]).max()
        < 1e-3
        < np.abs(np.diff(six.y[0], axis=0)).max()
    ):
        return Sources(rows, Source.STALE, alike)
    if moving and np.abs(six.y[0] - seven.y[0, :6]).max() < 1e-3:
        return Sources(rows, Source.COUNTED, alike)
    across = np.abs(six.y[0, :, 0] - six.y[0, :, 1]).max() > 1e-3
    if across and not moving:
        return Sources(rows, Source.HEAD, alike)
    return Sources(rows, Source.NOTHING, alike)
