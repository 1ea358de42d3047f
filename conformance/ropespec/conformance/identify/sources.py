"""Whose position turns a token: change one position at a time and see which outputs change."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.calling import constant
from ropespec.conformance.identify.facts import Source
from ropespec.conformance.identify.probe import Probe

__all__ = ["Sources", "find_sources"]

# The largest of each column and of each row lies elsewhere, so that it shows if one is preferred.
_POSITIONS = 3 * np.array([[11, 3, 8, 6], [2, 9, 5, 12], [7, 1, 10, 4]])
_HEADS = 2


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
    return _read(changed, base.y, x, alike=alike, one_row=one_row) or _first(probe, dim, alike)


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
    return Sources(Source.OTHER, Source.OTHER, alike)


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
    if (
        np.abs(six.y[0, 4:6] - seven.y[0, 0:2]).max()
        < 1e-3
        < np.abs(np.diff(six.y[0], axis=0)).max()
    ):
        return Sources(rows, Source.STALE, alike)
    moving = np.abs(np.diff(six.y[0], axis=0)).max() > 1e-3
    if moving and np.abs(six.y[0] - seven.y[0, :6]).max() < 1e-3:
        return Sources(rows, Source.COUNTED, alike)
    across = np.abs(six.y[0, :, 0] - six.y[0, :, 1]).max() > 1e-3
    if across and not moving:
        return Sources(rows, Source.HEAD, alike)
    return Sources(rows, Source.NOTHING, alike)
