"""Values that are no plain arrays: intervals, and vectors of which only the beginning is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Interval", "Open", "joined", "paired", "scalar"]


@dataclass(frozen=True)
class Open:
    """A vector or a set that goes on, or has a gap: what comes first, and what comes last."""

    head: NDArray[Any]
    tail: NDArray[Any]


@dataclass(frozen=True)
class Interval:
    """Numbers between two ends; a square bracket includes its end."""

    low: float
    high: float
    brackets: str

    def __contains__(self, number: float) -> bool:
        """Say whether a number lies between the ends."""
        above = number >= self.low if self.brackets[0] == "[" else number > self.low
        below = number <= self.high if self.brackets[1] == "]" else number < self.high
        return bool(above and below)


def scalar(value: Any) -> Any:
    """Turn arrays of one number without axes, or of a row times a column, into that number."""
    if isinstance(value, np.ndarray | np.generic) and value.ndim == 0:
        return value.item()
    return value


def joined(values: Sequence[Any]) -> NDArray[Any]:
    """Join numbers and vectors to one vector, matrices to one matrix."""
    arrays = [np.atleast_1d(np.asarray(value)) for value in values]
    return np.concatenate(arrays) if arrays else np.empty(0)


def paired(left: Any, right: Any) -> list[tuple[Any, Any]]:
    """Give the pairs to compare: the known parts where one side is open, else the two values."""
    if not isinstance(left, Open) and not isinstance(right, Open):
        return [(left, right)]
    heads, tails = ([_part(side, name) for side in (left, right)] for name in ("head", "tail"))
    first, last = (min(map(len, parts)) for parts in (heads, tails))
    return [
        (heads[0][:first], heads[1][:first]),
        (tails[0][len(tails[0]) - last :], tails[1][len(tails[1]) - last :]),
    ]


def _part(value: Any, name: str) -> NDArray[Any]:
    return np.asarray(getattr(value, name) if isinstance(value, Open) else np.atleast_1d(value))
