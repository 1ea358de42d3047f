"""What the 2x2 blocks of the pairs are, and how their angles grow with the position."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.facts import Block
from ropespec.conformance.identify.operator import Blocks

__all__ = [
    "APART",
    "NEAR",
    "SHORT",
    "Phases",
    "block_form",
    "growth",
    "phases",
    "wrapped",
]

Float = NDArray[np.float64]

NEAR = (0, 1, 2, 3, 4, 8, 16, 32, 64, 127, 128)
"""Positions every dtype holds exactly, in steps small enough to count full turns."""

SHORT = tuple(p for p in NEAR if p <= 16)
"""Those of them that a short table still has."""

APART = "cos and sin of different angles"
"""The gain of blocks whose entries are a cosine and a sine, though not of one angle."""

_LOOSE = 0.02  # entries of half precision are off by 0.004, wrong forms by much more


@dataclass(frozen=True, slots=True)
class Phases:
    """Angles as w_j p + w_j b.

    Attributes
    ----------
    speed : ndarray, shape (pairs,)
        w_j in radians per position; in (-pi, pi], as faster pairs cannot be told from slower ones.
    offset : float
        b in positions; nan if the pairs do not agree on one.
    linear : bool
        Whether all angles up to position 128 follow.
    clockwise : bool
        Whether most pairs turn clockwise.
    """

    speed: Float
    offset: float
    linear: bool
    clockwise: bool


def wrapped(angle: Float) -> Float:
    """Return an angle in [-pi, pi)."""
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)


def block_form(blocks: Blocks) -> tuple[Block, list[int]]:
    """Name the form most pairs have, and the pairs that have another.

    A pair counts only if it turns far enough to show a form.
    """
    forms: list[Block | None] = [_form(blocks.matrix[:, j]) for j in range(blocks.matrix.shape[1])]
    known = [form for form in forms if form is not None]
    if not known:
        return Block.ROTATION, []
    most = max(dict.fromkeys(known), key=known.count)
    odd = [j for j, form in enumerate(forms) if form not in (None, most)]
    if odd and most is Block.UNEQUAL:
        return Block.UNEQUAL, []  # a pair may meet two angles that happen to be equal
    if odd and most is Block.ROTATION:
        # The form of the exceptions matters more than that of the rest if they are many.
        return (Block.PARTLY, odd) if len(odd) <= len(known) // 2 else (Block.OTHER, odd)
    return most, odd


def _form(m: Float) -> Block | None:
    a, b, c, d = (m[:, 0, 0], m[:, 0, 1], m[:, 1, 0], m[:, 1, 1])
    size = max(float(np.abs(m).max()), 1e-30)
    if not np.isfinite(size):
        return Block.OTHER

    def same(left: Float, right: Float | float) -> bool:
        return bool(np.abs(left - right).max() < _LOOSE * size)

    if max(np.abs(b).max(), np.abs(c).max()) < 2 * _LOOSE * size:
        turned = a.min() < -0.05 * size  # a cosine that has passed a quarter of a turn
        return Block.LOST_SINE if turned and same(a, d) else None
    length = np.hypot(a, c)
    if (np.abs(a - d) <= _LOOSE * length).all() and (np.abs(b + c) <= _LOOSE * length).all():
        return Block.ROTATION
    if same(a, d) and same(b, c):
        return Block.LOST_MINUS
    for sign in (1.0, -1.0):
        cos, sin = a, -sign * b
        if same(cos**2 + sin**2, 1.0) and same(c, sign * sin * cos) and same(d, cos - sin**2):
            return Block.OVERWRITTEN
        cos, sin = d, sign * c
        if same(cos**2 + sin**2, 1.0) and same(b, -sign * sin * cos) and same(a, cos - sin**2):
            return Block.OVERWRITTEN
    exchanged = np.abs(m[0] - np.eye(2)[::-1]).max() < _LOOSE  # at position 0
    if exchanged and _form(m[:, ::-1]) is Block.ROTATION:
        return Block.EXCHANGED
    rows = same(a**2 + b**2, (a**2 + b**2)[0]) and same(c**2 + d**2, (c**2 + d**2)[0])
    still = bool(np.abs(m[0] - np.eye(2)).max() < _LOOSE)  # at position 0
    return Block.UNEQUAL if rows and still else Block.OTHER


def phases(blocks: Blocks) -> Phases:
    """Unwrap the angles, doubling the position, and fit w_j (p + b)."""
    places = {int(p): k for k, p in enumerate(blocks.positions)}
    angle = blocks.angle
    start = angle[places[0]]
    speed = wrapped(angle[places[1]] - start)
    for p in (2, 4, 8, 16, 32, 64, 128):
        if p not in places:
            break
        moved = angle[places[p]] - start
        speed = (speed * p + wrapped(moved - speed * p)) / p
    expected = start + np.outer(blocks.positions, speed)
    off = np.abs(wrapped(angle - expected)).max(axis=0)
    linear = bool((off < 0.1).mean() > 0.9)
    clockwise = bool((speed[np.abs(speed) > 1e-6] < 0).mean() > 0.5) if speed.any() else False
    return Phases(speed, _offset(start, speed), linear, clockwise)


def _offset(start: Float, speed: Float) -> float:
    if np.abs(start).max() < 1e-4:
        return 0.0
    telling = (np.abs(speed) > 1e-3) & (np.abs(speed) < 0.5)
    if not telling.any():
        telling = np.abs(speed) > 1e-3
    if not telling.any():
        return float("nan")
    offset = float(np.median(start[telling] / speed[telling]))
    near = round(offset)
    offset = float(near) if abs(offset - near) < 0.02 else offset
    fits = np.abs(wrapped(start - speed * offset)) < 0.03
    return offset if fits.mean() > 0.9 else float("nan")


def growth(blocks: Blocks) -> str:
    """Say how a gain that is not level varies.

    Returns
    -------
    str
        `power of the position` if gains are z_j^p with a z of each pair; `APART` if the length
        passes 1 in both directions and no entry ever does; `varies` otherwise.
    """
    gain = blocks.gain
    use = (blocks.positions > 0) & (blocks.positions <= 16)
    slopes = np.log(gain[use]) / blocks.positions[use][:, None]
    typical = np.median(slopes, axis=0)
    steady = (np.abs(slopes - typical) <= 0.1 * np.abs(typical) + 1e-3).all()
    own = float(np.ptp(typical)) > 0.1 * float(np.abs(typical).max())
    if steady and own:
        return "power of the position"
    within = float(np.abs(blocks.matrix).max()) < 1.005
    return APART if within and gain.min() < 1 - _LOOSE and gain.max() > 1 + _LOOSE else "varies"
