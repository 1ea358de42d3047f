"""What is wrong from an angle on, in whichever pair: it ends where a range reduction does."""

import numpy as np

from ropespec.conformance.diagnosis.rotation import Outcome
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.diagnosis.told import fact
from ropespec.conformance.diagnosis.unexplained import share
from ropespec.conformance.mistakes.given import Array
from ropespec.conformance.results import Diagnosis

__all__ = ["beyond_an_angle"]

_LEAST = 100.0
"""Radians: where an angle is of few turns, what is wrong with it is another matter."""
_PAIRS = 16
_NEARLY_ALL = 0.95
"""Of the angles beyond, for some come right by chance."""


def beyond_an_angle(outcome: Outcome) -> Diagnosis | None:
    """Return that angles are wrong from a size on, where slower pairs of the same token are right.

    Parameters
    ----------
    outcome : Outcome
        What the calls of a battery came to.
    """
    calls = [one for one in outcome.seen if one.given.dtype in ("float32", "float64")]
    told = [_pairs(one) for one in calls if not one.given.axes]
    if not told:
        return None
    size, wrong, beside = (np.concatenate(part) for part in zip(*told, strict=True))
    if wrong.sum() < _PAIRS or not beside.any():
        return None
    end = float(size[wrong].min())
    if end < _LEAST or wrong[size >= end].mean() < _NEARLY_ALL:
        return None
    said = f"From an angle of {end:.6g} rad on cos and sin are wrong, in whichever pair."
    return fact("large angles", said, f"angles from {end:.6g} rad on", share(outcome))


def _pairs(seen: Seen) -> tuple[Array, Array, Array]:
    """Return the size of each angle, whether it is wrong, and right beside one that is wrong."""
    given, chain = seen.given, seen.right
    angle = np.abs(chain.angle(given, chain.place(given), chain.frequency(given)))
    wrong = seen.wrong[..., chain.pairing(given).to_first]
    size = np.broadcast_to(angle, wrong.shape)
    beside = ~wrong & wrong.any(axis=-1, keepdims=True)
    return size.ravel(), wrong.ravel(), beside.ravel()
