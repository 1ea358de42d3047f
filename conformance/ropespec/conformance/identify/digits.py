"""Number grids: in which dtype positions, frequencies, angles, tables and products are held."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.blocks import wrapped
from ropespec.conformance.identify.operator import Blocks

__all__ = [
    "ROUNDINGS",
    "Angles",
    "angle_grid",
    "entry_grid",
    "fast_reduction",
    "nearest_position",
    "on_grid",
    "rounded",
    "short_turn",
    "single_angles",
    "table_steps",
]

Float = NDArray[np.float64]


def _tf32(a: Float) -> Float:
    bits = np.ascontiguousarray(a, np.float32).view(np.uint32)
    kept = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    return kept.view(np.float32).astype(np.float64)


def _through(dtype: type) -> Callable[[Float], Float]:
    def cast(a: Float) -> Float:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(a).astype(dtype).astype(np.float64)

    return cast


ROUNDINGS: dict[str, Callable[[Float], Float]] = {
    "bfloat16": _through(ml_dtypes.bfloat16),
    "float16": _through(np.float16),
    "tf32": _tf32,
}
"""Roundings to fewer bits than float32 has, by name."""


def rounded(a: Float, name: str) -> Float:
    """Round to a dtype by name; unchanged for `exact`."""
    return ROUNDINGS[name](a) if name in ROUNDINGS else a


@dataclass(frozen=True, slots=True)
class Angles:
    """How angles are made.

    Attributes
    ----------
    kind : str
        `exact` (nothing lost that shows), `frequencies`, their `exponents` or `angles` rounded.
    dtype : str
        To which dtype; empty for `exact`.
    """

    kind: str
    dtype: str = ""


def angle_grid(blocks: Blocks, speed: Float, offset: float) -> Angles:
    """Find the rounding that explains the angles near zero, where every dtype holds positions.

    Parameters
    ----------
    blocks : Blocks
        At positions up to 128.
    speed : ndarray
        The unrounded frequencies, with the sign of the turn.
    offset : float
        Added to every position.
    """
    where = (blocks.positions + offset).astype(np.float64)[:, None]
    angle = blocks.angle
    sign, size = np.sign(speed), np.abs(speed)

    def off(expected: Float) -> float:
        return float(np.sqrt(np.mean(wrapped(angle - sign * expected) ** 2)))

    exact = off(where * size)
    tried = {}
    for name in ("bfloat16", "float16"):
        less = rounded(size, name)
        tried[("frequencies", name)] = off(where * less)
        powers = np.log(np.maximum(size, 1e-30))
        tried[("exponents", name)] = min(
            off(where * unit ** rounded(powers / np.log(unit), name)) for unit in (np.e, 2.0)
        )
        tried[("angles", name)] = min(
            off(rounded(where * less, name)), off(rounded(where * size, name))
        )
    best = min(tried, key=lambda key: tried[key])
    if exact > 3e-5 and tried[best] < exact / 4:
        return Angles(*best)
    return Angles("exact")


def single_angles(blocks: Blocks, speed: Float, offset: float) -> Angles:
    """Find out whether angles of float64 x are made of float32 numbers."""
    where = (blocks.positions + offset).astype(np.float64)[:, None]
    sign, size = np.sign(speed), np.abs(speed)
    single = size.astype(np.float32).astype(np.float64)

    def off(expected: Float) -> float:
        return float(np.abs(wrapped(blocks.angle - sign * expected)).max())

    product = (where.astype(np.float32) * single.astype(np.float32)).astype(np.float64)
    plain = off(where * size)
    if plain < 1e-10:
        return Angles("exact")
    if off(where * single) < plain / 20:
        return Angles("frequencies", "float32")
    return Angles("angles", "float32") if off(product) < plain / 2 else Angles("exact")


def on_grid(values: Float) -> str:
    """Return the half precision in which all values are exact, or an empty string."""
    telling = values[(np.abs(values) > 1e-3) & (np.abs(np.abs(values) - 1) > 1e-9)]
    if len(telling) < 4:
        return ""
    for name in ("bfloat16", "float16"):
        if np.array_equal(rounded(telling, name), telling):
            return name
    return ""


def entry_grid(blocks: Blocks) -> str:
    """Return the half precision of the entries of cos and sin, or an empty string.

    `sines` or `cosines` behind it says that only those are held so.
    """
    if both := on_grid(blocks.matrix[..., :, 0].ravel()):
        return both
    for row, name in ((1, "sines"), (0, "cosines")):
        if one := on_grid(blocks.matrix[..., row, 0].ravel()):
            return f"{one} {name}"
    return ""


def table_steps(blocks: Blocks) -> str:
    """Return `steps of 1/n` if the cosines or the sines are multiples of one step, else nothing."""
    for column in (blocks.matrix[..., 0, 0], blocks.matrix[..., 1, 0]):
        size = np.unique(np.round(np.abs(column[np.isfinite(column)]), 6))
        gaps = np.diff(size)
        gaps = gaps[gaps > 1e-5]  # the last bits of one number
        if len(gaps) < 8 or gaps.min() < 1e-3:
            continue
        count = round(1 / float(gaps.min()))
        if np.abs(size * count - np.round(size * count)).max() < 1e-3:
            return f"steps of 1/{count}"
    return ""


def fast_reduction(blocks: Blocks, speed: Float) -> bool:
    """Whether angles are reduced by a short value of 2 pi, as fast sines do.

    All pairs are then off by one and the same share of their angle; where frequencies are rounded
    each is off by another, and the first, which is 1, by none.
    """
    where = blocks.positions.astype(np.float64)[:, None]
    size = np.abs(speed)
    single = (where.astype(np.float32) * size.astype(np.float32)).astype(np.float64)
    turn = np.float32(2 * np.pi)
    coarse = single.astype(np.float32)
    short = (coarse - np.floor(coarse / turn) * turn).astype(np.float64)
    angle = blocks.angle * np.sign(speed)
    off = wrapped(angle - single)
    share = float((off * single).sum() / (single**2).sum())
    plain = float(np.abs(off).max())
    first = float(np.abs(off[:, 0]).max()), float(np.abs(wrapped(angle - short)[:, 0]).max())
    exact = abs(size[0] - 1.0) < 1e-9  # then the angle of the first pair is the position itself
    if exact and first[0] > 2e-4 and first[1] < first[0] / 3:
        return True
    return plain > 2e-4 and float(np.abs(off - share * single).max()) < plain / 3


def short_turn(blocks: Blocks, speed: Float, offset: float) -> bool:
    """Whether every full turn of every pair is off by one and the same small angle."""
    angle = (blocks.positions + offset)[:, None] * speed
    off, turns = wrapped(blocks.angle - angle), np.round(angle / (2 * np.pi))
    few = (np.abs(turns) > 3) & (np.abs(turns) < 1000)
    if few.sum() < 8:
        return False
    each = float((off[few] * turns[few]).sum() / (turns[few] ** 2).sum())
    rest = wrapped(off - each * turns)
    return 1e-6 < abs(each) < 3e-3 and float(np.abs(rest).max()) < 0.1


def nearest_position(
    angle: Float, speed: Float, candidates: Sequence[int] | NDArray[np.int64]
) -> tuple[int, float]:
    """Return the candidate whose angles come nearest, and max(1 - cos) of the difference."""
    where = np.asarray(candidates, dtype=np.float64)
    chosen = np.argsort(-np.abs(speed))[:12]
    off = 1 - np.cos(angle[chosen] - where[:, None] * speed[chosen])
    worst = off.max(axis=1)
    best = int(np.argmin(worst))
    return int(where[best]), float(worst[best])
