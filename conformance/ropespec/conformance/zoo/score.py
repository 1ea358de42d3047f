"""The score of the suite: what it catches, names and spares in the zoo, and which checks idle."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from ropespec.conformance.diagnosis import diagnose
from ropespec.conformance.frameworks import DEFAULT
from ropespec.conformance.mistakes.catalogue import CATALOGUE
from ropespec.conformance.registry import all_checks
from ropespec.conformance.results import CheckResult, Diagnosis, Status, Verdict
from ropespec.conformance.runner import Plan, run
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.zoo.entry import Right, Wrong
from ropespec.conformance.zoo.pool import each

__all__ = ["NAMED_TARGET", "Score", "Scored", "score", "score_one"]

NAMED_TARGET = 0.95
SHORT, LONGEST = 5.0, 60.0

Entry = Wrong | Right


@dataclass(frozen=True, slots=True)
class Scored:
    """One entry under the whole suite, with one seed.

    Attributes
    ----------
    name, catalogue, sentence : str
        Of the entry; no id for a right one.
    is_wrong : bool
        Whether it is one that must fail.
    seed : int
        The seed of all cases.
    failed : tuple of str
        The checks that did not pass, those that point at a mistake before the others.
    telling : tuple of str
        Those of them that point at a mistake.
    skipped : tuple of str
        The checks that did not run.
    diagnosis : tuple of str
        The names of the mistakes, by id where they have one.
    named : bool or None
        Whether the diagnosis is right: the name of the entry is among them. An entry that
        has no name cannot be named. None for an entry that did not fail.
    first_failure : float or None
        Seconds from the start, loading included, to the first failed check.
    seconds : float
        For loading and the whole suite.
    """

    name: str
    catalogue: str
    sentence: str
    is_wrong: bool
    seed: int
    failed: tuple[str, ...]
    telling: tuple[str, ...]
    skipped: tuple[str, ...]
    diagnosis: tuple[str, ...]
    named: bool | None
    first_failure: float | None
    seconds: float

    @property
    def as_it_should(self) -> bool:
        """Whether a wrong one was caught, and a right one passed."""
        return bool(self.failed) == self.is_wrong

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "name": self.name,
            "catalogue": self.catalogue,
            "kind": "wrong" if self.is_wrong else "right",
            "sentence": self.sentence,
            "seed": self.seed,
            "caught": bool(self.failed) if self.is_wrong else None,
            "false_alarm": None if self.is_wrong else bool(self.failed),
            "failed": list(self.failed),
            "telling": list(self.telling),
            "diagnosis": list(self.diagnosis),
            "named": self.named,
            "first_failure": None if self.first_failure is None else round(self.first_failure, 3),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Score:
    """The score of the suite on a zoo.

    Attributes
    ----------
    scored : tuple of Scored
        One per entry and seed.
    whole : bool
        Whether these are all entries, so that a check that kills nothing is idle.
    """

    scored: tuple[Scored, ...]
    whole: bool

    @property
    def wrong(self) -> tuple[Scored, ...]:
        """The wrong implementations."""
        return tuple(item for item in self.scored if item.is_wrong)

    @property
    def missed(self) -> tuple[str, ...]:
        """Wrong implementations that passed."""
        return tuple(item.name for item in self.wrong if not item.failed)

    @property
    def false_alarms(self) -> tuple[str, ...]:
        """Right implementations that failed, each once."""
        bad = [item.name for item in self.scored if not item.is_wrong and item.failed]
        return tuple(dict.fromkeys(bad))

    @property
    def unnamed(self) -> tuple[str, ...]:
        """Wrong implementations that were caught and not named."""
        return tuple(item.name for item in self.wrong if item.named is False)

    @property
    def named_share(self) -> float:
        """Which part of the wrong ones was caught and named."""
        named = sum(item.named is True for item in self.wrong)
        return named / len(self.wrong) if self.wrong else 1.0

    @property
    def idle(self) -> tuple[str, ...]:
        """Checks that fail on no wrong implementation; empty where only some were scored."""
        if not self.whole:
            return ()
        kills = {id_ for item in self.wrong for id_ in item.failed}
        return tuple(check.id for check in all_checks() if check.id not in kills)

    @property
    def without_own_killer(self) -> tuple[str, ...]:
        """Clauses for which no wrong implementation fails in telling checks of theirs alone."""
        if not self.whole:
            return ()
        own = set()
        for item in self.wrong:
            hit = {id_.rpartition(".")[0] for id_ in item.telling or item.failed}
            own |= hit if len(hit) == 1 else set()
        clauses = dict.fromkeys(check.clause for check in all_checks())
        return tuple(clause for clause in clauses if clause not in own)

    @property
    def met(self) -> bool:
        """Whether all targets are met: all caught, enough named, no false alarm, none idle."""
        enough = self.named_share >= NAMED_TARGET
        return enough and not (self.missed or self.false_alarms or self.idle)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "wrong": len(self.wrong),
            "right": len(self.scored) - len(self.wrong),
            "missed": list(self.missed),
            "unnamed": list(self.unnamed),
            "named_share": round(self.named_share, 4),
            "false_alarms": list(self.false_alarms),
            "idle_checks": list(self.idle),
            "clauses_without_own_killer": list(self.without_own_killer),
            "met": self.met,
            "subjects": [item.as_dict() for item in self.scored],
        }


def score(
    entries: Iterable[Entry],
    *,
    seed: int = 0,
    seeds: int = 1,
    whole: bool = False,
    workers: int | None = None,
    on_done: Callable[[Scored, int, int], None] | None = None,
) -> Score:
    """Run the whole suite on entries of the zoo, several at a time.

    Each entry is judged in a process of its own, for judging is work of one core.

    Parameters
    ----------
    entries : iterable of Wrong or Right
        What is scored.
    seed : int
        The seed of all cases.
    seeds : int
        With how many seeds, from `seed` on, the right ones are run.
    whole : bool
        Whether `entries` is the whole zoo.
    workers : int or None
        How many at a time; None for one per core.
    on_done : callable or None
        Called with each result, how many are done, and how many there are.
    """
    tasks = [
        (replace(entry, function=None), seed + step)
        for entry in entries
        for step in range(seeds if isinstance(entry, Right) else 1)
    ]
    found: dict[int, Scored] = {}
    count = min(workers or os.cpu_count() or 1, max(len(tasks), 1))
    with closing(each(score_one, tasks, count)) as done:
        for i, item in done:
            found[i] = item
            if on_done is not None:
                on_done(item, len(found), len(tasks))
    return Score(tuple(found[i] for i in sorted(found)), whole)


def score_one(entry: Entry, seed: int = 0) -> Scored:
    """Run the whole suite on one entry, and diagnose it if it fails."""
    began = time.perf_counter()
    failures: list[float] = []

    def watch(result: CheckResult, index: int, total: int) -> None:
        del index, total
        if not result.status.conforms:
            failures.append(time.perf_counter() - began)

    verdict = _verdict(entry, seed, watch)
    seconds = time.perf_counter() - began
    given = () if verdict.conforms else _names(_diagnosis(entry, verdict))
    failed = verdict.failures
    is_wrong = isinstance(entry, Wrong)
    id_ = entry.catalogue if isinstance(entry, Wrong) else ""
    return Scored(
        entry.name,
        id_,
        entry.sentence,
        is_wrong,
        seed,
        failed=tuple(result.id for result in failed),
        telling=tuple(result.id for result in failed if not result.general),
        skipped=tuple(r.id for r in verdict.checks if r.status is Status.SKIP),
        diagnosis=given,
        named=_is_named(id_, given) if is_wrong and failed else None,
        first_failure=failures[0] if failures else None,
        seconds=seconds,
    )


def _session(entry: Entry) -> Session:
    timeout = SHORT if entry.profile.array == DEFAULT else LONGEST
    return Session(load(entry.target), entry.profile, timeout=timeout)


def _verdict(entry: Entry, seed: int, watch: Callable[[CheckResult, int, int], None]) -> Verdict:
    with _session(entry) as session:
        return run(session, Plan(seed=seed), watch)


def _diagnosis(entry: Entry, verdict: Verdict) -> Sequence[Diagnosis]:
    """Diagnose a fresh instance: what the checks left behind is no part of it."""
    with _session(entry) as session:
        return diagnose(session, verdict.checks)


def _names(found: Sequence[Diagnosis]) -> tuple[str, ...]:
    """Return the names that are given, by id where they have one, with those they equal."""
    return tuple(
        dict.fromkeys(
            name
            for item in found
            for name in (item.id or item.name, *(_short(other) for other in item.equals))
        )
    )


def _short(label: str) -> str:
    """Return the id of a label, or the whole of it where it has none."""
    word = label.partition(" ")[0]
    return word if word in CATALOGUE else label


def _is_named(name: str, given: Sequence[str]) -> bool:
    return bool(name) and name in given
