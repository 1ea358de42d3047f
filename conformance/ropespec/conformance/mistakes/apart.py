"""Cosines and sines that do not belong together."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.chain import cos_sin, ladder, own_position
from ropespec.conformance.mistakes.choice import Choice, Shown
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["APART", "MISTAKES"]

MISTAKES = entries("""
cos and sin of different angles
    The cosine and the sine of a pair are not of one angle; take both from one row and one
    frequency.
rows of a table read otherwise
    A row holds cosines and sines in turn, or one after the other, and is read as if it were the
    other way, or sines first; take it apart as it was put together.
""")


def _read_otherwise(*, woven: bool, written: bool, read: bool) -> dict[str, object]:
    """Return a table of one row, in turn or not, that is read the other way.

    Sines first where it is `written` so, and where it is `read` so.
    """

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        both = np.stack(cos_sin(g, angle), axis=-1 if woven else -2)
        both = np.flip(both, axis=-1 if woven else -2) if written else both
        row = both.reshape(*angle.shape[:-1], -1)
        n = angle.shape[-1]
        one, two = (row[..., :n], row[..., n:]) if woven else (row[..., 0::2], row[..., 1::2])
        return (two, one) if read else (one, two)

    return {"table": table}


def _own_angle(change: Callable[[Given], dict[str, Array]]) -> dict[str, object]:
    """Return a table whose cosines and sines come of different angles."""

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        del angle
        made = change(g)
        return np.cos(made["cos"]), np.sin(made["sin"])

    return {"table": table}


def _of_base(cos: float, sin: float) -> dict[str, object]:
    """Return a table of two bases; 0 for the one asked for."""

    def make(g: Given) -> dict[str, Array]:
        p, exponent = own_position(g), -np.arange(0, g.turning, 2) / g.turning
        return {"cos": p * (cos or g.base) ** exponent, "sin": p * (sin or g.base) ** exponent}

    return _own_angle(make)


def _late(cos: int, sin: int) -> dict[str, object]:
    def make(g: Given) -> dict[str, Array]:
        p, theta = own_position(g), ladder(g)
        return {"cos": (p + cos) * theta, "sin": (p + sin) * theta}

    return _own_angle(make)


_BASES = tuple(
    Choice(
        "cos and sin of different angles",
        "table",
        f"{word} are those of the base {base:g}",
        made,
        2.0,
    )
    for base in (100.0, 1000.0, 5000.0, 10000.0, 50000.0, 100000.0, 500000.0, 1e6)
    for word, made in (("sines", _of_base(0.0, base)), ("cosines", _of_base(base, 0.0)))
)
_READ_OTHERWISE = tuple(
    Choice(
        "rows of a table read otherwise",
        "table",
        f"a row holds {'sines and cosines' if written else 'cosines and sines'}"
        f"{' in turn' if woven else ''}, and of {'its halves' if woven else 'each two'} the"
        f" {'second is' if read else 'first is'} taken for the cosines",
        _read_otherwise(woven=woven, written=written, read=read),
        1.5,
        shown=(Shown.by("row_taken_apart_in_halves", "ROT-11.norm", interleaved=True),)
        if (woven, written, read) == (True, True, True)
        else (),
    )
    for woven in (True, False)
    for written in (True, False)
    for read in (True, False)
)

APART: tuple[Choice, ...] = (
    *(
        Choice(
            "cos and sin of different angles",
            "table",
            f"{'sines' if sin else 'cosines'} are those of the position"
            f" {'before' if sin + cos < 0 else 'after'}",
            _late(cos, sin),
            1.5,
        )
        for cos, sin in ((0, -1), (0, 1), (-1, 0), (1, 0))
    ),
    *_READ_OTHERWISE,
    *_BASES,
)
"""What stands in a table where cosines and sines are not of one angle."""
