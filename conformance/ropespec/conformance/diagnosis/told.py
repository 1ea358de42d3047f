"""What a diagnosis says: a name that was reproduced or measured, where, and the evidence."""

from collections.abc import Sequence

from ropespec.conformance.diagnosis.confirm import Confirmed
from ropespec.conformance.diagnosis.names import key_of
from ropespec.conformance.mistakes.catalogue import CATALOGUE, UNLISTED, Entry
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.results import Diagnosis, Measured, Rank

__all__ = ["entry_of", "fact", "of_choices", "of_confirmed", "reproduced", "unknown"]


def entry_of(key: str) -> Entry:
    """Return the entry of a mistake; one that is in no list has its own key for a name."""
    if " + " in key:
        both = [entry_of(one) for one in key.split(" + ")]
        names = [f"{one.id} {one.name}".strip() for one in both]
        return Entry("", " and ".join(names), " ".join(one.sentence for one in both))
    found = CATALOGUE.get(key) or UNLISTED.get(key)
    return found or Entry("", key, "")


def of_confirmed(confirmed: list[Confirmed]) -> Diagnosis:
    """Put what was confirmed into words, the simplest explanation first."""
    first = confirmed[0]
    choice, where, beside = (
        first.explanation.choice,
        first.explanation.where,
        first.explanation.beside,
    )
    entry = entry_of(_key(first))
    others = tuple(
        dict.fromkeys(_label(other) for other in confirmed[1:] if _label(other) != _label(first))
    )
    rank = Rank.FREE if choice.free else Rank.EQUALS if others else Rank.ALONE
    evidence = f"reproduces {first.elements} of {first.of} components in {first.calls} fresh calls"
    what, at = choice.what, str(where)
    if beside is not None:
        what = f"{beside.what}; {what}"
        at = f"every call; the second: {at}" if where.atoms else at
    sentence = f"{what[0].upper()}{what[1:]}. {entry.sentence}".strip()
    return Diagnosis(entry.id, entry.name, sentence, at, evidence, rank, others)


def _key(one: Confirmed) -> str:
    beside, key = one.explanation.beside, key_of(one.explanation.choice, one.explanation.where)
    return key if beside is None else f"{beside.key} + {key}"


def _label(one: Confirmed) -> str:
    entry = entry_of(_key(one))
    return f"{entry.id} {entry.name}".strip()


def reproduced(
    key: str, said: str, where: str, evidence: str, equals: tuple[str, ...] = ()
) -> Diagnosis:
    """Put a choice that was run beside a function into words."""
    entry = entry_of(key)
    labels = [f"{one.id} {one.name}".strip() for one in map(entry_of, equals)]
    others = tuple(label for label in labels if label != f"{entry.id} {entry.name}".strip())
    sentence = f"{said[0].upper()}{said[1:]}. {entry.sentence}".strip()
    rank = Rank.EQUALS if others else Rank.ALONE
    return Diagnosis(entry.id, entry.name, sentence, where, evidence, rank, others)


def of_choices(choices: Sequence[Choice], where: str, elements: int, calls: int) -> Diagnosis:
    """Put choices into words that all make what a function gives, the simplest first."""
    order = sorted(choices, key=lambda one: one.cost)
    near = [one for one in order if one.cost <= order[0].cost + 1.0]
    keys = tuple(dict.fromkeys(one.key for one in near))
    evidence = f"reproduces {elements} of {elements} components in {calls} fresh calls"
    return reproduced(keys[0], f"{where}: {order[0].what}", where, evidence, keys[1:])


def fact(key: str, sentence: str, where: str, evidence: str) -> Diagnosis:
    """Put what was measured of a call into words."""
    entry = entry_of(key)
    told = f"{sentence} {entry.sentence}".strip()
    return Diagnosis(entry.id, entry.name, told, where, evidence, Rank.FACTS)


def unknown(
    sentence: str, where: str, evidence: str, measured: tuple[Measured, ...] = ()
) -> Diagnosis:
    """Say what was measured of a mistake that nothing explains."""
    return Diagnosis("", "unknown", sentence, where, evidence, Rank.FACTS, measured=measured)
