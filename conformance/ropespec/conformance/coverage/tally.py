"""What was covered: counted while it is judged, said once in the verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ropespec.conformance.coverage.array import PAIRS, Levels, combined
from ropespec.conformance.coverage.left_out import left_out
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.profile import Profile

__all__ = ["Covered"]


@dataclass(frozen=True, slots=True)
class _Counted:
    calls: int
    found: int
    of: int
    strength: int


@dataclass(slots=True)
class Covered:
    """What of the input space has been judged so far.

    Attributes
    ----------
    positions : tuple of int
        The first and the last of those that were all visited; empty for none.
    slow : set of int
        Sizes, in elements, of calls that were left out because the subject is slow.
    pace : float
        Seconds for an element of the largest call so far.
    counted : dict
        What was judged of each walk, by check.
    """

    positions: tuple[int, ...] = ()
    slow: set[int] = field(default_factory=set)
    pace: float = 0.0
    counted: dict[str, _Counted] = field(default_factory=dict)

    def note(self, check: str, seen: Sequence[Levels], walk: Walk) -> None:
        """Count what was judged of a walk; all of its positions, or none."""
        if len(seen) == len(walk.rows):
            self.positions = walk.positions or self.positions
        found = combined(seen, walk.strength)
        if walk.combinations:
            self.counted[check] = _Counted(len(seen), found, walk.combinations, walk.strength)

    def add(self, others: "Covered") -> None:
        """Count what others have judged as well."""
        self.positions = others.positions or self.positions
        self.slow |= others.slow
        self.pace = max(self.pace, others.pace)
        self.counted |= others.counted

    def as_dict(self, profile: Profile) -> dict[str, Any]:
        """Return plain values: what was covered, and what the profile and its framework left out.

        `combinations` and `of` count pairs of levels, or triples where any were asked for, which
        `levels` says.
        """
        strength = max((one.strength for one in self.counted.values()), default=PAIRS)
        most = [one for one in self.counted.values() if one.strength == strength]
        return {
            "levels": strength,
            "combinations": sum(one.found for one in most),
            "of": sum(one.of for one in most),
            "positions": list(self.positions),
            "left_out": [*left_out(profile), *map(_too_slow, sorted(self.slow))],
            "checks": {
                check: {"calls": one.calls, "combinations": one.found, "of": one.of}
                for check, one in self.counted.items()
            },
        }


def _too_slow(elements: int) -> str:
    return f"calls of {elements:,} elements: it is slow"
