"""What the rules of a diagnosis look at, and how they name a mistake."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ropespec.conformance.identify.catalogue import CATALOGUE, UNLISTED
from ropespec.conformance.identify.facts import Diagnosis, Identification, Name
from ropespec.conformance.profile import Profile

__all__ = ["NEITHER", "Rule", "View", "named"]

NEITHER = 0.5
"""The certainty of each of two mistakes that cannot be told apart."""


@dataclass(frozen=True, slots=True)
class View:
    """Facts, claims and the ids of failed checks.

    Attributes
    ----------
    found : Identification
        What the subject does.
    claimed : Profile
        What it claims.
    failed : frozenset of str
        Ids of checks that judged numbers and found them wrong.
    raised : frozenset of str
        Ids of checks in which it raised: evidence that it raises there, and of nothing else.
    stateful : bool
        Whether a check has shown that calls depend on the calls before them.
    telling : frozenset of str
        Those of `failed` that point at one mistake.
    """

    found: Identification
    claimed: Profile
    failed: frozenset[str]
    raised: frozenset[str] = frozenset()
    stateful: bool = False
    telling: frozenset[str] = frozenset()

    def value(self, name: Name) -> Any:  # noqa: ANN401  # as Fact.value
        """Return the value of a fact, or None."""
        return self.found.value(name)


Rule = Callable[[View], Iterator[Diagnosis]]


def named(key: str, certainty: float, detail: str = "") -> Diagnosis:
    """Return the diagnosis of a catalogue id, or of a name that has none.

    Parameters
    ----------
    key : str
        An id of `CATALOGUE` or a name of `UNLISTED`.
    certainty : float
        In [0, 1].
    detail : str
        What was measured; ends up at the end of the sentence.
    """
    entry = CATALOGUE.get(key) or UNLISTED[key]
    sentence = f"{entry.sentence[:-1]} ({detail})." if detail else entry.sentence
    return Diagnosis(entry.id, entry.name, sentence, certainty)
