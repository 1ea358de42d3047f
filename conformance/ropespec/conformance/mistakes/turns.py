"""Whole turns that are taken off an angle before its sine."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import RIGHT, Angle
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["MISTAKES", "WHOLE_TURNS", "fast_sine"]

MISTAKES = entries("""
D8 fast sine
    Whole turns are taken off with a rounded 2 pi; use the accurate function, or reduce the angle
    exactly.
large angles
    Turns or quarters are counted in too few bits, or the reduction ends there; count in 64 bits, or
    reduce the position.
""")

WHOLE_TURNS: dict[str, Callable[[Array], Array]] = {
    "": np.trunc,
    ", to the nearest": np.round,
    ", downwards": np.floor,
}
"""How many turns are taken off."""

_FLOAT = 2.0**-22
"""By how much of itself an angle may be off that is made in float32."""


def fast_sine(turn: float, how: str = "") -> Choice:
    """Return angles whose whole turns were taken off with a rounded 2 pi.

    Parameters
    ----------
    turn : float
        What is taken for 2 pi.
    how : str
        One of `WHOLE_TURNS`.
    """
    whole = WHOLE_TURNS[how]

    def angle(moved: float) -> Angle:
        def of(g: Given, p: Array, t: Array) -> Array:
            del g
            return np.asarray(p * t - turn * whole(p * t * (1 + moved) / turn))

        return of

    nudged = tuple(replace(RIGHT, angle=angle(moved)) for moved in (-_FLOAT, _FLOAT))
    what = f"whole turns are taken off as {turn:.10g} each{how}"
    return Choice("D8", "angle", what, {"angle": angle(0.0), "nudged": nudged}, 2.0)
