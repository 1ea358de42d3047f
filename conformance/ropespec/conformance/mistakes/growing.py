"""A step from one position to the next, rounded and multiplied up: errors that grow."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ropespec.conformance.mistakes.chain import Table, ladder, own_position
from ropespec.conformance.mistakes.choice import Choice, Shown
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.rounding import rounded

__all__ = ["GROWING", "MISTAKES"]

MISTAKES = entries("""
power of a rounded step
    The rotation by one position is rounded and taken to the power of the position, so its error
    grows with it; compute each angle from its position.
steps added up
    Rotations are made from one position to the next, and each is rounded, so errors add up;
    compute each angle from its position.
error grows along a row
    What is off is small, and grows with the tokens before in the row; do not make the rotation of
    a token from that of the one before, and compute each angle from its position.
error grows with the position
    What is off is small, and grows in proportion to the position; do not multiply up a step that
    is rounded, and compute each angle from its position in more digits.
""")

_FARTHEST = 2**18
_MANY = 2**15
"""The longest table whose rows are made one after the other, which takes a tenth of a second."""


def _power(kind: str) -> Table:
    """Return cosine and sine of a rounded step, to the power of the position."""

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        del angle
        theta, p = ladder(g), own_position(g)
        c, s = rounded(np.cos(theta), kind), rounded(np.sin(theta), kind)
        size, phase = np.exp(p * np.log(np.hypot(c, s))), p * np.arctan2(s, c)
        return size * np.cos(phase), size * np.sin(phase)

    return table


Walk = Callable[[Array, int], tuple[Array, Array]]


def _sum(kind: str) -> Walk:
    def walk(theta: Array, count: int) -> tuple[Array, Array]:
        steps = np.broadcast_to(theta.astype(kind), (count, len(theta))).copy()
        steps[0] = 0
        angle = np.add.accumulate(steps, axis=0, dtype=kind).astype(np.float64)
        return np.cos(angle), np.sin(angle)

    return walk


def _product(theta: Array, count: int) -> tuple[Array, Array]:
    steps = np.broadcast_to(np.exp(1j * theta).astype(np.complex64), (count, len(theta))).copy()
    steps[0] = 1
    made = np.multiply.accumulate(steps, axis=0, dtype=np.complex64)
    return made.real.astype(np.float64), made.imag.astype(np.float64)


def _three_terms(kind: str) -> Walk:
    """Make each row of the two before it, f(n+1) = 2 cos(theta) f(n) - f(n-1), in float32."""

    def walk(theta: Array, count: int) -> tuple[Array, Array]:
        if count > _MANY:
            raise ValueError(f"{count} rows one after the other must be {_MANY} at most")
        first = theta.astype(kind)
        rows = np.empty((max(count, 2), 2, len(theta)), np.float32)
        rows[0], rows[1] = np.array([[1.0], [0.0]]), (np.cos(first), np.sin(first))
        twice = 2 * rows[1, 0]
        for n in range(2, count):
            rows[n] = twice * rows[n - 1] - rows[n - 2]
        return rows[:, 0].astype(np.float64), rows[:, 1].astype(np.float64)

    return walk


def _walked(walk: Walk) -> Table:
    """Return a table that is made from one position to the next."""

    @lru_cache(maxsize=8)
    def made(theta: tuple[float, ...], count: int) -> tuple[Array, Array]:
        return walk(np.array(theta), count)

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        del angle
        p = own_position(g).astype(np.int64)
        most = int(np.abs(p).max(initial=0)) + 1
        if most > _FARTHEST or p.shape[-1] != 1:
            raise ValueError(f"positions up to {most - 1}, one for all pairs, must be below 2^18")
        c, s = made(tuple(map(float, ladder(g))), 1 << most.bit_length())
        at = np.abs(p)[..., 0]
        return c[at], np.sign(p + (p == 0)) * s[at]

    return table


GROWING: tuple[Choice, ...] = (
    *(
        Choice(
            "power of a rounded step",
            "table",
            f"the rotation by one position is rounded to {kind}, and taken to the power",
            {"table": _power(kind)},
            2.0,
            shown=(Shown.by("power_of_a_step", "ROT-11.norm"),) if kind == "float32" else (),
        )
        for kind in ("float32", "float16")
    ),
    *(
        Choice(
            "steps added up",
            "table",
            f"angles are summed from one position to the next in {kind}",
            {"table": _walked(_sum(kind))},
            2.0,
            shown=(Shown.by("summed_angles", "ROT-7.value"),) if kind == "float32" else (),
        )
        for kind in ("float32", "float16")
    ),
    *(
        Choice(
            "steps added up",
            "table",
            f"rows are made of the two before, by twice the cosine of one step of {kind}, in"
            " float32",
            {"table": _walked(_three_terms(kind))},
            2.0,
        )
        for kind in ("float64", "float32")
    ),
    Choice(
        "steps added up",
        "table",
        "rotations are multiplied from one position to the next in complex64",
        {"table": _walked(_product), "slack": 4.0},
        2.0,
    ),
)
"""Tables that are made of one step."""
