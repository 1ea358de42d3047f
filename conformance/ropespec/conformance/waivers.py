"""Waivers: failures that are known, each with a reason. They change no rule, and no status."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ropespec.conformance.profile import WAIVERS, ProfileError
from ropespec.conformance.registry import Check, all_checks
from ropespec.conformance.results import NOT_RUN, CheckResult, Status
from ropespec.conformance.subject.target import did_you_mean
from ropespec.spec.clauses import clauses
from ropespec.spec.errors import describe

__all__ = ["covered", "read_waivers", "unneeded", "with_waivers"]


def read_waivers(given: object) -> dict[str, str]:
    """Read waivers as a user writes them, and name clauses and checks as the specification does.

    Parameters
    ----------
    given : object
        A mapping of clauses (`ROT-18`) or checks (`ROT-18.empty`) to reasons.

    Raises
    ------
    ProfileError
        If it is none, if nothing has such a name, or if a reason is missing.
    """
    if not isinstance(given, Mapping):
        raise ProfileError(
            f"{WAIVERS} must map a clause or a check to a reason; got {describe(given)}"
        )
    return {_known(name): _reason(name, reason) for name, reason in given.items()}


def _known(name: object) -> str:
    checks = all_checks()
    known = {one.lower(): one for item in checks for one in (item.clause, item.id)}
    found = known.get(str(name).lower())
    if found is not None:
        return found
    if str(name).upper() in clauses():
        raise ProfileError(f"{name} has no check, so there is nothing to waive")
    near = did_you_mean(str(name), list(known.values()))
    raise ProfileError(f"a waiver names a clause or a check; none is called {name!r}{near}")


def _reason(name: object, reason: object) -> str:
    if isinstance(reason, str) and reason.strip():
        return " ".join(reason.split())
    raise ProfileError(f"waiver {name} needs a reason, in words; got {describe(reason)}")


def covered(waiver: str) -> tuple[Check, ...]:
    """Return the checks that a waiver is for."""
    return tuple(item for item in all_checks() if waiver in (item.id, item.clause))


def with_waivers(result: CheckResult, waivers: Mapping[str, str]) -> CheckResult:
    """Return the result of a check with the waivers that cover it, if it failed."""
    if result.status.conforms:
        return result
    return replace(
        result,
        waived={name: why for name, why in waivers.items() if name in (result.id, result.clause)},
    )


def unneeded(waivers: Iterable[str], results: Iterable[CheckResult]) -> dict[str, str]:
    """Return the waivers that nothing needs, and what became of their checks.

    A waiver of which a check was left out, by the plan or for want of time, may be needed.
    """
    by_id = {result.id: result for result in results}
    found = {}
    for name in waivers:
        own = [by_id.get(item.id) for item in covered(name)]
        ran = [one for one in own if one is not None and not one.message.startswith(NOT_RUN)]
        if len(ran) == len(own) and all(one.status.conforms for one in ran):
            found[name] = _became(ran)
    return found


def _became(results: list[CheckResult]) -> str:
    """Say what became of checks of which none failed."""
    skipped = [one for one in results if one.status is Status.SKIP]
    if len(results) == 1:
        why = f"is skipped ({skipped[0].message})" if skipped else "passes"
        return f"{results[0].id} {why}"
    if not skipped:
        return f"its {len(results)} checks pass"
    if len(skipped) == len(results):
        return f"its {len(results)} checks are skipped"
    return (
        f"of its {len(results)} checks {len(results) - len(skipped)} pass, the others are skipped"
    )
