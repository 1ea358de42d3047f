"""Checks and their registration: a check belongs to a clause and names the mistake it tempts."""

import functools
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from ropespec.conformance.case import Case, Space
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge.finding import Finding
from ropespec.conformance.results import Kind, kind_of
from ropespec.conformance.trial import Trial
from ropespec.conformance.unscaled import reason_to_skip as unscaled
from ropespec.spec import clauses

__all__ = [
    "OTHER_LAYOUT",
    "Applies",
    "Check",
    "Judge",
    "Walker",
    "all_checks",
    "always",
    "check",
    "walks",
]

Judge = Callable[[Trial, Case], Finding]
Applies = Callable[[Trial], str | None]
Explain = Callable[[Trial, Case, Finding], Finding]
Walker = Callable[[Trial, int, int], Walk]
"""What is walked of a subject, with a seed, in every combination of so many levels."""

OTHER_LAYOUT = "layout not claimed"
"""Why a check is skipped that is of the other layout."""

_registered: dict[str, "Check"] = {}
_walks: dict[Judge, Walker] = {}


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Attributes
    ----------
    id : str
        `<clause>.<word>`, such as `ROT-10.identity`.
    clause : str
        The clause it belongs to.
    sentence : str
        The mistake it is looking for, in one sentence.
    needs : tuple of str
        API functions the subject must offer.
    names : tuple of str
        Ids of the documents (F-, E-, P-) whose statement it looks at: were one of them wrong, it
        would fail.
    space : Space
        What its cases are drawn from.
    judge : callable
        Runs one case and returns a finding.
    applies : callable
        Returns why the check cannot be made of a subject, or None.
    share : float
        Number of examples relative to other checks.
    explain : callable or None
        Improves the message of a failure once all its cases have been seen.
    general : bool
        Whether it fails with almost any mistake, and so does not point at one.
    every_dtype : bool
        Whether it draws every dtype even where each one is compiled anew: it is about numbers or
        dtypes, and not about a law that all dtypes share.
    walk : callable or None
        The cases that are judged in every run, in place of drawn ones; these are drawn after a
        failure alone, to find a smaller case.
    """

    id: str
    clause: str
    sentence: str
    needs: tuple[str, ...]
    names: tuple[str, ...]
    space: Space
    judge: Judge
    applies: Applies
    share: float
    explain: Explain | None
    general: bool
    every_dtype: bool
    walk: Walker | None = None

    @property
    def kind(self) -> Kind:
        """Which question it belongs to: are the numbers right, or is the contract kept."""
        return kind_of(self.clause)

    def reason_to_skip(self, trial: Trial) -> str | None:
        """Return why the check does not run on this subject, or None if it does."""
        missing = [name for name in self.needs if name not in trial.session.offers]
        if missing:
            return f"{', '.join(missing)} not offered"
        claimed = trial.profile
        if self.space.layouts is not None and not set(self.space.layouts) & set(claimed.layouts):
            return OTHER_LAYOUT
        if self.space.dtypes is not None and not set(self.space.dtypes) & set(claimed.dtypes):
            return f"{' or '.join(self.space.dtypes)} not claimed"
        if self.space.min_batch > 1 and claimed.axes == "shd":
            return "no batch axis claimed"
        most, batch = claimed.max_tokens, self.space.min_batch
        if most is not None and batch * self.space.min_seq > most:
            return f"more than {most} tokens a call not claimed"
        if claimed.scheme is not None and (told := unscaled(self.id, claimed.scheme)):
            return told
        return self.applies(trial)


def always(trial: Trial) -> str | None:  # noqa: ARG001  # the signature of `Applies`
    """Need nothing of a subject."""
    return None


def check(
    id_: str,
    sentence: str,
    *,
    needs: tuple[str, ...] = ("apply_rotary",),
    names: tuple[str, ...] = (),
    space: Space = Space(),  # noqa: B008  # frozen
    applies: Applies = always,
    share: float = 1.0,
    explain: Explain | None = None,
    general: bool = False,
    every_dtype: bool = False,
) -> Callable[[Judge], Judge]:
    """Register the decorated function as the judge of a check.

    Parameters
    ----------
    id_ : str
        The clause it belongs to, and a word that tells it from other checks of the clause, written
        out as one literal wherever a check is registered, so that a search for the id finds it.
    sentence : str
        The mistake it is looking for.
    needs, names, space, applies, share, explain, general, every_dtype
        See `Check`.
    """

    def register(judge: Judge) -> Judge:
        clause = id_.partition(".")[0]
        if id_ in _registered:
            raise ValueError(f"check ids must be unique; {id_} is registered twice")
        _registered[id_] = Check(
            id=id_,
            clause=clause,
            sentence=sentence,
            needs=needs,
            names=names,
            space=space,
            judge=judge,
            applies=applies,
            share=share,
            explain=explain,
            general=general,
            every_dtype=every_dtype,
            walk=_walks.get(judge),
        )
        return judge

    return register


def walks(walk: Walker) -> Callable[[Judge], Judge]:
    """Have a check walk its cases; this stands below `check`.

    Parameters
    ----------
    walk : callable
        See `Check`.
    """

    def note(judge: Judge) -> Judge:
        _walks[judge] = walk
        return judge

    return note


@functools.cache
def all_checks() -> tuple[Check, ...]:
    """All checks in the order of the clauses, checks of one clause as registered."""
    checks = importlib.import_module("ropespec.conformance.checks")
    for chapter in pkgutil.iter_modules(checks.__path__, f"{checks.__name__}."):
        importlib.import_module(chapter.name)
    order = {clause_id: index for index, clause_id in enumerate(clauses())}
    return tuple(sorted(_registered.values(), key=lambda item: order.get(item.clause, len(order))))
