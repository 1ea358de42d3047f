"""The verdict as values: closed statuses, one result per check, one verdict per subject."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

from ropespec.conformance.draft import Draft
from ropespec.conformance.judge.fault import Fault
from ropespec.conformance.judge.precision import PRECISIONS
from ropespec.spec.api import PARTS
from ropespec.spec.clauses import clauses

__all__ = [
    "NOTHING_COVERED",
    "NOT_RUN",
    "OVERDUE",
    "CheckResult",
    "Contract",
    "Counterexample",
    "Diagnosis",
    "Kind",
    "Measured",
    "Numbers",
    "Rank",
    "Remedy",
    "Status",
    "Verdict",
    "kind_of",
]

NOT_RUN = "not run: "
"""How the message of a skip begins that says nothing of the subject's claims."""

OVERDUE = f"{NOT_RUN}the deadline"
"""How the message of a check begins that the deadline of the run left no time for."""

NOTHING_COVERED: Mapping[str, Any] = {
    "levels": 2,
    "combinations": 0,
    "of": 0,
    "positions": (),
    "left_out": (),
    "checks": {},
}

Kind = Literal["numbers", "contract"]
Numbers = Literal["right", "wrong", "not judged"]
Contract = Literal["kept", "broken", "not judged"]


def kind_of(clause: str) -> Kind:
    """Return which question a clause belongs to: are the numbers right, is the contract kept."""
    known = clauses().get(clause)
    return "contract" if known is not None and known.chapter in PARTS["The API"] else "numbers"


class Status(StrEnum):
    """What became of a check. Nothing that did not run is ever called a pass."""

    PASS = "pass"  # noqa: S105  # no password
    FAIL = "fail"
    ERROR = "error"  # the subject raised
    CRASH = "crash"  # its process died
    TIMEOUT = "timeout"  # it did not answer within the deadline
    SKIP = "skip"  # not claimed, or not possible here; the message says which

    @property
    def conforms(self) -> bool:
        """Whether a subject with this result may still conform."""
        return self in (Status.PASS, Status.SKIP)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The smallest input found on which a check fails.

    Attributes
    ----------
    case : dict
        The drawn case as plain values: shapes, dtype, kind of positions and values, seed.
    inputs : dict
        Small inputs in full, as nested lists; larger ones as a description.
    where : str
        The worst element, such as `y[0, 0, 0, 1]`.
    expected, got, budget : float or None
        The exact value there, the subject's, and the largest error allowed.
    script : str
        A short Python script that shows it with NumPy and the subject alone; empty unless it was
        run and did.
    smallest : bool
        Whether smaller cases were looked for to the end, and none was found.
    off, of : int or None
        How many elements exceed their budget, and of how many; None where none were counted.
    no_script : str
        Why there is no script; empty where there is one.
    drafts : tuple of Draft
        Scripts that may show it, and were not run yet; see `report.proof`.
    """

    case: dict[str, Any]
    inputs: dict[str, Any]
    where: str
    expected: float | None
    got: float | None
    budget: float | None
    script: str = ""
    off: int | None = None
    of: int | None = None
    no_script: str = ""
    drafts: tuple[Draft, ...] = ()
    smallest: bool = True


class Rank(StrEnum):
    """How much of a diagnosis was confirmed."""

    ALONE = "exact, alone"
    EQUALS = "exact, with equals"
    FREE = "one stage as measured, the rest confirmed"
    FACTS = "facts only"


@dataclass(frozen=True, slots=True)
class Measured:
    """How much of one part of what was asked is wrong, and how far it is off.

    Attributes
    ----------
    by, at : str
        The part: `position` and `10 to 99`, `pair` and `3`, `dtype`, `tokens`, `call`.
    wrong, of : int
        How many components are wrong, and of how many.
    off : float or None
        By how much the worst is off, in units of the largest component of its token; None where
        it is no number.
    """

    by: str
    at: str
    wrong: int
    of: int
    off: float | None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A mistake that was reproduced or measured, or what was measured of one that was not.

    Attributes
    ----------
    id : str
        In the catalogue of real defects; empty for a mistake that is not in it.
    name : str
        In a few words; `unknown` if nothing that was tried explains it.
    sentence : str
        What is done, with its numbers, and the remedy.
    where : str
        In which calls, tokens or pairs.
    evidence : str
        How much of how many fresh calls it explains, or what was seen.
    rank : Rank
        How much was confirmed.
    equals : tuple of str
        Mistakes that cannot be told apart from it.
    measured : tuple of Measured
        Of a mistake that nothing explains: by how much it is wrong, part by part.
    """

    id: str
    name: str
    sentence: str
    where: str = ""
    evidence: str = ""
    rank: Rank = Rank.FACTS
    equals: tuple[str, ...] = ()
    measured: tuple[Measured, ...] = ()

    @property
    def label(self) -> str:
        """Id and name; empty where nothing is known."""
        return "" if self.name == "unknown" else f"{self.id} {self.name}".strip()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "id": self.id,
            "name": self.name,
            "sentence": self.sentence,
            "where": self.where,
            "evidence": self.evidence,
            "rank": str(self.rank),
            "equals": list(self.equals),
            "measured": [asdict(one) for one in self.measured],
        }


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check of one subject.

    Attributes
    ----------
    id, clause : str
        The check, such as `ROT-6.value`, and the clause it belongs to.
    title : str
        The title of the clause.
    sentence : str
        The mistake the check is looking for.
    status : Status
        What became of it.
    examples : int
        How many cases were run.
    worst : float or None
        The largest error / budget seen; at most 1 passes.
    message : str
        Empty for a pass; one or two sentences otherwise.
    counterexample : Counterexample or None
        For a failure that has one.
    general : bool
        Whether it fails with almost any mistake, and so points at none in particular.
    diagnosis : tuple of Diagnosis
        For a failure, the mistakes that explain it.
    seconds : float
        Time spent.
    stateful : bool
        Whether the case passes on a fresh instance, so that calls before it are to blame. Asked of
        the first failure and of the first error only.
    cut : bool
        Whether fewer cases were drawn than usual, because the subject is slow.
    waived : mapping of str to str
        Of a failure, the waivers that cover it, by clause or check, and the reason of each.
    fault : Fault or None
        Of a failure, what kind it is; None for one that has its message alone.
    """

    id: str
    clause: str
    title: str
    sentence: str
    status: Status
    examples: int = 0
    worst: float | None = None
    message: str = ""
    counterexample: Counterexample | None = None
    general: bool = False
    diagnosis: tuple[Diagnosis, ...] = ()
    seconds: float = 0.0
    stateful: bool = False
    cut: bool = False
    waived: Mapping[str, str] = field(default_factory=dict)
    fault: Fault | None = None

    @property
    def kind(self) -> Kind:
        """Which question it belongs to."""
        return kind_of(self.clause)


@dataclass(frozen=True, slots=True)
class Remedy:
    """Claims under which failures that were seen vanish; each was tried.

    Attributes
    ----------
    claims : mapping of str to object
        Changes of the profile, by claim; empty if no claim helps.
    failures : int
        How many failures there are without it.
    tried : int
        How many of these were tried again under the changed profile, or left out by it.
    left : int
        How many of those tried still fail.
    waivers : tuple of str
        Clauses that no claim fits, and that may be waived if there is a reason.
    """

    claims: Mapping[str, Any]
    failures: int
    tried: int
    left: int
    waivers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything `ropespec check` found out about one subject.

    Attributes
    ----------
    subject : str
        The target as given.
    profile : dict
        The claims it was judged under.
    seed : int
        The seed of all cases.
    precision_by_dtype : dict of str to str
        The best precision class that held, per dtype of x; `none` where none did.
    checks : tuple of CheckResult
        In the order of the specification.
    environment : dict of str to str
        Versions and machine.
    duration : float
        Seconds.
    spent : mapping of str to float
        What they went into, in all jobs together: drawing, calling, talking, judging; see
        `ropespec.conformance.spent`.
    head_dims : tuple of int
        Those of the claimed sizes that something was rotated at.
    coverage : mapping
        What of the input space was judged; see `ropespec.conformance.coverage.tally`.
    diagnosis : tuple of Diagnosis
        The mistakes that explain the failures, the numbers first; empty if it conforms.
    waivers : mapping of str to str
        The failures that are waived, by clause or check, and why.
    unneeded : mapping of str to str
        The waivers that nothing needs, and what became of their checks.
    remedy : Remedy or None
        The claims that fit what failed, where they were looked for.
    lacks : tuple of str
        What this system could not keep the subject from, one clause each.
    stragglers : mapping of str to int
        Processes that outlived the subject and were ended: how many of each name.
    style : mapping or None
        How a style binds it, as `subject.styled.Styled` says it; None where none does.
    """

    subject: str
    profile: dict[str, Any]
    seed: int
    precision_by_dtype: dict[str, str]
    checks: tuple[CheckResult, ...]
    environment: dict[str, str] = field(default_factory=dict)
    duration: float = 0.0
    spent: Mapping[str, float] = field(default_factory=dict)
    head_dims: tuple[int, ...] = ()
    coverage: Mapping[str, Any] = field(default_factory=lambda: dict(NOTHING_COVERED))
    diagnosis: tuple[Diagnosis, ...] = ()
    waivers: Mapping[str, str] = field(default_factory=dict)
    unneeded: Mapping[str, str] = field(default_factory=dict)
    remedy: Remedy | None = None
    lacks: tuple[str, ...] = ()
    stragglers: Mapping[str, int] = field(default_factory=dict)
    style: Mapping[str, Any] | None = None

    @property
    def precision(self) -> str:
        """The best class that held for all dtypes: the least precise of those measured."""
        order = [*PRECISIONS, "none"]
        return max(self.precision_by_dtype.values(), key=order.index, default="none")

    @property
    def numbers(self) -> Numbers:
        """Whether the numbers are right: a waiver makes none right that is wrong."""
        found = {result.status for result in self.checks if result.kind == "numbers"}
        if Status.FAIL in found:
            return "wrong"
        return "right" if Status.PASS in found else "not judged"

    @property
    def contract(self) -> Contract:
        """Whether the contract is kept, which nothing does that raises, dies or does not answer."""
        if self.deviations:
            return "broken"
        passed = (
            result.status is Status.PASS for result in self.checks if result.kind == "contract"
        )
        return "kept" if any(passed) else "not judged"

    @property
    def deviations(self) -> tuple[CheckResult, ...]:
        """What breaks the contract, waived or not: clauses of the contract before the others."""
        found = [
            result
            for result in self.checks
            if not result.status.conforms
            and (result.kind == "contract" or result.status is not Status.FAIL)
        ]
        return tuple(sorted(found, key=lambda result: result.kind != "contract"))

    @property
    def failures(self) -> tuple[CheckResult, ...]:
        """The checks that failed unwaived, those that point at a mistake before the others."""
        failed = [one for one in self.checks if not one.status.conforms and not one.waived]
        return tuple(sorted(failed, key=lambda result: result.general))

    @property
    def waived(self) -> tuple[CheckResult, ...]:
        """The failures that are waived."""
        return tuple(result for result in self.checks if result.waived)

    @property
    def overdue(self) -> int:
        """How many checks the deadline of the run left no time for."""
        return sum(result.message.startswith(OVERDUE) for result in self.checks)

    @property
    def undecided(self) -> bool:
        """Whether nothing failed, but the deadline left checks out."""
        return bool(self.overdue) and not self.failures

    @property
    def judged(self) -> bool:
        """Whether any check ran."""
        return any(result.status is not Status.SKIP for result in self.checks)

    @property
    def conforms(self) -> bool:
        """Whether nothing failed unwaived, a check ran, and none was left out for want of time.

        A waiver that nothing needs is no fault of the subject; see `unneeded`.
        """
        return self.judged and not self.failures and not self.overdue
