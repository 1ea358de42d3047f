"""What a block shows, and what all of them show together: plain values."""

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Element", "Found", "Tally", "nearest"]


@dataclass(frozen=True, slots=True)
class Element:
    """One component of a result.

    Attributes
    ----------
    ratio : float
        Its error as a part of what is allowed.
    error : float
        abs(got - expected).
    position, component : int
        Where it is.
    x : str
        What was rotated, in words.
    got, expected : float
        What came back, and the exact value.
    """

    ratio: float
    error: float
    position: int
    component: int
    x: str
    got: float
    expected: float


@dataclass(frozen=True, slots=True)
class Found:
    """What came of one block.

    Attributes
    ----------
    number : int
        Of the block.
    elements : int
        Components that were judged.
    wrong : int
        Those whose error is above what is allowed.
    first : int or None
        The position nearest to 0 at which one is; None where none is.
    worst : Element or None
        The one with the largest part of what is allowed; None where nothing came back.
    decades : mapping of str to pair of float
        Largest ratio and largest error of unit inputs at positions of k digits, by k.
    digest : str
        SHA-256 of the bytes that came back.
    trouble : str
        Why nothing came back; empty if something did.
    """

    number: int
    elements: int
    wrong: int
    first: int | None
    worst: Element | None
    decades: Mapping[str, tuple[float, float]]
    digest: str
    trouble: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Found":
        """Read what `as_dict` wrote."""
        worst = found["worst"]
        decades = {digits: (pair[0], pair[1]) for digits, pair in found["decades"].items()}
        return cls(**{**found, "worst": Element(**worst) if worst else None, "decades": decades})


@dataclass(slots=True)
class Tally:
    """What the blocks show together; the order in which they are added changes nothing.

    Attributes
    ----------
    elements, wrong, first
        As in `Found`.
    worst : Element or None
        Of all blocks.
    decades : dict
        As in `Found`.
    troubles : dict of int to str
        The blocks of which nothing came back.
    digests : dict of int to str
        The digest of each block.
    """

    elements: int = 0
    wrong: int = 0
    first: int | None = None
    worst: Element | None = None
    decades: dict[str, tuple[float, float]] = field(default_factory=dict)
    troubles: dict[int, str] = field(default_factory=dict)
    digests: dict[int, str] = field(default_factory=dict)

    def add(self, found: Found) -> None:
        """Take note of a block."""
        self.elements += found.elements
        self.wrong += found.wrong
        self.first = nearest(self.first, found.first)
        self.digests[found.number] = found.digest
        if found.trouble:
            self.troubles[found.number] = found.trouble
        if found.worst is not None and (
            self.worst is None or _order(found.worst) > _order(self.worst)
        ):
            self.worst = found.worst
        for digits, (ratio, error) in found.decades.items():
            before = self.decades.get(digits, (0.0, 0.0))
            self.decades[digits] = (max(before[0], ratio), max(before[1], error))

    @property
    def holds(self) -> bool:
        """Whether every component of every block was judged and none is wrong."""
        return not self.wrong and not self.troubles and self.elements > 0

    @property
    def digest(self) -> str:
        """SHA-256 of the digests of all blocks, in the order of the plan."""
        whole = hashlib.sha256()
        for number in sorted(self.digests):
            whole.update(self.digests[number].encode())
        return whole.hexdigest()


def nearest(*positions: int | None) -> int | None:
    """Return the position nearest to 0; None where there is none."""
    return min((one for one in positions if one is not None), key=abs, default=None)


def _order(element: Element) -> tuple[float, int, int]:
    """Which of two is the worse; the lower position where both are as bad."""
    return element.ratio, -abs(element.position), -element.component
