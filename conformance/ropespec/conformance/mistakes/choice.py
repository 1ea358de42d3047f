"""A choice at a stage of the chain, with the mistake that it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ropespec.conformance.mistakes.chain import RIGHT, Chain, Place

__all__ = ["Choice", "Shown"]


@dataclass(frozen=True, slots=True)
class Shown:
    """A wrong implementation that makes a choice, and is right otherwise.

    Attributes
    ----------
    name : str
        In the zoo.
    checks : tuple of str
        Those that must fail on it, the most telling first.
    claims : mapping
        Under which it is wrong; half-split unless it says otherwise.
    """

    name: str
    checks: tuple[str, ...]
    claims: Mapping[str, Any] = field(hash=False)

    @classmethod
    def by(cls, name: str, *checks: str, **claims: object) -> "Shown":
        """Write it as a call."""
        return cls(name, checks, claims)


_STAGES = ("call", "place", "frequency", "angle", "table", "pairing", "product", "tail", "store")


def _of_changed(first: Place, other: Place) -> Place:
    return lambda given: first(replace(given, positions=other(given)[..., 0, 0]))


@dataclass(frozen=True, slots=True)
class Choice:
    """What is done at one stage, or at several that go together.

    Attributes
    ----------
    key : str
        The mistake in the catalogue: its id, or its name where it has none.
    stage : str
        Where in the chain it stands.
    what : str
        What is done there, in words with the fitted numbers.
    change : mapping
        The stages that are replaced.
    cost : float
        How much is assumed: 1 for a choice without numbers, more for each number that is fitted.
    free : bool
        Whether a stage is filled with what was measured, so that only the others are confirmed.
    shown : tuple of Shown
        Wrong implementations of the zoo that make it.
    """

    key: str
    stage: str
    what: str
    change: Mapping[str, Any] = field(hash=False)
    cost: float = 1.0
    free: bool = False
    shown: tuple[Shown, ...] = ()

    def chain(self, base: Chain = RIGHT) -> Chain:
        """Return a chain with this choice, in what is nudged as well."""
        if "nudged" not in self.change and not base.nudged:
            return replace(base, **self.change)
        change = {stage: it for stage, it in self.change.items() if stage in _STAGES}
        rest = {stage: getattr(base, stage) for stage in _STAGES if stage not in change}
        nudged = (
            *(replace(it, **rest) for it in self.change.get("nudged", ())),
            *(replace(it, **change) for it in base.nudged),
        )
        return replace(base, **{**self.change, "nudged": nudged})

    def and_also(self, other: "Choice") -> "Choice":
        """Return both choices as one; the first one's name is kept.

        Two places follow one another: the first is taken of positions that the other has changed.
        """
        change = {**self.change, **other.change}
        if "place" in self.change and "place" in other.change:
            change["place"] = _of_changed(self.change["place"], other.change["place"])
        for one, more in ((self, other), (other, self)):
            if "nudged" in one.change:
                rest = {stage: it for stage, it in more.change.items() if stage != "nudged"}
                change["nudged"] = tuple(replace(it, **rest) for it in one.change["nudged"])
        return Choice(
            f"{self.key} + {other.key}",
            f"{self.stage} and {other.stage}",
            f"{self.what}; {other.what}",
            change,
            self.cost + other.cost,
            self.free or other.free,
        )
