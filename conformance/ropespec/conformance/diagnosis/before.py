# ruff: noqa: ARG005  # words may need no value
"""What a condition on earlier calls may be about."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ropespec.conformance.diagnosis.feature import (
    Feature,
    counted,
    dtype_of,
    flag,
    of_dtypes,
    per_call,
)
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["HISTORY"]


def _before(value: Callable[[Given], float]) -> Callable[[Given], Array]:
    """Return the largest value of the calls before; -1 if there are none."""
    return per_call(lambda g: max((float(value(one)) for one in g.past), default=-1.0))


def _first_of_width(g: Given) -> float:
    """Return the dtype of the first call of this head_dim, this one's if there was none."""
    same = [one for one in g.past if one.x.shape[-1] == g.x.shape[-1]]
    return dtype_of(same[0] if same else g)


def _in_another_layout(g: Given, *, everywhere: bool) -> float:
    """Tell whether this head_dim came first in the other layout, at these positions or anywhere."""
    for one in g.past:
        at_all = everywhere or np.array_equal(one.positions, g.positions)
        if at_all and one.x.shape[-1] == g.x.shape[-1]:
            return one.interleaved != g.interleaved
    return False


def _dtype_of_table(rows: int, *, doubled: bool) -> Callable[[Given], Array]:
    """Return the dtype of the call for which a table of so many rows was made or made longer.

    It is as long as is wanted, or `doubled` until it is long enough.
    """

    def made_for(g: Given) -> float:
        have, dtype = 0, dtype_of(g)
        for one in (*(one for one in g.past if one.x.shape[-1] == g.x.shape[-1]), g):
            wanted = int(np.abs(one.positions).max(initial=-1)) + 1
            if wanted > have:
                long = 1 << (wanted - 1).bit_length() if doubled else wanted
                have, dtype = max(long, rows), dtype_of(one)
        return dtype

    return per_call(made_for)


def _beyond(axis: int) -> Callable[[Given], Array]:
    """Return the index along an axis, counted from where the first call ended."""

    def values(g: Given) -> Array:
        first = g.past[0] if g.past else g
        return np.asarray(g.index(axis) - first.x.shape[axis], dtype=np.float64)

    return values


def _every(n: int) -> Callable[[Given], Array]:
    return per_call(lambda g: (len(g.past) + 1) % n == 0)


def _after(what: str) -> Callable[[str, float], str]:
    def words(op: str, value: float) -> str:
        said = f"{value:.10g}" if op != ">=" else f"{value:.10g} or more"
        return f"calls after one with {what} {said}"

    return words


def _of_table(rows: int, doubled: bool, op: str, value: float) -> str:  # bound
    least = f", of {rows} rows at least," if rows else ""
    grown = "doubled" if doubled else "grown"
    return f"head_dims whose table{least} was made or {grown} for {of_dtypes(op, value)}"


HISTORY: dict[str, Feature] = {
    "call": Feature("call", per_call(lambda g: len(g.past) + 1), counted("call")),
    **{
        f"every {n}": Feature(
            f"every {n}", _every(n), flag(f"every call number {n}, {2 * n}, ...", "other calls")
        )
        for n in (2, 3, 4, 5, 6, 7, 8, 10, 16)
    },
    "farthest before": Feature(
        "farthest before",
        _before(lambda g: np.abs(g.positions).max(initial=0)),
        _after("a position of"),
    ),
    "longest before": Feature(
        "longest before", _before(lambda g: g.x.shape[1]), _after("a number of tokens of")
    ),
    "widest before": Feature(
        "widest before", _before(lambda g: g.x.shape[-1]), _after("a head_dim of")
    ),
    "token beyond": Feature(
        "token beyond",
        _beyond(1),
        lambda op, value: "tokens beyond the number of those in the first call",
        "token",
    ),
    "row beyond": Feature(
        "row beyond",
        _beyond(0),
        lambda op, value: "rows beyond the number of those in the first call",
        "token",
    ),
    "head beyond": Feature(
        "head beyond",
        _beyond(2),
        lambda op, value: "heads beyond the number of those in the first call",
        "token",
    ),
    **{
        name: Feature(
            name, _dtype_of_table(rows, doubled=doubled), partial(_of_table, rows, doubled)
        )
        for rows in (0, 128, 256, 512, 1024, 2048, 4096, 8192)
        for doubled, name in (
            (False, f"dtype of table {rows}"),
            (True, f"dtype of doubled table {rows}"),
        )
    },
    "first dtype": Feature(
        "first dtype",
        per_call(_first_of_width),
        lambda op, value: f"head_dims first called with {of_dtypes(op, value)}",
    ),
    "layout of positions": Feature(
        "layout of positions",
        per_call(partial(_in_another_layout, everywhere=False)),
        flag("positions that came in the other layout first", "positions of this layout"),
    ),
    "layout of width": Feature(
        "layout of width",
        per_call(partial(_in_another_layout, everywhere=True)),
        flag("head_dims that came in the other layout first", "head_dims of this layout"),
    ),
    "seen before": Feature(
        "seen before",
        per_call(lambda g: any(one.x.shape == g.x.shape for one in g.past)),
        flag("shapes that were called before", "shapes that were not called before"),
    ),
    "token before": Feature(
        "token before",
        per_call(lambda g: bool(g.past) and g.past[-1].x.shape[1] == 1),
        flag("calls after a call with one token", "calls after a call with more tokens"),
    ),
    "any before": Feature(
        "any before",
        per_call(lambda g: bool(g.past)),
        flag("calls after the first", "the first call"),
    ),
}
"""What a condition on earlier calls may be about."""
