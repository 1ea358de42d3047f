"""Where fresh calls are right: what earlier calls leave behind, by sequences of calls."""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.confirm import (
    Confirmed,
    Explanation,
    applies,
    expected,
    explains,
    located,
)
from ropespec.conformance.diagnosis.search import reproduces
from ropespec.conformance.diagnosis.seen import Seen, agree
from ropespec.conformance.diagnosis.sequences import much_like, rising, sequences
from ropespec.conformance.diagnosis.where import EVERYWHERE
from ropespec.conformance.mistakes.chain import Chain
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.frequency import LADDERS
from ropespec.conformance.mistakes.given import Given
from ropespec.conformance.mistakes.kept_positions import LIMITED
from ropespec.conformance.mistakes.memory import MEMORIES
from ropespec.conformance.mistakes.turning import TURNS

__all__ = [
    "first_calls_are_wrong",
    "is_by_past",
    "is_fresh",
    "remembered",
    "repeats",
    "repeats_itself",
]

_TIMES = 16
_FEW = 8
_MANY = 12
_PATIENCE = 4.0
"""Seconds, for some subjects take more than one to start afresh."""


def repeats(asker: Asker, maker: Maker) -> bool:
    """Whether the same call gives the same sixteen times."""
    for shape, pattern in (((2, 5, 3), "scattered"), ((1, 1, 2), "from")):
        given = maker.given(shape, pattern, 11)
        first = None
        for _ in range(_TIMES):
            answer = asker.ask(given)
            if answer is None or answer.y is None:
                break
            if first is not None and not np.array_equal(first, answer.y, equal_nan=True):
                return False
            first = answer.y if first is None else first
    return True


def is_fresh(asker: Asker, wrong: Sequence[Seen]) -> bool:
    """Whether what was wrong is wrong on a fresh instance, too."""
    small = sorted(wrong, key=lambda one: one.y.size)
    for one in small[:: max(len(small) // 4, 1)][:4]:
        asker.fresh()
        answer = asker.ask(one.given.alone())
        if answer is None or answer.y is None:
            continue
        if not np.array_equal(Seen(answer, one.right).wrong, one.wrong):
            return False
    return True


def first_calls_are_wrong(asker: Asker, calls: Sequence[Given], right: Chain) -> bool:
    """Whether a call that is right after others is wrong as the first of an instance."""
    late = time.monotonic() + _PATIENCE
    for given in calls:
        asker.fresh()
        answer = asker.ask(given)
        if answer is not None and answer.y is not None and Seen(answer, right).is_wrong:
            return True
        if time.monotonic() > late:
            break
    return False


def repeats_itself(asker: Asker, wrong: Sequence[Seen]) -> bool:
    """Whether the call that is most wrong gives the same, each time of a fresh instance."""
    worst = max(wrong, key=lambda one: int(one.off.sum()))
    first, late = None, time.monotonic() + _PATIENCE
    for turn in range(_FEW):
        if turn > 1 and time.monotonic() > late:
            break
        asker.fresh()
        answer = asker.ask(worst.given.alone())
        if answer is None or answer.y is None:
            continue
        if first is not None and not np.array_equal(first, answer.y, equal_nan=True):
            return False
        first = answer.y
    return True


def run_sequences(asker: Asker, maker: Maker, right: Chain, seed: int, count: int) -> list[Seen]:
    """Ask sequences, each of a fresh instance."""
    asked = (rising(maker, seed), *islice(sequences(maker, seed), count))
    return [one for calls in asked for one in _answered(asker, calls, right)]


def _answered(asker: Asker, calls: Sequence[Given], right: Chain) -> list[Seen]:
    """Ask for calls after each other, of a fresh instance."""
    asker.fresh()
    answers = [asker.ask(given) for given in calls]
    return [Seen(one, right) for one in answers if one is not None and one.y is not None]


_CROWD = (1, 2, 3, 4, 5, 8, 9, 10, 11, 16, 17, 32, 33, 64, 65, 128, 129)
"""How many other calls ago: as many as caches hold, and one more."""


def run_crowd(asker: Asker, maker: Maker, right: Chain) -> list[Seen]:
    """Ask for what is much like calls of long ago, some of which were made again in between."""
    count = 24 if maker.profile.compiles else max(_CROWD) + 1
    givens = [maker.given((2, 5, 1), "scattered", 7000 + n) for n in range(count)]
    calls, rng = list[Given](), np.random.default_rng(7)
    for n, given in enumerate(givens):
        calls.append(given)
        calls += givens[n // 2 : n // 2 + 1] if n % 3 == 1 else []
        back = [givens[n + 1 - ago] for ago in _CROWD if ago <= n + 1]
        calls += much_like(back[int(rng.integers(len(back)))], rng, maker.profile)[:1]
    return _answered(asker, calls, right)


def is_by_past(explanation: Explanation, seen: Sequence[Seen]) -> bool:
    """Whether an explanation says anything else of some call that nothing went before."""
    for one in seen:
        alone = Seen(replace(one.answer, given=one.given.alone()), one.right)
        if not agree(expected(explanation, one).y, expected(explanation, alone)).all():
            return True
    return False


def _holds(explanation: Explanation, seen: Sequence[Seen]) -> bool:
    """Whether an explanation makes every component of all calls."""
    return all(got == of for got, of in (explains(explanation, one) for one in seen))


def remembered(
    asker: Asker, maker: Maker, right: Chain, until: float, before: Sequence[Seen] = ()
) -> tuple[list[Confirmed], list[Seen]]:
    """Search for what earlier calls leave behind, and confirm it on fresh sequences.

    Parameters
    ----------
    asker : Asker
        The subject.
    maker : Maker
        Makes the calls.
    right : Chain
        What is claimed.
    until : float
        When to stop, by `time.process_time`.
    before : sequence of Seen
        Calls that were wrong until now, which it must make too.

    Returns
    -------
    tuple
        What was confirmed, and the calls.
    """
    seen = run_sequences(asker, maker, right, 1, 3)
    if not (wrong := [one for one in seen if one.is_wrong]):
        return [], seen
    tried = (*MEMORIES, *(c for c in (*TURNS, *LADDERS) if c.stage != "tail"))
    fresh, fits = run_sequences(asker, maker, right, 2, 3), list[Choice]()
    for choices in (tried, LIMITED):
        mine = [c for c in choices if all(reproduces(c.chain(right), one, c) for one in wrong)]
        every = (Explanation(c, EVERYWHERE) for c in mine)
        found = [one for one in every if _holds(one, (*before, *seen))]
        if found and choices is LIMITED:
            fresh += run_crowd(asker, maker, right)
        if kept := _kept(found, fresh):
            return kept, seen
        fits += mine
    found = [one for one in _placed(fits, seen, until) if _holds(one, before)]
    return _kept(found, fresh), seen


def _placed(fits: Sequence[Choice], seen: Sequence[Seen], until: float) -> list[Explanation]:
    """Return choices with where each is made, which takes long to find out."""
    found = list[Explanation]()
    for choice in fits:
        if time.process_time() > until or len(found) >= _MANY:
            break
        found += [Explanation(choice, where) for where in located(choice, seen, history=True)]
    return found


_TIES = 1e-5
"""How much of what is rounded twice may come out on the other side of a step."""


def _kept(found: Sequence[Explanation], fresh: Sequence[Seen]) -> list[Confirmed]:
    """Return what explains fresh sequences by their past: every component, but for `_TIES`."""
    kept = list[Confirmed]()
    for explanation in found:
        counts = [explains(explanation, one) for one in fresh]
        got, of = (sum(column) for column in zip(*counts, strict=True))
        ties = _TIES * of if "nudged" in explanation.choice.change else 0
        if got >= of - ties and applies(explanation, fresh) and is_by_past(explanation, fresh):
            kept.append(Confirmed(explanation, got, of, len(fresh)))
    return kept
