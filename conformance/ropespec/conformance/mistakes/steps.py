"""Frequencies and angles that come in equal steps: fixed point, tables of sines."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import RIGHT, Angle, Table, cos_sin, ladder
from ropespec.conformance.mistakes.choice import Choice, Shown
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given

__all__ = ["ANGLES", "MISTAKES", "SEGMENTS", "STEPPED"]

MISTAKES = entries("""
frequencies in fixed point
    Frequencies are whole numbers of a step, so slow pairs have few digits; hold them in floating
    point, or count in steps of 2^-64 turns.
angles in steps
    Cosines and sines are looked up at the nearest of some angles; interpolate, or compute them.
last segment of a table of sines
    Between the last angle of a table and a full turn the last sine is taken; interpolate there
    with the first, or keep one entry more.
""")

_WAYS: dict[str, Callable[[Array], Array]] = {"rounded": np.round, "rounded down": np.floor}


def _stepped(step: float, said: str, how: str, shown: tuple[Shown, ...] = ()) -> Choice:
    way = _WAYS[how]

    def frequency(g: Given) -> Array:
        return np.asarray(way(ladder(g) / step) * step)

    what = f"the frequencies are {how} to whole steps of {said}"
    change = {"frequency": frequency}
    return Choice("frequencies in fixed point", "frequency", what, change, 2.0, shown=shown)


def _looked_up(count: int, how: str) -> Choice:
    """Return the choice that takes each angle for the nearest of so many in a turn."""
    way, step = _WAYS[how], 2 * np.pi / count

    def angle(moved: float) -> Angle:
        def of(g: Given, place: Array, theta: Array) -> Array:
            unit = 2.0**-53 if g.dtype == "float64" else 2.0**-24
            exact = place * theta
            off = moved * unit * (6 + 3 * np.abs(np.log(np.maximum(theta, 1e-30))))
            return np.asarray(way(exact * (1 + off) / step) * step)

        return of

    nudged = tuple(replace(RIGHT, angle=angle(moved)) for moved in (-1.0, 1.0))
    what = f"angles are {how} to {count} in a turn"
    change = {"angle": angle(0.0), "nudged": nudged}
    return Choice("angles in steps", "angle", what, change, 2.0)


def _cubic(count: int) -> Choice:
    """Return a table with slopes whose last segment has its beginning for an end."""
    step = 2 * np.pi / count
    last = 2 * np.pi - step
    c, s = np.cos(last), np.sin(last)

    def table(moved: float) -> Table:
        def of(g: Given, angle: Array) -> tuple[Array, Array]:
            cos, sin = cos_sin(g, angle)
            within = (np.mod(angle * (1 + moved), 2 * np.pi) - last) / step
            by = step * (2 * within**3 - 3 * within**2 + within)
            here = within >= 0
            return np.where(here, c - by * s, cos), np.where(here, s + by * c, sin)

        return of

    what = (
        f"the last of {count} segments of a turn, between which cubics go, has its beginning for"
        " an end"
    )
    return _ended(what, table)


def _ended(what: str, table: Callable[[float], Table]) -> Choice:
    nudged = tuple(replace(RIGHT, table=table(moved)) for moved in (-(2.0**-22), 2.0**-22))
    change = {"table": table(0.0), "nudged": nudged}
    return Choice("last segment of a table of sines", "table", what, change, 2.0)


def _unwrapped(count: int, cosine: str) -> Choice:
    """Return tables of so many sines in a turn that are constant in the last segment."""
    last = 2 * np.pi * (count - 1) / count

    def ended(angle: Array, moved: float) -> Array:
        return np.where(np.mod(angle * (1 + moved), 2 * np.pi) >= last, last, angle)

    def table(moved: float) -> Table:
        def of(g: Given, angle: Array) -> tuple[Array, Array]:
            c, s = cos_sin(g, ended(angle, moved))
            if cosine == _SHIFTED:
                c = cos_sin(g, ended(angle + np.pi / 2, moved))[1]
            return c, s

        return of

    what = f"the last of {count} segments of a turn has the sine of its beginning, {cosine}"
    return _ended(what, table)


_SHIFTED = "and the cosine is that of a quarter of a turn on"
_BESIDE = "and the cosine that of its beginning"


def _coarse(bits: int, how: str) -> Choice:
    return _stepped(2.0**-bits, f"2^-{bits}", how)


def _of_turns(bits: int, how: str) -> Choice:
    return _stepped(
        2 * np.pi * 2.0**-bits, f"2^-{bits} turns", how, _SHOWN_IN_TURNS.get((bits, how), ())
    )


_SHOWN_IN_TURNS = {
    (24, "rounded"): (Shown.by("frequencies_in_steps", "ROT-7.value"),),
    (32, "rounded down"): (Shown.by("frequencies_cut_off", "ROT-9.every"),),
}


STEPPED: tuple[Choice, ...] = (
    *(_of_turns(bits, how) for how in _WAYS for bits in range(8, 33)),
    *(_coarse(bits, how) for how in _WAYS for bits in range(6, 32)),
    *(_stepped(10.0**-n, f"10^-{n}", how) for how in _WAYS for n in range(2, 9)),
)
"""Frequencies in steps of a turn, of 1, and of decimals."""

ANGLES: tuple[Choice, ...] = tuple(
    _looked_up(count, how)
    for how in _WAYS
    for count in (*(2**k for k in range(6, 21)), 360, 720, 1000, 3600, 10000, 36000, 100000)
)
"""Tables of so many sines in a turn."""

_IN_A_TURN = (*(2**k for k in range(8, 21)), 360, 720, 1000, 3600, 10000, 36000, 100000)

SEGMENTS: tuple[Choice, ...] = (
    *(_unwrapped(count, cosine) for count in _IN_A_TURN for cosine in (_SHIFTED, _BESIDE)),
    *map(_cubic, _IN_A_TURN),
)
"""Tables of so many sines in a turn that are interpolated, but for the last segment."""
