"""The order in which checks are run: those first that tell most, and soon."""

import itertools
from collections.abc import Sequence

from ropespec.conformance.registry import Check

__all__ = ["FIRST", "LARGE", "LAST", "LONG", "STRANGE", "dealt", "is_late", "telling_first"]

FIRST = ("ROT-6.value", "ROT-7.value")
"""Almost any mistake makes them fail: one of them is enough for a first answer."""


LAST = ("ROT-17.arguments",)
"""What is found by all that the other checks ask."""

STRANGE = ("FREQ-6.integers",)
"""What asks as nobody does, and so leaves nothing behind for checks after it: there are none."""

LARGE = ("ROT-19.many", "ROT-20.many")
"""What takes much memory, and so is not asked twice at the same time."""

LONG = ("ROT-24.compiled",)
"""What takes as long as forty others, and so is in another job than what is large.

It is the last there: the next fresh instance would import all that the compiler has imported.
"""


def telling_first(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return checks in the order in which to run them.

    After `FIRST` come those that point at a mistake, of the contract before others, then those that
    almost any mistake makes fail, those of `LONG`, and last those that look at all that was seen.

    Parameters
    ----------
    checks : sequence of Check
        In the order of the specification, which is kept among equals.
    """

    def place(item: Check) -> tuple[bool, ...]:
        last = item.id in STRANGE, is_late(item), item.id in LONG
        return *last, item.id not in FIRST, item.general, item.kind != "contract"

    return tuple(sorted(checks, key=place))


def is_late(item: Check) -> bool:
    """Whether a check comes after all others: most of these look at all that was seen."""
    return item.explain is not None or item.id in LAST + STRANGE


def dealt(checks: Sequence[Check], jobs: int) -> list[list[Check]]:
    """Deal checks to so many jobs in turn: which gets what depends on nothing that takes time.

    Parameters
    ----------
    checks : sequence of Check
        In the order in which to run them, which each job keeps.
    jobs : int
        How many; one has all that is large, and another what is long.
    """
    last = jobs - 1
    turns = itertools.cycle(range(last, -1, -1))

    def place(item: Check) -> int:
        if item.id in LARGE:
            return 0
        return last if item.id in LONG else next(turns)

    turn = {item.id: place(item) for item in checks}
    return [[item for item in checks if turn[item.id] == job] for job in range(jobs)]
