"""The search for a case on which a check fails, and for a smaller one: Hypothesis, kept brief."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, Phase, Verbosity, given, reject, seed, settings
from hypothesis.strategies import SearchStrategy

from ropespec.conformance.case import Case, seed_of
from ropespec.conformance.judge.finding import Finding
from ropespec.conformance.subject.errors import (
    NotClaimed,
    NotPossible,
    SubjectCrashed,
    SubjectError,
    SubjectTimeout,
)
from ropespec.conformance.trial import Effort
from ropespec.conformance.undisturbed import undisturbed

__all__ = [
    "EXAMPLES",
    "EXAMPLES_COMPILED",
    "FULL",
    "PATIENCE",
    "PATIENCE_WALKED",
    "SHRINK_CONSEQUENCES",
    "SHRINK_SECONDS",
    "SHRINK_TOGETHER",
    "Enough",
    "Failed",
    "Outcome",
    "Search",
]

EXAMPLES = 24
EXAMPLES_COMPILED = 10
"""Cases of a check where every new shape is compiled, and a case is dear."""

FULL = 10
"""How many times as many are drawn with `--full`."""

PATIENCE = 5.0
"""Seconds after which a check of a slow subject draws no more cases; `--full` waits for all."""

PATIENCE_WALKED = 60.0
"""The same of a check that walks its cases, whatever they are: luck must not choose among them."""

LEAST = 2
"""Cases that each check judges, however slow the subject is."""

SHRINK_SECONDS = 8.0
"""Seconds for making the failing case of one check smaller."""

SHRINK_TOGETHER = 20.0
"""Seconds for that in all checks of a subject."""

SHRINK_CONSEQUENCES = 1000
"""Cases judged for that in all checks that fail with almost any mistake, each its share."""

Outcome = Finding | SubjectError


class Failed(Exception):  # noqa: N818  # the end of a case, and no error of ours
    """Tells Hypothesis that a case failed."""


class Enough(BaseException):
    """Ends a search at once: Hypothesis takes an Exception for one more failure."""


@dataclass(slots=True)
class Search:
    """The cases of one check so far.

    Attributes
    ----------
    effort : Effort
        What making cases smaller has taken, shared by the checks of a subject.
    most : float
        How many cases may be judged after a failure.
    patient : bool
        Whether it waits for every case of a slow subject.
    patience : float
        Seconds after which it else judges no more.
    until : float
        When, by `time.perf_counter`, no smaller case is looked for any more.
    outcomes : dict of Case to Finding or SubjectError
        What became of each case.
    failed : tuple of Case and outcome, or None
        The smallest failure so far.
    worst : float or None
        The largest error / budget of the cases that passed.
    cut : bool
        Whether fewer cases were drawn than asked for.
    smallest : bool
        Whether smaller cases than the one that failed were looked for to the end.
    first : int
        The number of the first case that is drawn.
    """

    effort: Effort = field(default_factory=Effort)
    most: float = math.inf
    patient: bool = False
    patience: float = field(default_factory=lambda: PATIENCE)
    until: float = math.inf
    outcomes: dict[Case, Outcome] = field(default_factory=dict)
    failed: tuple[Case, Outcome] | None = None
    worst: float | None = None
    cut: bool = False
    smallest: bool = True
    first: int = 0
    _numbers: dict[Case, int] = field(default_factory=dict)
    _began: float = field(default_factory=time.perf_counter)
    _failed_at: float = 0.0
    _after: int = 0

    @property
    def judged(self) -> int:
        """How many cases had another outcome than a refusal."""
        return sum(not isinstance(outcome, NotPossible) for outcome in self.outcomes.values())

    @property
    def refused(self) -> NotPossible | None:
        """The first refusal, where every case was one."""
        refusals = (one for one in self.outcomes.values() if isinstance(one, NotPossible))
        return None if self.judged else next(refusals, None)

    def run(
        self, strategy: SearchStrategy[Case], body: Callable[[Case], None], number: int, most: int
    ) -> None:
        """Draw cases until one fails, and then smaller ones that still do.

        Parameters
        ----------
        strategy : SearchStrategy of Case
            What to draw.
        body : callable
            Judges a case, and raises `Failed` after `note_failure`.
        number : int
            Seeds the cases.
        most : int
            How many are drawn where none fails.
        """
        drawn = seed(number)(_settings(most)(given(case=strategy)(self._numbered(body))))
        with undisturbed(), suppress(Failed, Enough):
            drawn()
        if self.failed is None:
            return
        self.effort.seconds += time.perf_counter() - self._failed_at
        if not self.smallest and not self._lost:  # and what was tried last may be larger
            self.failed = min(self._failures(), key=_size)

    def _numbered(self, body: Callable[[Case], None]) -> Callable[[Case], None]:
        """Number the cases, so that what a check chooses by their seed it chooses in turn.

        Of a list no longer than the cases are many no item is then left to luck. Hypothesis, which
        replays cases, meets each as it was, and smaller ones with the number of the one that
        failed, or with a smaller seed if they fail with that too.
        """
        kept: dict[int, int] = {}  # the number of the seed that failed first

        def numbered(case: Case) -> None:
            if case not in self._numbers:
                if self.failed is None:
                    turn = seed_of(self.first + len(self._numbers))
                else:
                    turn = self.failed[0].seed
                self._numbers[case] = kept.get(case.seed, case.seed) if kept else turn
            number = self._numbers[case]
            asked = replace(case, seed=number)
            if self.failed is None and asked in self.outcomes:
                reject()  # another is drawn for it
            try:
                body(asked)
            except Failed:
                if not kept:
                    kept[case.seed] = number
                raise

        def judge(case: Case) -> None:  # Hypothesis takes its source to pieces, so it is short
            numbered(case)

        return judge

    def note_failure(self, case: Case, outcome: Outcome) -> None:
        """Keep a case that failed, the smallest so far."""
        if self.failed is None:
            self._failed_at = time.perf_counter()
        self.failed = (case, outcome)

    def require_more(self) -> None:
        """End the search where no further case is to be judged.

        Before a failure that is for the sake of a slow subject; after it, of whoever waits.
        """
        if self.failed is None:
            late = time.perf_counter() - self._began > self.patience
            self.cut = late and not self.patient and self._tried >= LEAST
            if self.cut:
                raise Enough
            return
        if self._lost or self._is_tired():  # and a lost worker is not worth losing twice
            self.smallest = False
            raise Enough
        self._after += 1

    @property
    def _tried(self) -> int:
        """How many cases were asked of the subject; one that raises under a transform is slow."""
        return sum(not isinstance(outcome, NotClaimed) for outcome in self.outcomes.values())

    @property
    def _lost(self) -> bool:
        return self.failed is not None and isinstance(
            self.failed[1], (SubjectCrashed, SubjectTimeout)
        )

    def _failures(self) -> Iterator[tuple[Case, Outcome]]:
        for case, outcome in self.outcomes.items():
            passed = isinstance(outcome, Finding) and outcome.passed
            if not passed and not isinstance(outcome, NotPossible):
                yield case, outcome

    def _is_tired(self) -> bool:
        left = min(SHRINK_SECONDS, SHRINK_TOGETHER - self.effort.seconds)
        tired = min(self._failed_at + left, self.until)
        return self._after >= self.most or time.perf_counter() > tired


def _size(failure: tuple[Case, Outcome]) -> tuple[int, int]:
    case, _ = failure
    return math.prod(case.shape), case.start


def _settings(examples: int) -> settings:
    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.target, Phase.shrink),
        verbosity=Verbosity.quiet,
    )
