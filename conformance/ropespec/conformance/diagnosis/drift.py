"""What is off by little, and by more the larger the position: measured, and not reproduced."""

from collections.abc import Iterator

import numpy as np

from ropespec.conformance.diagnosis.read import multipliers
from ropespec.conformance.diagnosis.rotation import Outcome
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.diagnosis.told import fact
from ropespec.conformance.diagnosis.unexplained import share
from ropespec.conformance.mistakes.given import Array
from ropespec.conformance.results import Diagnosis

__all__ = ["drifting"]

_STEP = 2.0**-20
"""The most that a step may be off: some units in the last place of float32."""
_NEAR = 10
"""From where the rounding of the result is less than what is off."""
_DECADES = 3
"""Over how many the error must grow, so that it is no error of one place."""
_ALIKE = 4.0
"""By how much the worst steps of the decades may differ from each other."""


def drifting(outcome: Outcome) -> Iterator[Diagnosis]:
    """Say that errors grow in proportion to the position, if all that is wrong does.

    Parameters
    ----------
    outcome : Outcome
        What the calls of a battery came to.
    """
    parts = [_off(one) for one in outcome.seen if one.given.dtype in ("float32", "float64")]
    parts = [part for part in parts if part.shape[1]]
    if (
        not parts
        or 2 * len(parts) < len(outcome.wrong)
        or any(_elsewhere(one) for one in outcome.wrong)
    ):
        return
    size, off = np.concatenate(parts, axis=1)
    far = size >= _NEAR
    step, decade = off[far] / size[far], np.floor(np.log10(size[far]))
    worst = np.array([step[decade == one].max() for one in np.unique(decade)])
    if len(worst) < _DECADES or not worst.max() <= min(_STEP, _ALIKE * worst.min()):
        return
    said = f"It is off by up to {worst.max():.2g} for each step of the position."
    yield fact("error grows with the position", said, "far positions", share(outcome))


def _off(seen: Seen) -> Array:
    """Return the sizes of positions, and how far pairs are off the circle's point, (2, N)."""
    given, chain = seen.given, seen.right
    angle = chain.angle(given, chain.place(given), chain.frequency(given))
    c, s = chain.table(given, angle)
    off = np.abs(multipliers(seen, chain) - (c + 1j * s))
    size = np.broadcast_to(np.abs(given.positions)[..., None, None], off.shape)
    return np.stack([size.ravel(), off.ravel()])


def _elsewhere(seen: Seen) -> bool:
    """Whether anything is wrong but what rotates."""
    return bool(seen.off[..., seen.given.turning :].any())
