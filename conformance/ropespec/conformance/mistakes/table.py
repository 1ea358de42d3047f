# ruff: noqa: ARG005  # a stage is given what any choice for it may need
"""Cosines and sines of an angle, and the angle itself."""

from collections.abc import Callable

import numpy as np

from ropespec.conformance.mistakes.apart import APART
from ropespec.conformance.mistakes.chain import own_position
from ropespec.conformance.mistakes.choice import Choice, Shown
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.roots import ROOTS
from ropespec.conformance.mistakes.rounding import rounded
from ropespec.conformance.mistakes.steps import ANGLES

__all__ = ["MISTAKES", "TABLES", "gained", "members_apart"]

MISTAKES = entries("""
L2 tables of the other layout
    The table repeats angles in one layout and the rotation pairs in the other; repeat_interleave
    goes with neighbours, tile with halves.
D4 table in half precision
    cos and sin are stored in half precision; store float32, or declare the precision.
K13 attention factor
    cos and sin carry a factor that nobody declared; apply it only where the scheme asks for it.
coarse table
    cos or sin come in equal steps; hold the table in floating point, or interpolate.
members of different frequencies
    The members of a pair have different frequencies, so it is not rotated; let the exponent count
    pairs, and not components.
angle in degrees
    Angles are taken for degrees, or turned into them; cos and sin take radians.
angle in turns
    Angles are taken for whole turns; cos and sin take radians.
positions in whole steps
    Angles are rounded to whole radians; keep their fractions.
sign of sines lost
    Sines lose their sign; look for an absolute value or a square root.
table not reduced
    Series of sine and cosine are used beyond small angles; reduce the angle first.
""")


def _repeated(g: Given, angle: Array) -> tuple[Array, Array]:
    """Return each angle twice in place where the layout lists them one after the other."""
    del g
    n = angle.shape[-1]
    return angle[..., np.arange(n) // 2], angle[..., np.arange(n, 2 * n) // 2]


def _tiled(g: Given, angle: Array) -> tuple[Array, Array]:
    del g
    n = angle.shape[-1]
    return angle[..., 2 * np.arange(n) % n], angle[..., (2 * np.arange(n) + 1) % n]


def members_apart(which: Callable[[Given, Array], tuple[Array, Array]]) -> dict[str, object]:
    """Return the stages in which the two members of a pair have different angles.

    Parameters
    ----------
    which : callable
        Of a call and its angles to those of both members.
    """

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        one, two = which(g, angle)
        return np.stack([np.cos(one), np.cos(two)]), np.stack([np.sin(one), np.sin(two)])

    def product(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
        return a * c[0] - b * s[0], b * c[1] + a * s[1]

    return {"table": table, "product": product}


def _of_components(factor: float, *, woven: bool) -> dict[str, object]:
    """Return the stages in which the exponent counts components, neighbours or halves."""

    def angles(g: Given, angle: Array) -> tuple[Array, Array]:
        n = angle.shape[-1]
        first = 2 * np.arange(n) if woven else np.arange(n)
        second = first + (1 if woven else n)
        p, r = own_position(g), g.turning
        return p * g.base ** (-factor * first / r), p * g.base ** (-factor * second / r)

    return members_apart(angles)


def _other_layout(g: Given, angle: Array) -> tuple[Array, Array]:
    return _tiled(g, angle) if g.interleaved else _repeated(g, angle)


def _in_steps(cosines: int, sines: int) -> dict[str, object]:
    """Return a table whose entries are multiples of 1/n; 0 for those that are not."""

    def table(g: Given, angle: Array) -> tuple[Array, Array]:
        del g
        c, s = np.cos(angle), np.sin(angle)
        return (
            np.round(c * cosines) / cosines if cosines else c,
            np.round(s * sines) / sines if sines else s,
        )

    return {"table": table}


_STEPS = tuple(
    Choice("coarse table", "table", f"{word} come in steps of 1/{n}", made, 2.0)
    for n in (7, 15, 63, 64, 100, 127, 128, 255, 256, 1000, 1024, 32767, 32768)
    for word, made in (
        ("cosines and sines", _in_steps(n, n)),
        ("sines", _in_steps(0, n)),
        ("cosines", _in_steps(n, 0)),
    )
)

TABLES: tuple[Choice, ...] = (
    Choice(
        "L2",
        "table",
        "the table repeats angles in the other layout",
        members_apart(_other_layout),
        shown=(
            Shown.by("mixed_tables", "FREQ-8.twice", "ROT-2.complex", "FREQ-8.forms"),
            Shown.by("mixed_tables_interleaved", "FREQ-8.twice", "ROT-11.norm", interleaved=True),
        ),
    ),
    Choice("L2", "table", "the table repeats each angle in place", members_apart(_repeated)),
    *(
        Choice(
            "members of different frequencies",
            "table",
            f"component j of the {'neighbours' if woven else 'halves'} has the frequency"
            f" base^(-{'' if factor == 1 else f'{factor:g}'}j/r)",
            _of_components(factor, woven=woven),
            shown=(Shown.by("exponent_of_components", "FREQ-8.twice"),)
            if (factor, woven) == (1.0, False)
            else (),
        )
        for factor in (1.0, 2.0)
        for woven in (True, False)
    ),
    *APART,
    *_STEPS,
    *ROOTS,
    Choice(
        "D4",
        "table",
        "cos and sin are cut to bfloat16",
        {"table": lambda g, a: (rounded(np.cos(a), "cut"), rounded(np.sin(a), "cut"))},
        1.5,
    ),
    Choice(
        "sign of sines lost",
        "table",
        "sines lose their sign",
        {"table": lambda g, a: (np.cos(a), np.abs(np.sin(a)))},
        1.5,
    ),
    Choice(
        "table not reduced",
        "table",
        "cosines are 1 - a^2/2 and sines are a",
        {"table": lambda g, a: (1 - a * a / 2, a)},
        1.5,
    ),
    Choice(
        "angle in degrees",
        "angle",
        "the angle is taken for degrees",
        {"angle": lambda g, p, t: np.deg2rad(p * t)},
        1.2,
    ),
    Choice(
        "angle in degrees",
        "angle",
        "the angle is turned into degrees",
        {"angle": lambda g, p, t: np.rad2deg(p * t)},
        1.2,
    ),
    Choice(
        "angle in turns",
        "angle",
        "the angle is taken for whole turns",
        {"angle": lambda g, p, t: 2 * np.pi * p * t},
        1.2,
    ),
    Choice(
        "positions in whole steps",
        "angle",
        "the angle is rounded down to whole radians",
        {"angle": lambda g, p, t: np.floor(p * t)},
        1.5,
    ),
    *ANGLES,
)
"""What else stands in the table."""


def gained(gain: float) -> Choice:
    """Return cos and sin times a factor."""
    return Choice(
        "K13",
        "table",
        f"cos and sin carry a factor of {gain:.6g}",
        {"table": lambda g, a: (gain * np.cos(a), gain * np.sin(a))},
        2.0,
    )
