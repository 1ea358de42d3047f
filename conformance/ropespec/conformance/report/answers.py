"""The answers to both questions in words: are the numbers right, and is the contract kept."""

import re
from collections.abc import Iterable, Mapping

from ropespec.conformance.report.failure import finding
from ropespec.conformance.report.page import shortened
from ropespec.conformance.results import CheckResult, Status, Verdict

__all__ = [
    "contract_answer",
    "deviation",
    "kept_lines",
    "numbers_answer",
    "unneeded_lines",
    "waived_words",
]

MOST = 3
"""How many deviations, or waivers, are told."""

FEW = 64
"""Letters of what is told in a few words."""

_RAISED = re.compile(r"[\w.]+(?::|$)")
"""How what a subject raised begins: with the name of a type."""

VERBS = {Status.ERROR: "raises", Status.CRASH: "crashes", Status.TIMEOUT: "does not answer"}

WHERE: Mapping[str, str] = {
    "ROT-18": "on empty input",
    "ROT-19.strides": "on a strided x",
    "ROT-20": "in the gradient",
    "ROT-22.gradient": "in the gradient",
    "ROT-23": "with out=",
    "ROT-24.jvp": "in forward mode",
    "ROT-24.vmap": "under vmap",
    "ROT-24.compiled": "when compiled",
}
"""What a clause or a check asks for that is no plain call."""


def numbers_answer(verdict: Verdict) -> str:
    """Say whether the numbers are right, and if they are not, how many clauses say so.

    Parameters
    ----------
    verdict : Verdict
        What was found. Of what is waived it is only said that there is more than this.
    """
    ran = [one for one in verdict.checks if _is_judged_number(one)]
    failed = {one.clause for one in ran if one.status is Status.FAIL and not one.waived}
    if failed:
        return f"numbers wrong: {len(failed)} of {len({one.clause for one in ran})} clauses fail"
    return "numbers right otherwise" if verdict.numbers == "wrong" else f"numbers {verdict.numbers}"


def _is_judged_number(result: CheckResult) -> bool:
    return result.kind == "numbers" and result.status in (Status.PASS, Status.FAIL)


def contract_answer(verdict: Verdict) -> str:
    """Say whether the contract is kept, and if it is not, each deviation in a few words.

    Parameters
    ----------
    verdict : Verdict
        As in `numbers_answer`.
    """
    wrong = verdict.numbers == "wrong"  # which almost any check of the contract sees as well
    found = (one for one in verdict.deviations if not one.waived)
    told = _deviations(one for one in found if not (wrong and one.general))
    if told:
        more = [f"and {len(told) - MOST} more"] if len(told) > MOST else []
        return f"deviates from the contract: {'; '.join(told[:MOST] + more)}"
    if verdict.contract == "broken":
        return "contract kept otherwise"
    return f"contract {verdict.contract}"


def _deviations(results: Iterable[CheckResult]) -> list[str]:
    """Tell deviations once each, with the clauses in which they show."""
    found: dict[str, list[str]] = {}
    for result in results:
        told = {clause for clauses in found.values() for clause in clauses}
        if result.clause not in told:
            found.setdefault(deviation(result), []).append(result.clause)
    return [f"{_several(clauses)}, {words}" for words, clauses in found.items()]


def _several(clauses: list[str]) -> str:
    first, *others = clauses
    return f"{first} and {len(others)} more clauses" if others[1:] else " and ".join(clauses)


def deviation(result: CheckResult) -> str:
    """Say in a few words how a check of a subject breaks the contract.

    Parameters
    ----------
    result : CheckResult
        One of `Verdict.deviations`.
    """
    where = WHERE.get(result.id, WHERE.get(result.clause, ""))
    said = finding(result)
    if result.clause == "ROT-18" and result.status is Status.FAIL:
        return f"{'raises' if ' raises ' in said else 'gives another shape'} {where}"
    if result.status is Status.FAIL:
        return shortened(said, FEW)
    if result.status is Status.ERROR and not (where and _RAISED.match(said)):
        return shortened(f"raises {said}" if _RAISED.match(said) else said, FEW)
    return f"{VERBS[result.status]} {where}".strip()


def waived_words(waivers: Mapping[str, str]) -> str:
    """Name waivers with their reasons, in a line."""
    told = [f"{name} ({shortened(why, FEW)})" for name, why in waivers.items()]
    more = [f"and {len(told) - MOST} more"] if len(told) > MOST else []
    return f"waived: {', '.join(told[:MOST] + more)}"


def unneeded_lines(unneeded: Mapping[str, str]) -> tuple[str, ...]:
    """Say of each waiver that nothing needs what became of its checks."""
    return tuple(f"waiver {name} is not needed: {became}" for name, became in unneeded.items())


def kept_lines(lacks: Iterable[str], stragglers: Mapping[str, int]) -> tuple[str, ...]:
    """Say what a subject was not kept from on this system, and what it left running.

    Parameters
    ----------
    lacks : iterable of str
        What this system cannot keep it from, one clause each.
    stragglers : mapping of str to int
        Processes that outlived it and were ended: how many of each name.
    """
    lines = []
    if told := "; ".join(lacks):
        lines.append(f"isolation is weaker on this system: {told}")
    if stragglers:
        named = (f"{count} {name}" for name, count in sorted(stragglers.items()))
        lines.append(f"it left processes behind, which were ended: {', '.join(named)}")
    return tuple(lines)
