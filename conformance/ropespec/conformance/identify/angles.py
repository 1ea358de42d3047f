"""How the angles of the pairs grow with the position: frequencies, an offset, a gain."""

from dataclasses import dataclass

import numpy as np

from ropespec.conformance.identify.operator import Blocks, Channels, read_blocks
from ropespec.conformance.identify.probe import Float, Probe

__all__ = ["NEAR", "Rung", "phases", "read_rung", "wrapped"]

NEAR = (0, 1, 2, 3, 4, 8, 16, 32, 64, 127, 128)
"""Positions every dtype holds exactly, in steps small enough to count full turns."""

_SHORT = tuple(p for p in NEAR if p <= 16)
"""Those of them that a short table still has."""


_LEVEL = 0.02  # lengths in half precision are off by 0.006


@dataclass(frozen=True, slots=True)
class Rung:
    """What the pairs do at one head_dim: they turn by w_j (p + b), and their lengths change.

    Attributes
    ----------
    speed : ndarray
        w_j in radians per position; in (-pi, pi], as faster pairs cannot be told from slower ones.
    offset : float
        b in positions; nan if the pairs do not agree on one.
    gain, spread : float
        The factor on all lengths, and how far single ones are from it; nan if there is none.
    is_linear : bool
        Whether all angles follow.
    head_dim, rotary_dim : int
        How many of how many components turn.
    """

    speed: Float
    offset: float
    gain: float
    spread: float
    is_linear: bool
    head_dim: int
    rotary_dim: int

    @property
    def clockwise(self) -> bool:
        """Whether most pairs turn clockwise."""
        return bool((self.speed[np.abs(self.speed) > 1e-9] < 0).mean() > 0.5)


def wrapped(angle: Float) -> Float:
    """Return an angle in [-pi, pi)."""
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)


def read_rung(probe: Probe, channels: Channels, mode: str) -> Rung | None:
    """Measure frequencies; None if blocks are no rotations, or no numbers come."""
    for places in (NEAR, _SHORT):
        blocks = read_blocks(probe, channels, places, mode)
        if blocks is not None:
            return phases(blocks, channels.head_dim) if blocks.is_rotation else None
    return None


def phases(blocks: Blocks, head_dim: int) -> Rung:
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
    off = np.abs(wrapped(angle - start - np.outer(blocks.positions, speed)))
    gain = float(np.median(blocks.gain))
    spread = float(np.abs(blocks.gain / gain - 1).max())
    return Rung(
        speed,
        _offset(start, speed),
        gain if spread < _LEVEL else float("nan"),
        spread,
        bool((off.max(axis=0) < 0.1).mean() > 0.9),
        head_dim,
        2 * len(speed),
    )


def _offset(start: Float, speed: Float) -> float:
    if np.abs(start).max(initial=0.0) < 1e-4:
        return 0.0
    telling = (np.abs(speed) > 1e-3) & (np.abs(speed) < 0.5)
    telling = telling if telling.any() else np.abs(speed) > 1e-3
    if not telling.any():
        return float("nan")
    offset = float(np.median(start[telling] / speed[telling]))
    near = round(offset)
    offset = float(near) if abs(offset - near) < 0.02 else offset
    fits = np.abs(wrapped(start - speed * offset)) < 0.03
    return offset if fits.mean() > 0.9 else float("nan")
