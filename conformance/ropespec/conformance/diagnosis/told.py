"""What a diagnosis says: a name that was reproduced or measured, where, and the evidence."""

from dataclasses import dataclass
from enum import StrEnum

from ropespec.conformance.diagnosis.confirm import Confirmed
from ropespec.conformance.diagnosis.names import key_of
from ropespec.conformance.identify.catalogue import CATALOGUE, UNLISTED, Entry

__all__ = ["Rank", "Told", "fact", "of_confirmed", "unknown"]


class Rank(StrEnum):
    """How much was confirmed."""

    ALONE = "exact, alone"
    EQUALS = "exact, with equals"
    FREE = "one stage as measured, the rest confirmed"
    FACTS = "facts only"


@dataclass(frozen=True, slots=True)
class Told:
    """One mistake, or what was measured of one.

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
        How much of how many fresh calls it explains.
    rank : Rank
        How much was confirmed.
    equals : tuple of str
        What cannot be told apart from it.
    """

    id: str
    name: str
    sentence: str
    where: str
    evidence: str
    rank: Rank
    equals: tuple[str, ...] = ()


def entry_of(key: str) -> Entry:
    """Return the entry of a mistake; one that is in no list has its own key for a name."""
    found = CATALOGUE.get(key) or UNLISTED.get(key)
    return found or Entry("", key, "")


def of_confirmed(confirmed: list[Confirmed]) -> Told:
    """Put what was confirmed into words, the simplest explanation first."""
    first = confirmed[0]
    choice, where = first.explanation.choice, first.explanation.where
    entry = entry_of(key_of(choice, where))
    others = tuple(
        dict.fromkeys(_label(other) for other in confirmed[1:] if _label(other) != _label(first))
    )
    rank = Rank.FREE if choice.free else Rank.EQUALS if others else Rank.ALONE
    evidence = f"reproduces {first.elements} of {first.of} components in {first.calls} fresh calls"
    sentence = f"{choice.what[0].upper()}{choice.what[1:]}. {entry.sentence}".strip()
    return Told(entry.id, entry.name, sentence, str(where), evidence, rank, others)


def _label(one: Confirmed) -> str:
    entry = entry_of(key_of(one.explanation.choice, one.explanation.where))
    return f"{entry.id} {entry.name}".strip()


def fact(key: str, sentence: str, where: str, evidence: str) -> Told:
    """Put what was measured of a call into words."""
    entry = entry_of(key)
    told = f"{sentence} {entry.sentence}".strip()
    return Told(entry.id, entry.name, told, where, evidence, Rank.FACTS)


def unknown(sentence: str, where: str, evidence: str) -> Told:
    """Say what was measured of a mistake that nothing explains."""
    return Told("", "unknown", sentence, where, evidence, Rank.FACTS)
