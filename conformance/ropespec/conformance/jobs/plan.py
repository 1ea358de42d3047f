"""What of the checks to run, and how many cases of each."""

import math
from dataclasses import dataclass

from ropespec.conformance.registry import Check, all_checks
from ropespec.spec import CHAPTERS, clauses

__all__ = ["Plan", "select"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run.

    Attributes
    ----------
    seed : int
        The same seed gives the same cases everywhere.
    full : bool
        Ten times as many cases.
    only : tuple of str
        Clauses, the letters they begin with, checks or chapters; empty for all.
    deadline : float
        Seconds for the checks; those that it leaves no time for are skipped, and one that has begun
        asks nothing more, unless it has failed.
    """

    seed: int = 0
    full: bool = False
    only: tuple[str, ...] = ()
    deadline: float = math.inf


def select(plan: Plan) -> tuple[Check, ...]:
    """Return the checks of a plan.

    Raises
    ------
    ValueError
        If `only` names something that is no clause, prefix of clauses, check or chapter.
    """
    checks = all_checks()
    if not plan.only:
        return checks
    chosen: list[Check] = []
    for name in plan.only:
        found = [item for item in checks if _named(item, name)]
        if not found:
            known = "a clause such as ROT-6, ROT for all of them, a check such as ROT-6.value, or a"
            known += " chapter"
            raise ValueError(f"no check is called {name!r}; give {known}: {', '.join(CHAPTERS)}")
        chosen += [item for item in found if item not in chosen]
    return tuple(item for item in checks if item in chosen)


def _named(item: Check, name: str) -> bool:
    clause = clauses().get(item.clause)
    prefix = item.clause.partition("-")[0]
    same = name.lower() in (item.id.lower(), item.clause.lower(), prefix.lower())
    return same or (clause is not None and clause.chapter == name.lower())
