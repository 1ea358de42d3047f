"""Schemes in whole numbers: how many pairs a share is, and positions that are divided."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import ladder, own_position
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.spec.scaling import Proportional

__all__ = ["MISTAKES", "of_integers", "of_shares"]

MISTAKES = entries("""
pairs of a share
    A share of the pairs that is no whole number is counted otherwise; round p d / 2 down.
positions divided in whole numbers
    Positions are divided by the factor in integers, so that neighbours share an angle; divide the
    frequencies, or positions in floating point.
""")


def of_shares(claimed: Proportional) -> Iterator[Choice]:
    """Return other numbers of pairs that turn than the one that is claimed."""
    for how, count in _COUNTS:
        what = f"the pairs that turn are counted {how}"
        change = {"frequency": _first_pairs(claimed, count)}
        yield Choice("pairs of a share", "frequency", what, change, _OF_THE_CLAIM)


_OF_THE_CLAIM = 0.8
"""What only this scheme can be made into is tried before what any rotation can."""

_COUNTS: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("down, and one at least", lambda share: max(share // 2, 1.0)),
    ("to the nearest", lambda share: np.round(share / 2)),
    ("and rounded up", lambda share: np.ceil(share / 2)),
    ("as half of what is rounded to the nearest", lambda share: np.round(share) // 2),
    ("as half of what is rounded up", lambda share: np.ceil(share) // 2),
    ("in whole twos", lambda share: share // 4 * 2),
    ("in whole fours", lambda share: share // 8 * 4),
    ("as if both members were a pair each", np.floor),
)
"""How many pairs turn, of the number of components that is a share of a head."""


def _first_pairs(
    claimed: Proportional, count: Callable[[float], float]
) -> Callable[[Given], Array]:
    def frequency(g: Given) -> Array:
        whole = ladder(g.scaled(replace(claimed, proportion=1.0)))
        turning = count(float(claimed.proportion) * g.turning)
        return np.where(np.arange(len(whole)) < turning, whole, 0.0)

    return frequency


def of_integers(factor: float) -> Iterator[Choice]:
    """Return positions that are divided and brought to whole numbers."""
    for how, whole in (
        ("down", np.floor),
        ("towards zero", np.trunc),
        ("to the nearest", np.round),
    ):

        def place(g: Given, whole: Callable[[Array], Array] = whole) -> Array:
            return np.asarray(whole(own_position(g) / factor))

        what = f"positions are divided by {factor:g} and rounded {how}"
        change = {"place": place, "frequency": _plain}
        yield Choice("positions divided in whole numbers", "place and frequency", what, change, 1.5)


def _plain(g: Given) -> Array:
    return ladder(g.scaled(None))
