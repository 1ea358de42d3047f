"""The order in which checks are run: those first that tell most, and soon."""

from collections.abc import Sequence

from ropespec.conformance.registry import Check

__all__ = ["FIRST", "LAST", "telling_first"]

FIRST = ("ROT-6.value", "ROT-7.value")
"""Almost any mistake makes them fail: one of them is enough for a first answer."""


LAST = ("ROT-17.arguments",)
"""What is found by all that the other checks ask."""


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
        late = item.explain is not None or item.id in LAST
        return late, item.id not in FIRST, item.general, item.kind != "contract"

    return tuple(sorted(checks, key=place))
