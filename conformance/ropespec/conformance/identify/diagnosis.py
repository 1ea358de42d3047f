"""Diagnosis: what was found against what is claimed, and the mistake that explains it."""

from collections.abc import Iterable, Sequence

from ropespec.conformance.identify import claims, conduct, ladders, structure
from ropespec.conformance.identify.conduct import at_least
from ropespec.conformance.identify.facts import Diagnosis, Identification, Name
from ropespec.conformance.identify.view import NEITHER, View
from ropespec.conformance.profile import Profile
from ropespec.conformance.results import CheckResult, Status

__all__ = ["diagnose"]

_LOST = {"it crashes": Status.CRASH, "it hangs": Status.TIMEOUT}
_RULES = (
    *structure.RULES,
    *ladders.RULES,
    *claims.RULES,
    *conduct.RULES,
)


def diagnose(
    identification: Identification, profile: Profile, results: Sequence[CheckResult] = ()
) -> tuple[Diagnosis, ...]:
    """Name the mistakes of a subject.

    Parameters
    ----------
    identification : Identification
        What it does.
    profile : Profile
        What it claims.
    results : sequence of CheckResult
        What the checks found; empty if none has run. If all of them passed there is nothing to
        name.

    Returns
    -------
    tuple of Diagnosis
        The surest first; mistakes that cannot be told apart share their certainty. One with the
        name `unknown` if checks failed and nothing fits; empty if nothing is wrong.
    """
    failed = frozenset(result.id for result in results if result.status is Status.FAIL)
    raised = frozenset(result.id for result in results if result.status is Status.ERROR)
    if results and all(result.status.conforms for result in results):
        return ()
    wrong = (result for result in results if result.id in failed)
    stateful = "ROT-19.walk" in failed or any(result.stateful for result in wrong)
    telling = frozenset(
        result.id for result in results if result.id in failed and not result.general
    )
    view = View(identification, profile, failed, raised, stateful, telling)
    found = _unique(item for rule in _final(view) or _RULES for item in rule(view))
    if results:  # a call that identification alone made is no finding
        found = [item for item in found if _LOST.get(item.name) in (None, *_statuses(results))]
    if all(item.certainty <= NEITHER for item in found):
        found += at_least(view)
    if found:
        return tuple(sorted(found, key=lambda item: -item.certainty))
    return (_unknown(view),) if failed | raised else ()


def _statuses(results: Iterable[CheckResult]) -> tuple[Status, ...]:
    return tuple(result.status for result in results)


def _final(view: View) -> tuple[structure.Rule, ...]:
    """Return the rules that leave nothing else to be said, if one of them applies."""
    return tuple(rule for rule in structure.FINAL if any(True for _ in rule(view)))[:1]


def _unique(found: Iterable[Diagnosis]) -> list[Diagnosis]:
    kept: dict[tuple[str, str], Diagnosis] = {}
    for item in found:
        key = (item.id, "" if item.id else item.name)
        if key not in kept or item.certainty > kept[key].certainty:
            kept[key] = item
    return list(kept.values())


def _unknown(view: View) -> Diagnosis:
    nearest = "a rotation by the conventions found"
    if view.value(Name.SCHEME) not in (None, "unscaled"):
        nearest = str(view.value(Name.SCHEME))
    elif view.value(Name.PAIRING) is not None:
        nearest = f"the {view.value(Name.PAIRING)} rotation"
        if (base := view.value(Name.BASE)) is not None:
            nearest += f" of base {base:g}"
    first = min(view.failed or view.raised)
    sentence = f"unknown, nearest is {nearest}; {first} fails for another reason"
    return Diagnosis("", "unknown", sentence, 0.0)
