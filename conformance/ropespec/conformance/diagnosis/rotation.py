"""The diagnosis of a rotation by fresh calls: what is done where it fails, and where that is."""

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ropespec.conformance.diagnosis.ask import Answer, Asker
from ropespec.conformance.diagnosis.at_zero import at_zero
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.confirm import (
    Confirmed,
    Explanation,
    confirmed,
    explains,
    places,
)
from ropespec.conformance.diagnosis.history import (
    first_calls_are_wrong,
    is_fresh,
    remembered,
    repeats,
    repeats_itself,
)
from ropespec.conformance.diagnosis.limits import refined
from ropespec.conformance.diagnosis.search import Search
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.diagnosis.where import Where
from ropespec.conformance.mistakes.chain import RIGHT, Chain
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Given

__all__ = ["Outcome", "examine"]

SECONDS = 6.0
"""Of the time of this process, after which a search that found nothing is given up."""

_FOR_MEMORY = 0.4
"""How much longer it lasts for what earlier calls leave behind, where fresh ones fail too."""


@dataclass(slots=True)
class Outcome:
    """What the calls of a battery came to.

    Attributes
    ----------
    answers : list of Answer
        All of them, in order.
    seen : list of Seen
        Those with numbers, beside what is claimed.
    confirmed : list of Confirmed
        Explanations that hold on fresh calls; several that cannot be told apart.
    nearest : list of Explanation
        Those that explain the battery and that a fresh call refutes.
    repeats : bool
        Whether the same call gave the same each time.
    by_history : bool
        Whether earlier calls are to blame.
    sequence : list of Seen
        The calls of sequences that were asked for that.
    stopped : bool
        Whether the search was given up for want of time.
    of_first_calls : bool
        Whether first calls of an instance alone are wrong: each of these was made of a fresh one.
    """

    answers: list[Answer] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    confirmed: list[Confirmed] = field(default_factory=list)
    nearest: list[Explanation] = field(default_factory=list)
    repeats: bool = True
    by_history: bool = False
    sequence: list[Seen] = field(default_factory=list)
    stopped: bool = False
    of_first_calls: bool = False

    @property
    def wrong(self) -> list[Seen]:
        """The calls with wrong components."""
        return [one for one in self.seen if one.is_wrong]


def examine(
    asker: Asker, maker: Maker, *, right: Chain = RIGHT, also: Iterable[Given] = ()
) -> Outcome:
    """Ask the battery, and search for what explains its failures.

    Parameters
    ----------
    asker : Asker
        The subject.
    maker : Maker
        Makes the calls.
    right : Chain
        What is claimed.
    also : iterable of Given
        Calls that are known to fail.
    """
    until, late = time.process_time() + SECONDS, time.monotonic() + 3 * SECONDS
    outcome, also = Outcome(), list(also)
    outcome.repeats = repeats(asker, maker)
    if not _asked(outcome, asker, (*also, *maker.battery()), right, late):
        return outcome
    if not outcome.wrong and (lost := at_zero(asker, maker, right)):
        outcome.confirmed = lost
    elif not outcome.wrong and first_calls_are_wrong(asker, also, right):
        outcome = Outcome(repeats=outcome.repeats, of_first_calls=True)
        _explain_first(outcome, asker, maker, right, also)
    elif not (outcome.wrong and outcome.repeats and is_fresh(asker, outcome.wrong)):
        _explain_past(outcome, asker, maker, right, until)
    else:
        explain(outcome, asker, maker, right, until)
        if not outcome.confirmed:
            late = max(until, time.process_time()) + _FOR_MEMORY * SECONDS
            outcome.confirmed, _ = remembered(asker, maker, right, late)
    outcome.stopped = time.process_time() > until and not outcome.confirmed
    return outcome


def _asked(
    outcome: Outcome, asker: Asker, calls: Iterable[Given], right: Chain, late: float
) -> bool:
    """Ask calls as long as there is time; return whether the subject outlived them."""
    for given in calls:
        answer = asker.ask(given)
        if answer is None:
            continue
        outcome.answers.append(answer)
        if answer.fault in ("crash", "timeout"):
            return False
        if answer.y is not None:
            outcome.seen.append(Seen(answer, right))
        if time.monotonic() > late:
            break
    return True


def _explain_past(outcome: Outcome, asker: Asker, maker: Maker, right: Chain, until: float) -> None:
    """Look for what earlier calls leave behind."""
    outcome.confirmed, outcome.sequence = remembered(asker, maker, right, until, outcome.wrong)
    outcome.by_history = any(one.is_wrong for one in (*outcome.seen, *outcome.sequence))
    if outcome.wrong and not outcome.confirmed:
        outcome.repeats &= repeats_itself(asker, outcome.wrong)


def _explain_first(
    outcome: Outcome, asker: Asker, maker: Maker, right: Chain, also: Sequence[Given]
) -> None:
    """Ask each call of a fresh instance, and explain what is wrong if these are not dear."""
    asker.anew, late = True, time.monotonic() + SECONDS
    _asked(outcome, asker, (*also, *maker.battery()), right, late)
    if time.monotonic() < late:
        explain(outcome, asker, maker, right, time.process_time() + SECONDS)
    asker.anew = False
    if outcome.wrong and not outcome.confirmed:
        outcome.repeats &= repeats_itself(asker, outcome.wrong)


def explain(outcome: Outcome, asker: Asker, maker: Maker, right: Chain, until: float) -> None:
    """Search for what explains the failures seen, and confirm it."""
    for _ in range(3):
        fresh = _attempt(outcome, asker, maker, right, until)
        outcome.seen += fresh
        outcome.confirmed = _undecided(outcome, fresh)
        if outcome.confirmed:
            ordered = sorted(outcome.confirmed, key=lambda one: _assumed(one.explanation))
            least = _assumed(ordered[0].explanation)
            most = least + 1.0
            outcome.confirmed = [one for one in ordered if _assumed(one.explanation) <= most]
        if outcome.confirmed or not fresh or time.process_time() > until:
            return


def _assumed(one: Explanation) -> float:
    """Return how much an explanation assumes."""
    assumed = sum(choice.cost for choice in (one.beside, one.choice) if choice is not None)
    return assumed + 0.7 * len(one.where.atoms)


def _assumes_less(outcome: Outcome, choice: Choice, where: Where) -> bool:
    """Whether a choice assumes less there than all that was confirmed."""
    least = min(_assumed(one.explanation) for one in outcome.confirmed)
    return _assumed(Explanation(choice, where)) < least


def _attempt(
    outcome: Outcome, asker: Asker, maker: Maker, right: Chain, until: float
) -> list[Seen]:
    """Try what the search finds; return the fresh calls."""
    more, search = list[Seen](), Search(asker, right, outcome.wrong, until)

    def is_over() -> bool:
        exact = any(not one.explanation.choice.free for one in outcome.confirmed)
        return exact or time.process_time() > until

    for choices in search.levels():
        more += _tried(outcome, asker, maker, right, choices)
        if is_over():
            return more
    middle = (time.process_time() + until) / 2
    for first in search.firsts():
        more += _beside(outcome, asker, maker, right, first, middle)
        if is_over():
            return more
        if time.process_time() > middle:
            break
    return more + _tried(outcome, asker, maker, right, search.doubles())


def _beside(
    outcome: Outcome, asker: Asker, maker: Maker, right: Chain, first: Choice, until: float
) -> list[Seen]:
    """Look for one more mistake beside one that was read off; return the fresh calls."""
    if not _sensible(first, maker):
        return []
    chain = first.chain(right)
    wrong = [Seen(one.answer, chain) for one in outcome.wrong]
    still = [one for one in wrong if one.is_wrong]
    found = Search(asker, chain, still, until).seconds() if still else []
    if not found:
        return []
    fine = [Seen(one.answer, chain) for one in outcome.seen if not one.is_wrong]
    inner = Outcome(seen=wrong + fine)
    fresh = _tried(inner, asker, maker, chain, found, until)
    for one in inner.confirmed:
        explanation = replace(one.explanation, beside=first)
        outcome.confirmed.append(replace(one, explanation=explanation))
    return [Seen(one.answer, right) for one in fresh]


def _tried(
    outcome: Outcome,
    asker: Asker,
    maker: Maker,
    right: Chain,
    choices: Sequence[Choice],
    until: float = math.inf,
) -> list[Seen]:
    """Confirm choices, each where it applies; return the fresh calls."""
    more, tried = list[Seen](), 0
    for choice in choices:
        if time.process_time() > until:
            break
        if not _sensible(choice, maker):
            continue
        if outcome.confirmed:
            best = outcome.confirmed[0].explanation.choice
            if choice.cost > best.cost + 1.0 or choice.free:
                break
        for where in places(choice, outcome.seen, more):
            if len(outcome.confirmed) >= _MOST and not _assumes_less(outcome, choice, where):
                continue
            tried += 1
            if tried > _TRIES:
                return more
            explanation = refined(asker, maker, right, Explanation(choice, where), outcome.seen)
            seed, like = 3000 + 97 * tried, _smallest(outcome)
            found, fresh = confirmed(asker, maker, right, explanation, seed, like)
            more += fresh
            if found is None:
                outcome.nearest.append(explanation)
                continue
            outcome.confirmed.append(found)
            break
    return more


def _smallest(outcome: Outcome) -> list[Seen]:
    """Return a few of the calls that fail, each of another number of tokens."""
    small = sorted(outcome.wrong, key=lambda one: one.y.size)
    return list({one.given.shape[1]: one for one in reversed(small[:12])}.values())[-2:]


_MOST = 4
_TRIES = 24


def _sensible(choice: Choice, maker: Maker) -> bool:
    """Whether a choice differs from others at all under these claims."""
    whole = maker.profile.rotary_dim is None and "rotary_dim" not in maker.taken
    if choice.key in ("A3", "R4") and choice.stage == "product":
        return whole == (choice.key == "A3")
    if whole and (choice.stage == "tail" or choice.key in ("R1", "R2", "R4", "R6", "R9")):
        return False
    return not (choice.key == "L6" and len(maker.profile.layouts) == 1)


def _undecided(outcome: Outcome, fresh: Sequence[Seen]) -> list[Confirmed]:
    """Keep what no call refutes that was made for another explanation."""
    kept = []
    for one in outcome.confirmed:
        counts = [explains(one.explanation, seen) for seen in fresh]
        got, of = (sum(column) for column in zip(*counts, strict=True))
        if got == of:
            kept.append(Confirmed(one.explanation, got, of, len(fresh)))
        else:
            outcome.nearest.append(one.explanation)
    return kept
