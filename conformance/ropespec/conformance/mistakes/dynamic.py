"""Frequencies that depend on the length of the call."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ropespec.conformance.mistakes.chain import ladder
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.spec.scaling import DynamicNtk, LongRope, PaperDynamicNtk

__all__ = ["DYNAMIC", "MISTAKES", "at_length"]

MISTAKES = entries("""
base grows with the length
    The base depends on the length of the call; scale it only where a scheme says so.
""")


def _longest(g: Given) -> float:
    return float(g.x.shape[1])


def _of_all_rows(g: Given) -> float:
    return float(g.positions.size)


def _farthest(g: Given) -> float:
    return float(np.abs(g.positions).max(initial=0)) + 1


def _dynamic(limit: int, factor: int, size: Callable[[Given], float], word: str) -> Choice:
    """Return the ladder whose base grows with the length of the call."""

    def theta(g: Given) -> Array:
        ratio = max(factor * size(g) / limit - (factor - 1), 1.0)
        base = g.base * ratio ** (g.turning / max(g.turning - 2, 1))
        return np.asarray(base ** (-np.arange(0, g.turning, 2) / g.turning))

    grown = f"({factor} n/{limit} - {factor - 1})" if factor > 1 else f"(n/{limit})"
    what = f"the base is multiplied by {grown}^(r/(r-2)), n the {word} of the call, beyond {limit}"
    return Choice(
        "base grows with the length", "frequency and call", what, {"frequency": theta}, 2.0
    )


def _stretched(limit: int, size: Callable[[Given], float], word: str) -> Choice:
    """Return frequencies that shrink so that the longest call ends where the table does."""

    def theta(g: Given) -> Array:
        return np.asarray(ladder(g) * min(limit / max(size(g), 1.0), 1.0))

    what = f"the frequencies are divided by n/{limit}, n the {word} of the call, beyond {limit}"
    return Choice("K1", "frequency and call", what, {"frequency": theta}, 2.0)


def at_length(g: Given, length: float) -> Array:
    """Return the frequencies of the claimed scheme, of a longer length than it is claimed at."""
    scheme = g.scaling
    if not isinstance(scheme, DynamicNtk | PaperDynamicNtk | LongRope) or length <= scheme.length:
        return ladder(g)
    return ladder(g.scaled(replace(scheme, length=int(length)), g.base))


def _at_own_length(size: Callable[[Given], float], word: str) -> Choice:
    what = f"the length of the scheme is the {word} of the call where that is more"
    change = {"frequency": lambda g: at_length(g, size(g))}
    return Choice("base grows with the length", "frequency and call", what, change, 1.5)


_SIZES = (
    (_longest, "length"),
    (_farthest, "largest position plus 1"),
    (_of_all_rows, "number of tokens, of all rows,"),
)

DYNAMIC: tuple[Choice, ...] = tuple(_at_own_length(*size) for size in _SIZES) + tuple(
    choice
    for limit in (64, 128, 256, 512, 1024, 2048, 4096, 8192)
    for size, word in _SIZES
    for choice in (
        *(_dynamic(limit, factor, size, word) for factor in (1, 2, 4, 8)),
        _stretched(limit, size, word),
    )
)
"""Ladders that depend on the length of the call."""
