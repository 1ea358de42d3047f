"""A function or module of x, or of q and k, alone: its tokens have the positions 0, 1, 2, ..."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from ropespec.conformance.styles import heads
from ropespec.conformance.styles.arrays import Array, Result
from ropespec.conformance.styles.base import SWITCHES, Binds, Setting, Style
from ropespec.conformance.styles.made import makeable
from ropespec.conformance.styles.signature import BASES, KEYS, OFFSETS, POSITIONS, XS, Callee
from ropespec.conformance.styles.switched import Call, Turn, parted, switched

_CLAIMS = {"max_position": 511, "negative_positions": False, "empty": False}
"""A call is as long as its last position says, so that of far ones would take too long."""

_TOLD = (
    "each token at the place of its position, zeros at the others, and those of one in more rows"
)

_MOST = 2**22
"""Components of one call, where there is more than one row."""


def _binds(callee: Callee, roles: Mapping[str, str]) -> Binds:
    def way(*, equal: bool) -> Turn:
        def turn(setting: Setting, call: Call, x: Array, positions: Array) -> Result:
            rotated = parted(setting, call, roles, equal=equal)
            return _placed(setting, lambda longer: rotated(longer, {}), x, positions)

        return turn

    ways = heads.ways(roles)
    told = (*([heads.TOLD] if "k" in roles else []), _TOLD)
    binds = switched(callee, roles, [way(equal=equal) for equal in ways], _CLAIMS, told)
    return replace(binds, ways=tuple(ways.values()))


def _placed(
    setting: Setting, rotated: Callable[[Array], Array], x: Array, positions: Array
) -> Result:
    """Rotate x within rows in which tokens stand at their positions."""
    space, axes = setting.space, setting.profile.axes
    there, back = _usual_first(axes)
    ordered = space.permute(x, back)
    *rows, tokens, count, dim = ordered.shape
    where = np.broadcast_to(space.row(positions), (*(rows or [1]), tokens)).astype(np.int64)
    if (where == np.arange(tokens)).all():
        return rotated(x)
    zeros = space.cast(space.like(np.zeros((1, count, dim), np.float32), x), x.dtype)
    flat = space.cat([ordered.reshape(-1, count, dim), zeros], 0)
    length = int(where.max()) + 1
    step = max(_MOST // (length * count * dim), 1) if rows else 1
    parts, places = list[Array](), list[np.ndarray]()
    for mine, at, source in _calls(where, length, step):
        sizes = (*([-1] if rows else []), length, count, dim)
        longer, kept = (
            space.permute(flat[space.like(source, x)].reshape(sizes), there) for _ in range(2)
        )
        setting.copies.append((longer, kept))
        y = space.permute(rotated(longer), back).reshape(-1, count, dim)
        parts.append(y[space.like(at, x)])
        places.append(mine)
    order = np.argsort(np.concatenate(places))
    y = space.cat(parts, 0)[space.like(order, x)].reshape(ordered.shape)
    return space.permute(y, there)


def _calls(
    where: np.ndarray, length: int, step: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return for calls of so many rows their tokens, the places of these, and the token of each.

    The number after that of the last token is that of none.
    """
    lines = _lines(where)
    end = int(lines.max()) + 1
    for start in range(0, end, step):
        mine = np.flatnonzero((lines >= start) & (lines < start + step))
        at = (lines[mine] - start) * length + where.ravel()[mine]
        source = np.full(min(step, end - start) * length, where.size)
        source[at] = mine
        yield mine, at, source


def _usual_first(axes: str) -> tuple[list[int], list[int]]:
    """Return how axes come from (batch, sequence, heads, head_dim), and how they get there."""
    usual = [one for one in "bshd" if one in axes]
    return [usual.index(one) for one in axes], [axes.index(one) for one in usual]


def _lines(where: np.ndarray) -> np.ndarray:
    """Number the rows into which tokens go: no position occurs twice in one, (B * S,)."""
    rows = np.repeat(np.arange(len(where)), where.shape[1])
    order = np.lexsort((where.ravel(), rows))
    key = np.stack([rows, where.ravel()], 1)[order]
    begins = np.r_[True, (key[1:] != key[:-1]).any(axis=1)]
    again = np.arange(len(key)) - np.maximum.accumulate(np.where(begins, np.arange(len(key)), 0))
    times = np.empty_like(again)
    times[order] = again
    return np.unique(np.stack([rows, times], 1), axis=0, return_inverse=True)[1].ravel()


def _fits(callee: Callee) -> str:
    if inspect.isroutine(callee.found) and not callee.first(BASES):
        return "a function of x alone may be anything: this one takes no base"
    return makeable(callee)


STYLE = Style(
    "implied",
    100,
    needs={"x": XS},
    binds=_binds,
    knows={"k": KEYS, "switch": tuple(SWITCHES), "base": BASES},
    refuses=(*sorted(POSITIONS), *OFFSETS),
    fits=_fits,
)
