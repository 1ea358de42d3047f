"""What a comparison found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ropespec.conformance.compare.change import Change
from ropespec.conformance.compare.logits import Drift
from ropespec.conformance.compare.measure import Held, Worst
from ropespec.conformance.compare.search import Parting

__all__ = ["Band", "ByDtype", "Comparison", "Outcome", "Permutation", "Relation", "SideReport"]


class Relation(StrEnum):
    """How two sides stand to each other."""

    INTERCHANGEABLE = "interchangeable"
    AFTER_CHANGE = "after change"
    PART = "part"
    DIFFER = "differ"


@dataclass(frozen=True, slots=True)
class Band:
    """The largest difference at positions up to a limit.

    Attributes
    ----------
    up_to : int
        The limit.
    absolute, ulp, joint : float
        The difference over the length of its pair, in units of the last place, and over the joint
        budget.
    """

    up_to: int
    absolute: float
    ulp: float
    joint: float


@dataclass(frozen=True, slots=True)
class ByDtype:
    """What was found for x of one dtype.

    Attributes
    ----------
    dtype : str
        Of x.
    cases : int
        Inputs that both answered.
    reach : int
        The largest absolute position that both answered.
    held : tuple of Held
        The precision classes of A and B.
    worst : Worst or None
        The largest difference; None if no input was answered by both.
    parting : Parting or None
        Where they part; None if they do not, as far as positions go.
    bands : tuple of Band
        How the difference grows.
    unexplained : float
        The largest difference over the joint budget where positions do not explain it: before
        they part, or anywhere if they do not.
    problems : tuple of str
        What one side does instead of answering as the other does.
    """

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
    """Both sides compared, as they are or after a change.

    Attributes
    ----------
    by_dtype : tuple of ByDtype
        One for each dtype.
    logits : tuple of Drift
        The drift of logits, for each dtype that both answered.
    """

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
    """The order of channels that makes weights of A weights for B.

    Attributes
    ----------
    head_dim : int
        For which it is written out.
    order : tuple of int
        W_B = W_A[order] for the rows of W_q and W_k within each head.
    result : tuple of int
        The order of turned vectors: that of `order` but where a side moves pairs.
    words : str
        The same in words, for any head_dim.
    """

    head_dim: int
    order: tuple[int, ...]
    result: tuple[int, ...]
    words: str


@dataclass(frozen=True, slots=True)
class SideReport:
    """What is said of one side.

    Attributes
    ----------
    target : str
        As given.
    profile : mapping
        What it was called with.
    convention : str
        What was identified, in one line.
    environment : mapping
        Versions.
    remarks : tuple of str
        What is unusual about it.
    lacks : tuple of str
        What this system could not keep it from.
    stragglers : mapping of str to int
        Processes that outlived it and were ended.
    """

    target: str
    profile: Mapping[str, Any]
    convention: str
    environment: Mapping[str, str]
    remarks: tuple[str, ...]
    lacks: tuple[str, ...] = ()
    stragglers: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that was found about A and B.

    Attributes
    ----------
    a, b : SideReport
        The sides.
    relation : Relation
        How they stand to each other.
    direct : Outcome
        Compared as they are.
    change : Change or None
        What B needs to do what A does.
    permutation : Permutation or None
        The channels of that change.
    changed : Outcome or None
        Compared after it.
    seed : int
        Of the cases.
    seconds : float
        How long it took.
    """

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
