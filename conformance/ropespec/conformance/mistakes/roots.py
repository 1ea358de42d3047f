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


def _root(of: _Function, other: _Function) -> _Function:
    """Return a function made as the root of 1 minus the square of another, in float32."""

    def make(angle: Array) -> Array:
        known = of(angle).astype(np.float32)
        root = np.sqrt(np.maximum(np.float32(1) - known * known, np.float32(0)))
        return np.asarray(np.where(other(angle) < 0, -root, root), dtype=np.float64)

    return make


def _made(cos: _Function, sin: _Function, short: _Function) -> Table:
    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        del g
        return cos(short(angle)), sin(short(angle))

    return table


def _as_float32(angle: Array) -> Array:
    return angle.astype(np.float32).astype(np.float64)


def _as_it_is(angle: Array) -> Array:
    return angle


ROOTS: tuple[Choice, ...] = tuple(
    Choice(
        "root for a sine",
        "table",
        f"{said} are the root of 1 - {square}, with a sign{more}",
        {"table": _made(cos, sin, short)},
        2.0,
    )
    for short, more in ((_as_it_is, ""), (_as_float32, ", of angles in float32"))
    for said, square, cos, sin in (
        ("sines", "cos^2", np.cos, _root(np.cos, np.sin)),
        ("cosines", "sin^2", _root(np.sin, np.cos), np.sin),
    )
)
"""One of the two, made of the other in float32."""
