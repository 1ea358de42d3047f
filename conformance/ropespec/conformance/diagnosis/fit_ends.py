"""Tables that are read from their end below zero, however long they are."""

from collections.abc import Iterator, Sequence

import numpy as np

from ropespec.conformance.diagnosis.read import multipliers
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.mistakes.chain import Chain
from ropespec.conformance.mistakes.given import Array

__all__ = ["fitted_ends"]

_LONGEST = 2**18
"""The longest table that is looked for."""

_CALLS = 6
_NEAR = 0.02
"""How far the mean over all pairs of the cosine of what is left may be below 1."""

_PAIRS = 8
_AT_ONCE = 2**14


def fitted_ends(wrong: Sequence[Seen], chain: Chain) -> Iterator[int]:
    """Return what is added to every position below zero that is wrong, if it is one number.

    No pair may be slow enough to tell so large a number, but all of them together do: it is found
    by trying each.

    Parameters
    ----------
    wrong : sequence of Seen
        Calls with wrong components.
    chain : Chain
        What is claimed.
    """
    calls = [seen for seen in wrong if seen.given.turning >= _PAIRS]
    for seen in sorted(calls, key=lambda one: -one.given.turning)[:_CALLS]:
        given, theta = seen.given, chain.frequency(seen.given)
        below = np.broadcast_to((given.positions < 0)[..., None], given.x.shape[:3])
        chosen = below & seen.wrong.any(axis=-1)
        if theta.ndim != 1 or not chosen.any():
            continue
        own = np.broadcast_to(given.positions[..., None], given.x.shape[:3])[chosen]
        with np.errstate(all="ignore"):
            turned = multipliers(seen, chain)[chosen] * np.exp(-1j * own[:, None] * theta)
            added = np.mean(turned / np.abs(turned), axis=0)
        if np.isfinite(added).all() and np.abs(added).min(initial=1.0) > 1 - _NEAR:
            yield from _numbers(added, theta)
            return


def _numbers(added: Array, theta: Array) -> Iterator[int]:
    """Return the integers by which all pairs turn as far as was measured, the nearest first."""
    few = np.linspace(0, len(theta) - 1, _PAIRS).astype(int)
    fits = list[tuple[float, int]]()
    for begin in range(1, _LONGEST + 1, _AT_ONCE):
        numbers = np.arange(begin, begin + _AT_ONCE)
        near = numbers[_likeness(numbers, added[few], theta[few]) > 1 - _NEAR]
        fits += zip(_likeness(near, added, theta).tolist(), near.tolist(), strict=True)
    yield from (number for like, number in sorted(fits, reverse=True)[:2] if like > 1 - _NEAR)


def _likeness(numbers: Array, added: Array, theta: Array) -> Array:
    made = np.exp(1j * numbers[:, None] * theta)
    return np.asarray(np.mean((made * added.conj()).real, axis=-1))
