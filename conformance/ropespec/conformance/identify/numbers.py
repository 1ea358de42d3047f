"""Round numbers: what somebody wrote down, near what was measured."""

import math
from collections.abc import Iterator

__all__ = ["lengths", "rounder"]


def rounder(value: float, room: float, digits: int = 12) -> Iterator[float]:
    """Return numbers within a relative room, those with the fewest digits first."""
    found = set[float]()
    for count in range(1, digits + 1):
        short = float(f"{value:.{count}g}")
        if short not in found and abs(short - value) <= room * abs(value):
            found.add(short)
            yield short


def lengths(low: float, high: float, most: int = 6) -> Iterator[int]:
    """Return numbers of tokens in a range: powers of two, multiples of them, then short ones."""
    found = dict[int, None]()
    for step in (*(2**k for k in range(24, 6, -1)), *(10**k for k in range(6, -1, -1))):
        first = max(math.ceil(low / step), 1) * step
        powers = [first * 2**k for k in range(20)] if step == first else [first, first + step]
        found.update(dict.fromkeys(one for one in powers if low <= one <= high))
    yield from list(found)[:most]
