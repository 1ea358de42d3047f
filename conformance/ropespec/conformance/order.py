"""The order in which checks are run: those first that tell most, and soon."""

import itertools
from collections.abc import Sequence

from ropespec.conformance.registry import Check

__all__ = ["FIRST", "LARGE", "LAST", "dealt", "is_late", "telling_first"]

FIRST = ("ROT-6.value", "ROT-7.value")
"""Almost any mistake makes them fail: one of them is enough for a first answer."""


LAST = ("ROT-17.arguments",)
"""What is found by all that the other checks ask."""

LARGE = ("ROT-19.many", "ROT-20.many")
"""What takes much memory, and so is not asked twice at the same time."""


def telling_first(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return checks in the order in which to run them.

    After `FIRST` come those that point at a mistake, of the contract before others, then those that
    almost any mistake makes fail, and last those that look at all that was seen.

    Parameters
    ----------
    checks : sequence of Check
        In the order of the specification, which is kept among equals.
    """

    def place(item: Check) -> tuple[bool, ...]:
        return is_late(item), item.id not in FIRST, item.general, item.kind != "contract"

    return tuple(sorted(checks, key=place))


def is_late(item: Check) -> bool:
    """Whether a check looks at all that was seen before it."""
    return item.explain is not None or item.id in LAST


def dealt(checks: Sequence[Check], jobs: int) -> list[list[Check]]:
    """Deal checks to so many jobs, in turn: none depends on how fast another is.

    Parameters
    ----------
    checks : sequence of Check
        In the order in which to run them, which each job keeps.
    jobs : int
        How many; the first has all that is large.
    """
    turns = itertools.cycle(range(jobs))
    turn = {item.id: 0 if item.id in LARGE else next(turns) for item in checks}
    return [[item for item in checks if turn[item.id] == job] for job in range(jobs)]
