"""Diagnosis: what fails is measured, reproduced on fresh calls, and only then named."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.coverage.rows import inputs
from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.conduct import conduct, special
from ropespec.conformance.diagnosis.functions import functions
from ropespec.conformance.diagnosis.repeated import changed, repeated
from ropespec.conformance.diagnosis.rotation import Outcome, examine
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.diagnosis.told import fact, unknown
from ropespec.conformance.diagnosis.wording import examined, in_words
from ropespec.conformance.judge.precision import NORMAL
from ropespec.conformance.mistakes.chain import RIGHT
from ropespec.conformance.mistakes.given import Given
from ropespec.conformance.mistakes.turning import BACKWARD
from ropespec.conformance.profile import Profile
from ropespec.conformance.results import CheckResult, Diagnosis, Status
from ropespec.conformance.subject.session import Session

__all__ = ["diagnose"]

_LARGEST = 300_000
_CASES = 12


def diagnose(session: Session, results: Sequence[CheckResult] = ()) -> tuple[Diagnosis, ...]:
    """Name the mistakes of a subject, as far as they can be reproduced.

    Parameters
    ----------
    session : Session
        The subject.
    results : sequence of CheckResult
        What the checks found; empty if none has run. If all of them passed there is nothing to
        name.

    Returns
    -------
    tuple of Diagnosis
        The numbers before the conduct. One of the name `unknown`, with what was measured, if
        something is wrong and nothing explains it; empty if nothing is wrong.
    """
    if results and all(result.status.conforms for result in results):
        return ()
    failed = frozenset(result.id for result in results if not result.status.conforms)
    with np.errstate(all="ignore"):
        told = [*_rotation(session, results), *functions(session, failed)]
    named = [one for one in told if one.name != "unknown"]
    if all(one.name in _VAGUE for one in told):
        again = list(repeated(session, results))
        # What calls of other kinds show beside the plain ones explains none of those.
        named = [*(one for one in told if one.name == "unknown"), *again] if again else named
    unique = {(one.id, one.name): one for one in reversed(named or told)}
    found = tuple(unique.values())[::-1]
    if not found and failed:
        return tuple(changed(results)) or (_nothing(results),)
    return found


_VAGUE = ("unknown", "changed by earlier calls", "moved by earlier calls")
"""What is said where nothing reproduces it; what is seen in a call that is made again says more."""


def _nothing(results: Sequence[CheckResult]) -> Diagnosis:
    """Say that no call that was made here is wrong, though checks failed."""
    first = next(result for result in results if not result.status.conforms)
    said = f"{first.id} fails, and no call that was made to find out why is wrong."
    return unknown(said, "not found", "nothing was reproduced")


def _rotation(session: Session, results: Sequence[CheckResult]) -> Iterator[Diagnosis]:
    if "apply_rotary" not in session.offers:
        return
    asker = Asker(session)
    maker = Maker(session.profile, session.offers["apply_rotary"].keywords)
    outcome, right = examined(asker, maker, RIGHT, _failing(results, maker.profile))
    manners = list(conduct(asker, outcome.answers))
    aside = _on_itself(outcome, manners) or _littered(outcome)
    told = [] if aside else list(in_words(asker, outcome, right))
    if outcome.of_first_calls:
        told = [replace(one, where=f"first calls of an instance: {one.where}") for one in told]
    told += manners
    lost = any(one.fault in ("crash", "timeout", "raises") for one in outcome.answers)
    if not lost:
        told += special(asker, maker, right, sound=_is_sound(outcome))
    slope = any(
        one.id.startswith("ROT-20") and not one.status.conforms and not one.general
        for one in results
    )
    if not lost and _has_gradient(session) and (slope or (not told and not results)):
        told += _gradient(session, maker, outcome, {one.name for one in told})
    yield from told


def _on_itself(outcome: Outcome, manners: Sequence[Diagnosis]) -> bool:
    """Whether all that is wrong is what x comes to that is written to and lies on itself."""
    still = [one for one in outcome.wrong if str(one.given.strided).startswith("still")]
    return len(still) == len(outcome.wrong) > 0 and any(one.id == "M1" for one in manners)


def _littered(outcome: Outcome) -> bool:
    """Whether most of what is wrong holds memory that was never written to, whatever that held."""
    return 2 * sum(one.answer.littered for one in outcome.wrong) > len(outcome.wrong)


def _is_sound(outcome: Outcome) -> bool:
    """Whether all is right but for what overflows, or is below the normal numbers and lost."""
    return not any(
        (one.off & np.isfinite(one.made.y) & ~_is_lost(one)).any() for one in outcome.wrong
    )


def _is_lost(one: Seen) -> NDArray[np.bool_]:
    """Which components are zero in place of a number below the normal ones of their dtype."""
    return np.asarray((one.y == 0.0) & (np.abs(one.made.y) < NORMAL[one.given.dtype]))


def _has_gradient(session: Session) -> bool:
    own = "apply_rotary_vjp" in session.offers
    return session.profile.gradients and (own or session.profile.framework.has_gradients)


def _failing(results: Sequence[CheckResult], profile: Profile) -> list[Given]:
    """Return the calls on which checks failed."""
    made = list[Given]()
    for result in results:
        shown = result.counterexample
        if result.status is not Status.FAIL or shown is None or len(made) >= _CASES:
            continue
        if not result.clause.startswith(("ROT", "FREQ", "REL", "ERR", "JDG", "PAR")):
            continue
        given = _given_of(shown.case, profile)
        if given is not None and 0 < given.x.size <= _LARGEST:
            made.append(given)
    return made


def _given_of(case: dict[str, Any], profile: Profile) -> Given | None:
    try:
        drawn = Case.read(case, profile.rotation)
        x, positions = inputs(profile, drawn)
    except (KeyError, TypeError, ValueError):
        return None
    if drawn.convention.axes:  # calls of tokens whose numbers differ are made here anyway
        return None
    return Given(x, positions, drawn.convention, drawn.strided, drawn.positions_view)


def _gradient(
    session: Session, maker: Maker, forward: Outcome, named: set[str]
) -> Iterator[Diagnosis]:
    """Examine the gradient as a rotation of the cotangent by the opposite angle.

    A gradient that is off as the function is, is its own and no second mistake; nor is one in the
    dtype to which the function brings x.
    """
    asker = Asker(session, backward=True)
    outcome = examine(asker, maker, right=BACKWARD)
    demoted = {one.explanation.choice.key for one in forward.confirmed} & {"x demoted", "D12"}
    if not demoted and not _whats(outcome) & _whats(forward):
        for one in in_words(asker, outcome, BACKWARD):
            if one.name not in named:
                yield one if one.name == "unknown" else _of_gradient(one)
    for one in conduct(asker, outcome.answers):
        refused = one.name == "it raises" or one.name.endswith("refused")
        yield _raised(asker, outcome, one) if refused else one


def _whats(outcome: Outcome) -> set[str]:
    """Return what is done in place of what is claimed, each in words and where."""
    return {f"{one.explanation.choice.what}, {one.explanation.where}" for one in outcome.confirmed}


def _raised(asker: Asker, outcome: Outcome, one: Diagnosis) -> Diagnosis:
    """Say whether the gradient raises by itself, or because it was taken before."""
    raised = next(answer for answer in outcome.answers if answer.fault == "raises")
    asker.fresh()
    again = asker.ask(raised.given.alone())
    alone = again is not None and again.y is not None
    key = "G4" if alone else "gradient raises"
    more = " On a fresh instance it does not." if alone else ""
    return fact(key, f"{one.sentence}{more}", one.where, one.evidence)


_GRADIENTS = {
    "direction reversed": "G1",
    "the gradient turns forward": "G1",
    "zeroed": "G3",
    "positions of one row for all": "gradient of one row",
    "strides ignored": "strided cotangent misread",
}


def _of_gradient(one: Diagnosis) -> Diagnosis:
    if one.id.startswith("G"):
        return one
    key = _GRADIENTS.get(one.name, "gradient")
    return replace(fact(key, one.sentence, one.where, one.evidence), rank=one.rank)
