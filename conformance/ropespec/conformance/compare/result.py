"""What a comparison found, as plain values; `report/compare.schema.json` says what each of them is.

Beside the names of the schema stand those that only the report needs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ropespec.conformance.compare.search import Parting
from ropespec.conformance.compare.turn import Change
from ropespec.conformance.judge.precision import Precision

__all__ = [
    "Band",
    "ByDtype",
    "Comparison",
    "Drift",
    "Held",
    "Outcome",
    "Permutation",
    "Relation",
    "SideReport",
    "Worst",
]


class Relation(StrEnum):
    """How two sides stand to each other."""

    INTERCHANGEABLE = "interchangeable"
    AFTER_CHANGE = "after change"
    PART = "part"
    DIFFER = "differ"


@dataclass(frozen=True, slots=True)
class Held:
    """The precision class under which a side is compared, at one dtype of x.

    Its source is `claimed`, `measured`, or `assumed` where no class holds or none can be measured.
    """

    precision: Precision
    source: str

    @property
    def name(self) -> str:
        """Return the name of the class, or `none` where none holds."""
        return "none" if self.source == "assumed" else self.precision.name


@dataclass(frozen=True, slots=True)
class Worst:
    """The largest difference over the joint budget and where it was; the largest of the others."""

    joint: float
    strict: float
    ulp: float
    case: Mapping[str, Any]
    element: str
    position: int
    a: float
    b: float


@dataclass(frozen=True, slots=True)
class Band:
    """The largest difference at positions up to a limit.

    `absolute` is over the length of its pair, `joint` over the joint budget.
    """

    up_to: int
    absolute: float
    ulp: float
    joint: float


@dataclass(frozen=True, slots=True)
class Drift:
    """The largest change of a logit q . k / sqrt(head_dim) when k comes from B instead of A."""

    dtype: str
    head_dim: int
    query: int
    distances: tuple[int, ...]
    drift: tuple[float, ...]
    bound: tuple[float, ...]
    largest: float
    ratio: float
    at: int


@dataclass(frozen=True, slots=True)
class ByDtype:
    """What was found for x of one dtype; `held` are the precision classes of A and B."""

    dtype: str
    cases: int
    reach: int
    held: tuple[Held, Held]
    worst: Worst | None
    parting: Parting | None
    bands: tuple[Band, ...]
    unexplained: float = 0.0
    problems: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether they differ by no more than rounding in the better of both classes."""
        within = self.worst is not None and self.worst.strict <= 1.0
        return within and self.parting is None and not self.problems

    @property
    def near(self) -> bool:
        """Whether they agree until they part, or differ by their precision classes alone."""
        if self.worst is None or self.problems or self.unexplained > 1.0:
            return False
        if self.worst.joint <= 1.0:
            return True
        return self.parting is None or self.parting.negative or self.parting.agree_to > 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Both sides compared, as they are or after a change."""

    by_dtype: tuple[ByDtype, ...]
    logits: tuple[Drift, ...]

    @property
    def agrees(self) -> bool:
        """Whether they agree at every dtype."""
        return all(one.agrees for one in self.by_dtype)

    @property
    def near(self) -> bool:
        """Whether they agree at small positions at least, at every dtype."""
        return all(one.near for one in self.by_dtype)


@dataclass(frozen=True, slots=True)
class Permutation:
    """The order of channels that makes weights of A weights for B."""

    head_dim: int
    order: tuple[int, ...]
    result: tuple[int, ...]
    words: str


@dataclass(frozen=True, slots=True)
class SideReport:
    """What is said of one side; its remarks are how it differs from the specification.

    Its scaling is empty where no convention is known.
    """

    target: str
    profile: Mapping[str, Any]
    convention: str
    environment: Mapping[str, str]
    remarks: tuple[str, ...]
    scaling: str = ""
    lacks: tuple[str, ...] = ()
    stragglers: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that was found about A and B."""

    a: SideReport
    b: SideReport
    relation: Relation
    direct: Outcome
    change: Change | None
    permutation: Permutation | None
    changed: Outcome | None
    seed: int
    seconds: float

    @property
    def interchangeable(self) -> bool:
        """Whether one can stand for the other as it is."""
        return self.relation is Relation.INTERCHANGEABLE
