"""Every choice at one stage, for functions that rotate something on the way."""

from collections.abc import Iterator

import numpy as np

from ropespec.conformance.mistakes.blocks import blocked
from ropespec.conformance.mistakes.chain import RIGHT, run
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.frequency import LADDERS, fitted_base
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.place import WHOLE, combined
from ropespec.conformance.mistakes.sources import SOURCES
from ropespec.conformance.mistakes.turning import TURNS

__all__ = ["AS_CLAIMED", "BASES", "made"]

BASES = (
    *(100.0, 500.0, 1000.0, 5000.0, 10000.0, 20000.0, 25000.0, 50000.0, 100000.0, 160000.0),
    *(500000.0, 1e6, 5e6, 1e7, 1e8),
)
"""Bases that models have: few digits are enough to tell them apart."""

AS_CLAIMED = Choice("", "", "as claimed", {}, 0.0)

_OWN = ((1.0, 1.0), (1.0, -1.0), (2.0, 0.0), (0.5, 0.0), (-1.0, 0.0))

_STEPS = (2, 4, 8, 16, 32, 64, 128)

CHOICES: tuple[Choice, ...] = (
    *TURNS,
    *LADDERS,
    *(combined((("own", factor),), constant) for factor, constant in _OWN),
    *(combined(((word, 1.0),), 0.0) for word in SOURCES if word != "own"),
    *WHOLE,
    *(blocked(word, size) for word in ("rounded down", "rounded", "divided") for size in _STEPS),
    *(fitted_base(base) for base in BASES),
)


def made(given: Given) -> Iterator[tuple[Choice, Array]]:
    """Return what each choice makes of a call, and first what is claimed.

    Choices that make the same as what is claimed are left out.
    """
    right = run(RIGHT, given).y
    yield AS_CLAIMED, right
    for choice in CHOICES:
        try:
            y = run(choice.chain(RIGHT), given).y
        except (ValueError, IndexError):  # shapes for which the choice makes no sense
            continue
        if y.shape == right.shape and np.isfinite(y).all() and not np.allclose(y, right, atol=1e-6):
            yield choice, y
