"""What has been read off, as a function: to predict calls and to say what a wrong one did."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.identify.facts import Pairing
from ropespec.conformance.identify.operator import Channels

__all__ = ["Model", "explain"]

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Model:
    """The operator as measured.

    Attributes
    ----------
    channels : Channels
        Its pairs, within one head.
    speed : ndarray
        Frequencies as the subject holds them, with the sign of the turn.
    offset, gain : float
        Added to positions; multiplied onto pairs.
    """

    channels: Channels
    speed: Float
    offset: float
    gain: float

    @property
    def usable(self) -> bool:
        """Whether it can predict calls."""
        usual = self.channels.pairing is not Pairing.CROSSING_HEADS and not self.channels.permuted
        usual &= self.channels.tail != "scaled"
        return usual and len(self.channels.inputs) > 0 and bool(np.isfinite(self.offset))

    def turn(self, x: Float, positions: NDArray[np.integer], *, other: bool = False) -> Float:
        """Turn x (B, S, H, D) by positions (B, S); with `other` in the other pairing."""
        first, second = self.channels.inputs[:, 0], self.channels.inputs[:, 1]
        if other:
            start, count = self.channels.start, len(first)
            first, second = start + np.arange(count), start + count + np.arange(count)
            if self.channels.pairing is Pairing.HALF:
                first, second = start + 2 * np.arange(count), start + 2 * np.arange(count) + 1
        angle = (positions.astype(np.float64) + self.offset)[..., None, None] * self.speed
        c, s = self.gain * np.cos(angle), self.gain * np.sin(angle)
        y = x.astype(np.float64)
        a, b = y[..., first], y[..., second]
        y = y.copy()
        y[..., first], y[..., second] = a * c - b * s, b * c + a * s
        return y


def explain(
    model: Model | None,
    got: Float,
    x: Float,
    positions: NDArray[np.integer],
    tolerance: float,
    rows: Sequence[int] | None = None,
) -> str:
    """Say in a word what a call did that did something else than usual.

    Parameters
    ----------
    model : Model or None
        What it usually does.
    got : ndarray
        (B, S, H, D).
    x, positions : ndarray
        What it was given.
    tolerance : float
        Relative to the largest component.
    rows : sequence of int, optional
        The rows of the batch that matter.

    Returns
    -------
    str
        `identity`, `zero`, `not a number`, `twice`, `opposite`, `other pairing`, `row 0`,
        `largest`, `position 0`, `counted`, `from the first`, `first`, `last`, `one more`,
        `one less`, or `other`.
    """
    chosen = list(rows) if rows is not None else list(range(len(x)))
    if not np.isfinite(got[chosen]).all():
        return "not a number"

    def same(expected: Float) -> bool:
        return bool(np.abs(got - expected)[chosen].max() <= tolerance * np.abs(x).max())

    if same(x.astype(np.float64)):
        return "identity"
    if same(np.zeros_like(got)):
        return "zero"
    if model is None or not model.usable:
        return "other"
    tried: dict[str, Callable[[], Float]] = {
        "twice": lambda: model.turn(x, 2 * positions),
        "opposite": lambda: model.turn(x, -positions),
        "other pairing": lambda: model.turn(x, positions, other=True),
        "row 0": lambda: model.turn(x, np.broadcast_to(positions[:1], positions.shape)),
        "largest": lambda: model.turn(x, np.broadcast_to(positions.max(0), positions.shape)),
        "position 0": lambda: model.turn(x, 0 * positions),
        "counted": lambda: model.turn(x, 0 * positions + np.arange(positions.shape[1])),
        "from the first": lambda: model.turn(x, positions[:, :1] + np.arange(positions.shape[1])),
        "first": lambda: model.turn(x, 0 * positions + positions[:, :1]),
        "last": lambda: model.turn(x, 0 * positions + positions[:, -1:]),
        "one more": lambda: model.turn(x, positions + 1),
        "one less": lambda: model.turn(x, positions - 1),
    }
    return next((name for name, make in tried.items() if same(make())), "other")
