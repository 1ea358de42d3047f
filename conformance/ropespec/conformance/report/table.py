"""The table of clauses: one row per clause that ran, and one line per reason for what did not."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.text import Text

from ropespec.conformance.report.page import Grid
from ropespec.conformance.results import NOT_RUN, CheckResult, Status
from ropespec.spec.clauses import clauses

__all__ = [
    "ClauseRow",
    "clause_grid",
    "clause_rows",
    "is_not_offered",
    "left_out",
    "number",
    "skip_lines",
    "styled",
]

STYLES = {
    Status.PASS: "green",
    Status.FAIL: "bold red",
    Status.ERROR: "bold red",
    Status.CRASH: "bold red",
    Status.TIMEOUT: "bold red",
    Status.SKIP: "yellow",
}

# The worst first: a clause has the status of its worst check, and a skip hides nothing.
SEVERITY = (Status.CRASH, Status.TIMEOUT, Status.ERROR, Status.FAIL, Status.PASS, Status.SKIP)


# As `Check.reason_to_skip` words it.
_NOT_OFFERED = re.compile(r"^(\w+(?:, \w+)*) not offered$")


@dataclass(frozen=True, slots=True)
class ClauseRow:
    """All checks of one clause, taken together.

    Attributes
    ----------
    clause, title, chapter : str
        The clause, and the chapter it stands in.
    status : Status
        The worst status among its checks; skipped only if all of them were.
    examples : int
        Cases run, over all its checks.
    worst : float or None
        The largest error / budget; None if nothing was measured.
    waived : bool
        Whether all that failed in it is waived.
    """

    clause: str
    title: str
    chapter: str
    status: Status
    examples: int
    worst: float | None
    waived: bool


def clause_rows(checks: Iterable[CheckResult]) -> tuple[ClauseRow, ...]:
    """Take the checks of each clause together, in the order of their first check."""
    grouped: dict[str, list[CheckResult]] = {}
    for result in checks:
        grouped.setdefault(result.clause, []).append(result)
    return tuple(_row(results) for results in grouped.values())


def _row(results: Sequence[CheckResult]) -> ClauseRow:
    first = results[0]
    known = clauses().get(first.clause)
    measured = [result.worst for result in results if result.worst is not None]
    failed = [result for result in results if not result.status.conforms]
    return ClauseRow(
        clause=first.clause,
        title=first.title,
        chapter=known.chapter if known else "",
        status=min((result.status for result in results), key=SEVERITY.index),
        examples=sum(result.examples for result in results),
        worst=max(measured, key=_size) if measured else None,
        waived=bool(failed) and all(result.waived for result in failed),
    )


def _size(worst: float) -> float:
    return math.inf if math.isnan(worst) else worst


def clause_grid(rows: Iterable[ClauseRow]) -> Grid:
    """Lay out the rows that ran, chapter by chapter."""
    grid = Grid(
        *("clause", "title", "status", "examples", "error/budget"),
        right=("examples", "error/budget"),
        folded=("title",),
    )
    chapter = None
    for row in rows:
        if row.status is Status.SKIP:
            continue
        if chapter is not None and row.chapter != chapter:
            grid.part()
        chapter = row.chapter
        status = styled(row.status).append(", waived" if row.waived else "", style="default")
        grid.add(row.clause, row.title, status, str(row.examples), number(row.worst))
    return grid


def is_not_offered(reason: str) -> bool:
    """Whether a check did not run because the subject lacks a function."""
    return _NOT_OFFERED.match(reason.rstrip(".")) is not None


def left_out(checks: Iterable[CheckResult]) -> tuple[str, ...]:
    """Say in a line how much was not checked, and whole what was not for want of time or subject.

    Which checks these are, and why each, is told by `skip_lines`.
    """
    missing = unfit = 0
    lines: dict[str, int] = {}
    for result in checks:
        if result.status is not Status.SKIP:
            continue
        if result.message.startswith(NOT_RUN):
            lines[result.message] = lines.get(result.message, 0) + 1
        elif is_not_offered(result.message):
            missing += 1
        else:
            unfit += 1
    said = [f"{_count(number)} {message}" for message, number in lines.items()]
    parts = [f"{missing} of functions that it does not offer"] if missing else []
    parts += [f"{unfit} of what is not claimed or not possible here"] if unfit else []
    if parts:
        said.append(f"{_count(missing + unfit)} left out: {', '.join(parts)}")
    return tuple(said)


def skip_lines(checks: Iterable[CheckResult]) -> tuple[str, ...]:
    """Say once per reason what did not run: `3 checks skipped: <reason> (ROT-5, ROT-6)`.

    Functions that are not offered make one line together, whatever their number.
    """
    reasons: dict[str, list[str]] = {}
    missing: dict[str, None] = {}
    not_offered = 0
    for result in checks:
        if result.status is not Status.SKIP:
            continue
        reason = result.message.rstrip(".") or "no reason was given"
        if match := _NOT_OFFERED.match(reason):
            missing |= dict.fromkeys(match[1].split(", "))
            not_offered += 1
        else:
            reasons.setdefault(reason, []).append(result.clause)
    lines = [
        f"{_count(len(ids))} skipped: {reason} ({', '.join(dict.fromkeys(ids))})"
        for reason, ids in reasons.items()
    ]
    if missing:
        lines.append(f"{_count(not_offered)} skipped: not offered: {', '.join(missing)}")
    return tuple(lines)


def _count(checks: int) -> str:
    return f"{checks} check{'' if checks == 1 else 's'}"


def styled(status: Status) -> Text:
    """Return the word of a status in its colour; the word alone says everything."""
    return Text(status.value, style=STYLES[status])


def number(value: float | None) -> str:
    """Print a figure of merit to two significant digits; a dash where nothing was measured."""
    return "-" if value is None else f"{value:.2g}"
