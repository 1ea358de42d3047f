"""From which position on two sides part: positions log-spaced first, then between the two ends."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["COUNT", "Parting", "part_from", "reach", "spread"]

COUNT = 384
"""Positions in one call; always as many, since a compiler pays for each new shape."""

_DENSE = 96


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two sides part.

    Attributes
    ----------
    position : int
        The first position at which they differ; as an absolute value.
    negative : bool
        Whether these are positions below zero.
    agree_to : int
        The last position tried before it; -1 if there is none.
    share : float
        The share of the positions tried from there on at which they differ.
    problem : str
        What a side does there instead of answering; may be empty.
    """

    position: int
    negative: bool
    agree_to: int
    share: float
    problem: str = ""


@dataclass(slots=True)
class _Tried:
    ratios: dict[int, float] = field(default_factory=dict)

    def note(self, positions: Iterable[int], ratios: Iterable[float]) -> None:
        for position, ratio in zip(positions, ratios, strict=True):
            self.ratios[int(position)] = max(float(ratio), self.ratios.get(int(position), 0.0))

    @property
    def first(self) -> int | None:
        """The smallest position at which they differ."""
        return min((p for p, ratio in self.ratios.items() if ratio > 1.0), default=None)


def spread(limit: int, seed: int) -> NDArray[np.int64]:
    """Return positions from 0 to `limit`: all small ones, the others log-spaced; (COUNT,).

    They are in random order, so that a side that counts tokens instead of reading positions does
    not agree by accident.
    """
    few = np.arange(min(limit + 1, _DENSE))
    far = np.geomspace(_DENSE, max(limit, _DENSE), COUNT - len(few) - 1).astype(np.int64)
    return _filled(np.unique(np.concatenate([few, np.minimum(far, limit), [limit]])), seed)


def _filled(positions: NDArray[np.integer], seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng([seed, 5])
    return rng.permutation(np.resize(positions, COUNT)).astype(np.int64)


def part_from(
    ratios_at: Callable[[NDArray[np.int64]], NDArray[np.float64] | None],
    positions: NDArray[np.int64],
    ratios: NDArray[np.float64],
    *,
    negative: bool = False,
    seed: int = 0,
) -> Parting | None:
    """Find the first position at which two sides differ.

    Parameters
    ----------
    ratios_at : callable
        Largest difference / budget at each of COUNT positions; None if a side gives no answer.
    positions, ratios : ndarray
        Those tried already, not negative.
    negative : bool
        Whether the positions stand for those below zero.
    seed : int
        For the order.

    Returns
    -------
    Parting or None
        None if they agree at all positions tried.
    """
    tried = _Tried()
    tried.note(positions, ratios)
    first = tried.first
    if first is None:
        return None
    before = _before(tried, first)
    while first - before > 1:
        step = max((first - before - 1) // (COUNT - 1), 1)
        between = np.arange(before + 1, first, step, dtype=np.int64)[: COUNT - 1]
        chosen = _filled(np.append(between, first - 1), seed)
        found = ratios_at(chosen)
        if found is None:
            break
        tried.note(chosen, found)
        first = tried.first or first
        if step == 1:
            break
        before = _before(tried, first)
    beyond = [ratio > 1.0 for p, ratio in tried.ratios.items() if p >= first]
    return Parting(first, negative, _before(tried, first), float(np.mean(beyond)))


def _before(tried: _Tried, first: int) -> int:
    return max((p for p in tried.ratios if p < first), default=-1)


def reach(answers: Callable[[int], bool], limit: int) -> int:
    """Return the largest position up to which both sides answer, by bisection; -1 for none."""
    low, high = -1, limit
    while high - low > 1:
        middle = (low + high) // 2
        if answers(middle):
            low = middle
        else:
            high = middle
    return low
