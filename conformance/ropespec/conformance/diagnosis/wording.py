"""The numbers of a rotation: examined as exactly as it works, and put into words."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.drift import drifting
from ropespec.conformance.diagnosis.elsewhere import elsewhere
from ropespec.conformance.diagnosis.precision import coarser, measured
from ropespec.conformance.diagnosis.reduced import beyond_an_angle
from ropespec.conformance.diagnosis.rotation import Outcome, examine
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.diagnosis.told import fact, of_confirmed
from ropespec.conformance.diagnosis.unexplained import (
    changed_by_others,
    share,
    tail_alone,
    unexplained,
    where,
)
from ropespec.conformance.mistakes.chain import Chain
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Given
from ropespec.conformance.results import Diagnosis

__all__ = ["examined", "in_words"]

_CASES = 12
"""Of the calls that are wrong, how many are made again of arrays without gaps."""


def examined(
    asker: Asker, maker: Maker, claimed: Chain, also: Sequence[Given]
) -> tuple[Outcome, Chain]:
    """Examine a rotation as exactly as it works; where nothing is found, once more less exactly."""
    right = measured(asker, maker, claimed)
    outcome, right = _as_exactly(asker, maker, right, claimed, also)
    if right.recurrent and also and not outcome.wrong:
        strict = replace(right, recurrent=False)  # frequencies may be wrong by no more than that
        again = examine(asker, maker, right=strict, also=also)
        if again.confirmed and not again.confirmed[0].explanation.choice.free:
            return again, strict
    return outcome, right


def _as_exactly(
    asker: Asker, maker: Maker, right: Chain, claimed: Chain, also: Sequence[Given]
) -> tuple[Outcome, Chain]:
    halves = frozenset(maker.profile.dtypes) & {"float16", "bfloat16"}
    if halves <= right.sharp:
        outcome = examine(asker, maker, right=right, also=also)
        if outcome.confirmed or not (halves and outcome.by_history):
            return outcome, right
        asker.fresh()  # what was measured depends on the calls before it
        return examine(asker, maker, right=claimed, also=also), claimed
    sharp = replace(right, sharp=halves)
    outcome = examine(asker, maker, right=sharp, also=also)
    if outcome.confirmed and outcome.confirmed[0].explanation.choice.stage != "precision":
        return outcome, sharp
    blunt = examine(asker, maker, right=right, also=also)
    if blunt.confirmed or not outcome.confirmed or _legitimate(outcome, halves):
        return blunt, right
    return outcome, sharp


def _legitimate(outcome: Outcome, halves: frozenset[str]) -> bool:
    """Whether all that is wrong is rounding to the dtype of x itself."""
    what = outcome.confirmed[0].explanation.choice.what
    return any(what.endswith(f"rounded to {dtype}") for dtype in halves)


def in_words(asker: Asker, outcome: Outcome, right: Chain) -> Iterator[Diagnosis]:
    """Put the numbers of a battery into words."""
    exact = outcome.confirmed and not outcome.confirmed[0].explanation.choice.free
    afresh = partial(_is_right_afresh, asker)
    named = [] if exact else list(coarser(outcome.seen, right, afresh=afresh))
    if named:
        yield from named
        return
    moved = all(_moves(one.explanation.choice) for one in outcome.confirmed)
    later = all(one.given.strided == "offset" for one in outcome.wrong)  # and is dense
    if (moved or later) and (gaps := _by_gaps(asker, outcome)) is not None:
        yield gaps
        return
    if outcome.confirmed:
        yield of_confirmed(outcome.confirmed)
        return
    if not outcome.repeats and (again := _multiplied_again(asker, outcome)) is not None:
        yield again
        return
    if not outcome.repeats:
        yield fact(
            "not repeatable",
            "The same call does not give the same each time.",
            where(outcome) if outcome.wrong else "calls that are made again",
            "seen in calls that were made again",
        )
        return
    if not outcome.wrong and not outcome.by_history:
        return
    if outcome.of_first_calls:
        said = "A call is wrong as the first of an instance, and right after others."
        yield fact("right only after other calls", said, where(outcome), share(outcome))
        return
    if outcome.by_history:
        yield changed_by_others(asker, outcome) or unexplained(outcome)
        return
    yield from list(drifting(outcome)) or [_measured(outcome)]


def _is_right_afresh(asker: Asker, wrong: Seen) -> bool:
    """Whether a call that is wrong is right on a fresh instance."""
    asker.fresh()
    answer = asker.ask(wrong.given.alone())
    return answer is not None and answer.y is not None and not Seen(answer, wrong.right).is_wrong


def _measured(outcome: Outcome) -> Diagnosis:
    """Say what was measured of calls that nothing reproduces."""
    return (
        beyond_an_angle(outcome)
        or tail_alone(outcome)
        or elsewhere(outcome.wrong, where(outcome))
        or unexplained(outcome)
    )


def _multiplied_again(asker: Asker, outcome: Outcome) -> Diagnosis | None:
    """Return that a call comes out larger by one factor each time, if it does."""
    for one in sorted(outcome.seen, key=lambda one: -one.y.size)[-_CASES:]:
        asker.fresh()
        answers = [asker.ask(one.given.alone()) for _ in range(4)]
        made = [answer.y for answer in answers if answer is not None and answer.y is not None]
        if len(made) < len(answers):
            continue
        sizes = [float(np.linalg.norm(y)) for y in made]
        factor = sizes[1] / sizes[0] if sizes[0] else 1.0
        grown = [made[0] * factor**n for n in range(len(made))]
        if abs(factor - 1) > _NEAR and np.allclose(made, grown, rtol=_NEAR, atol=_NEAR * sizes[0]):
            said = f"Made again, a call comes out {factor:.6g} times as large, and so each time."
            evidence = f"seen in {len(made)} calls of a fresh instance"
            return fact("multiplied again", said, "calls that are made again", evidence)
    return None


_NEAR = 1e-3


def _by_gaps(asker: Asker, outcome: Outcome) -> Diagnosis | None:
    """Return that views are misread, if nothing else is, and the same values come right dense."""
    strided = [one for one in outcome.wrong if one.given.strided or one.given.strided_positions]
    if not strided or len(strided) < len(outcome.wrong) or outcome.by_history:
        return None
    few = strided[:_CASES]
    held = [replace(one.given, strided=False) for one in few]  # x is dense, positions are not
    dense = [replace(given, strided_positions=False) for given in held]
    if not outcome.repeats or not _are_right(asker, dense, few):
        return None
    of_x = _are_right(asker, held, few)
    key = "M3" if of_x else "strided positions misread"
    if of_x and _by_offset(asker, dense, few):
        key = "offset of a view ignored"
    return fact(key, "The same values come out otherwise.", where(outcome), share(outcome))


def _by_offset(asker: Asker, dense: Sequence[Given], few: Sequence[Seen]) -> bool:
    """Whether it is where memory begins that is misread, and not how far its elements are apart."""
    gaps, later = ([replace(one, strided=view) for one in dense] for view in (True, "offset"))
    return _are_right(asker, gaps, few) and not _are_right(asker, later, few)


def _are_right(asker: Asker, calls: Sequence[Given], few: Sequence[Seen]) -> bool:
    """Whether calls come right, each beside what is claimed of another one of these values."""
    answers = zip(map(asker.ask, calls), few, strict=True)
    return all(
        answer is not None and answer.y is not None and not Seen(answer, one.right).is_wrong
        for answer, one in answers
    )


def _moves(choice: Choice) -> bool:
    """Whether it takes what stands elsewhere, as whoever ignores strides does.

    Between the elements of a view is NaN.
    """
    stages = {*choice.stage.split(" and ")}
    return choice.key == "not a number" or stages <= _MOVING


_MOVING = {"call", "place", "store"}
"""Stages that take or write something elsewhere, and compute nothing."""
