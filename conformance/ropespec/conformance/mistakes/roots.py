"""Sines that are made of cosines, or cosines of sines, by a root."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.chain import Table
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["MISTAKES", "ROOTS"]

MISTAKES = entries("""
root for a sine
    Near multiples of half a turn 1 - cos^2 has no digits left; take the sine of the angle.
""")


_Function = Callable[[Array], Array]


def _root(g: Given, of: _Function, other: _Function, *, factored: bool) -> _Function:
    """Return a function made as the root of 1 minus the square of another, as x is worked on."""
    kind = "float64" if g.dtype == "float64" else "float32"

    def make(angle: Array) -> Array:
        known: Array = of(angle).astype(kind)
        square: Array = (1 - known) * (1 + known) if factored else 1 - known * known
        root = np.sqrt(np.maximum(square, 0))
        return np.asarray(np.where(other(angle) < 0, -root, root), dtype=np.float64)

    return make


def _made(short: _Function, *, sines: bool, factored: bool) -> Table:
    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        angle = short(angle)
        if sines:
            return np.cos(angle), _root(g, np.cos, np.sin, factored=factored)(angle)
        return _root(g, np.sin, np.cos, factored=factored)(angle), np.sin(angle)

    return table


def _as_float32(angle: Array) -> Array:
    return angle.astype(np.float32).astype(np.float64)


def _as_it_is(angle: Array) -> Array:
    return angle


ROOTS: tuple[Choice, ...] = tuple(
    Choice(
        "root for a sine",
        "table",
        f"{said} are the root of {form}, with a sign{more}",
        {"table": _made(short, sines=said == "sines", factored=factored)},
        2.0,
    )
    for short, more in ((_as_it_is, ""), (_as_float32, ", of angles in float32"))
    for said, form, factored in (
        ("sines", "1 - cos^2", False),
        ("cosines", "1 - sin^2", False),
        ("sines", "(1 - cos)(1 + cos)", True),
        ("cosines", "(1 - sin)(1 + sin)", True),
    )
)
"""One of the two, made of the other in the dtype that x is worked on in."""
