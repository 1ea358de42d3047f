"""The report on one subject: the answer first, then why, the smallest case, and what to do."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from ropespec.conformance.profile import CLAIMS
from ropespec.conformance.report.advice import advice
from ropespec.conformance.report.answers import (
    contract_answer,
    kept_lines,
    numbers_answer,
    unneeded_lines,
    waived_words,
)
from ropespec.conformance.report.coverage import coverage_line, left_out_lines
from ropespec.conformance.report.failure import failure, finding, smallest, worst_element
from ropespec.conformance.report.measured import measured_lines
from ropespec.conformance.report.page import DOTS, Page
from ropespec.conformance.report.table import (
    clause_grid,
    clause_rows,
    left_out,
    skip_lines,
    styled,
)
from ropespec.conformance.results import CheckResult, Diagnosis, Status, Verdict
from ropespec.conformance.scaled import said as scaling_said

__all__ = [
    "chief",
    "diagnosis_lines",
    "head",
    "print_report",
    "profile_line",
    "verdict_lines",
    "waived_lines",
]

ALWAYS_SAID = ("base", "head_dims")
"""Claims that a report says where they are the default, too."""

LAYOUTS = {True: "interleaved (2i, 2i+1)", False: "half-split (i, i+d/2)"}
LINES = 40
"""What a report is long at most, unless everything is asked for."""

RESERVED = 10
"""Of these, lines for what else fails, and for how it was checked."""

REASONS = 2
"""Reasons that are told why nothing was checked."""

WAIVED = 5
"""Waived failures that are told, unless everything is asked for."""

ANSWER = 8
"""Lines for the answers to both questions at most, which is enough at 60 columns."""

MORE = "--verbose prints every clause, and every failure with a script that shows it"


def print_report(
    console: Console, verdict: Verdict, *, only: Sequence[str] = (), verbose: bool = False
) -> None:
    """Print what a reader needs to know about one verdict.

    Parameters
    ----------
    console : Console
        Where to; colours and width are its own affair.
    verdict : Verdict
        What was found.
    only : sequence of str
        The clauses, checks or chapters the run was limited to; empty for all of them.
    verbose : bool
        Whether to print everything: the table of clauses, every failure and its script.
    """
    page = Page(console)
    head(page, verdict, only=only)
    if not verbose:
        _failures(page, verdict, chief(verdict))
        waived_lines(page, verdict)
        page.lines += _closing(page, verdict)
        page.cut(LINES, "... and more: --verbose prints all of it")
        page.print()
        return
    page.add()
    for line in filter(None, _asides(verdict)):
        page.add(line, hang=2, style="dim")
    page.print()
    _everything(console, verdict)
    page = Page(console)
    page.add()
    page.add(verdict_lines(verdict, only=only)[0], hang=2)
    page.print()


def _asides(verdict: Verdict) -> Sequence[str]:
    covered = (coverage_line(verdict.coverage), *left_out_lines(verdict.coverage))
    kept = kept_lines(verdict.lacks, verdict.stragglers)
    return (_checked_as(verdict), *_bound(verdict), *covered, _spent(verdict), *kept)


def head(page: Page, verdict: Verdict, *, only: Sequence[str] = ()) -> None:
    """Add what every reader needs: the verdict, why, the smallest case, and what to do."""
    for number, text in enumerate(verdict_lines(verdict, only=only)):
        page.add(text, hang=2, most=3 if number else ANSWER)
    first = chief(verdict)
    if first is None:
        return
    for number, text in enumerate(diagnosis_lines(verdict.diagnosis)):
        page.add(text, hang=2, most=2 if number else 4)
    what_to_do = _what_to_do(page, verdict, first)
    case = _case(page, first)
    room = LINES - RESERVED - len(page.lines) - len(what_to_do)
    page.lines += case if len(case) <= room else [*case[: room - 1], Text(f" {DOTS}")]
    page.lines += what_to_do


def chief(verdict: Verdict) -> CheckResult | None:
    """Return the failure to look at first.

    A wrong number comes before a broken contract, what points at a mistake before what almost any
    causes, and what is shown by a number before the rest.
    """

    def rank(result: CheckResult) -> tuple[bool, bool, bool]:
        found = result.counterexample
        no_value = found is None or found.expected is None
        return not _is_wrong_number(result), result.general, no_value

    return min(verdict.failures, key=rank, default=None)


def _is_wrong_number(result: CheckResult) -> bool:
    return result.kind == "numbers" and result.status is Status.FAIL


def verdict_lines(verdict: Verdict, *, only: Sequence[str] = ()) -> tuple[Text, ...]:
    """Say whether the subject conforms, and how precise it was found to be.

    Parameters
    ----------
    verdict : Verdict
        What was found.
    only : sequence of str
        What the run was limited to; a limited run says so.

    Returns
    -------
    tuple of Text
        The verdict first, then one line per thing known.
    """
    lines = [_answer(verdict, f" (checked only: {', '.join(only)})" if only else "")]
    if verdict.numbers == "right":
        lines += [
            Text(f"precision measured for {dtype}: {_precision(name)}")
            for dtype, name in verdict.precision_by_dtype.items()
            if name != "none" or not verdict.failures
        ]
    lines += [Text(line, style="bold red") for line in unneeded_lines(verdict.unneeded)]
    if cut := sum(result.cut for result in verdict.checks):
        checks = f"{cut} check{'' if cut == 1 else 's'}"
        why, way = "it or the machine is slow", "--compiled: if each shape is, few; --full: all"
        lines.append(Text(f"{checks} drew fewer cases than usual, as {why} ({way})"))
    return tuple(lines)


def _answer(verdict: Verdict, limited: str) -> Text:
    """Return the verdict in one line, and with it the answers to both questions."""
    rows = [row for row in clause_rows(verdict.checks) if row.status is not Status.SKIP]
    target, first = verdict.subject, chief(verdict)
    count = f"{len(rows)} {'clause' if len(rows) == 1 else 'clauses'} checked"
    waived = waived_words(_used(verdict)) if verdict.waived else ""
    if verdict.undecided:
        said = f"{count} and none failed, {verdict.overdue} checks were not run in time"
        return Text(f"{target} is undecided: {said}{limited}", style="bold yellow")
    if not rows:
        why = "; ".join(skip_lines(verdict.checks)[:REASONS])
        return Text(f"{target}: nothing was checked{limited}: {why}", style="bold yellow")
    numbers, contract = numbers_answer(verdict), contract_answer(verdict)
    if first is None:
        but = f", {waived}" if waived else ""
        said = f"{target} conforms{limited}{but}: {numbers}, {contract}"
        return Text(f"{said}; {count} in {verdict.duration:.0f} s", style="bold green")
    if _is_wrong_number(first):
        numbers += f", see first {first.clause}"
    elif verdict.numbers == "right" and verdict.precision != "none":
        numbers += f", precision {verdict.precision}"
    end = f"; {waived}" if waived else ""
    said = f"{target} does not conform{limited}: {numbers}; {contract}{end}"
    return Text(said, style="bold red")


def _used(verdict: Verdict) -> dict[str, str]:
    """Return the waivers that cover a failure."""
    return {name: why for result in verdict.waived for name, why in result.waived.items()}


def _precision(name: str) -> str:
    return "no class holds" if name == "none" else name


def diagnosis_lines(found: Sequence[Diagnosis], *, most: int = 3) -> tuple[Text, ...]:
    """Name the mistakes, each with where it is made and the evidence.

    Parameters
    ----------
    found : sequence of Diagnosis
        The most telling first.
    most : int
        How many are told.
    """
    lines: list[Text] = []
    for item in found[:most]:
        word = "Also: " if lines else "Diagnosis: "
        name = f"{item.label}. " if item.label else "unknown. "
        lines.append(Text.assemble((word, "bold"), (name, "bold red"), item.sentence))
        lines += _measured_of(item)
    if more := len(found) - most:
        lines += [Text(f"and {more} more (--json has them)")] * (more > 0)
    return tuple(lines)


def _measured_of(item: Diagnosis) -> Iterator[Text]:
    """Say where a mistake is made and by what evidence, and by how much what has no name is off."""
    equals = f"; not to be told from: {' or '.join(item.equals)}" if item.equals else ""
    told = [("Where", item.where), ("Evidence", f"{item.evidence}{equals}")]
    said = ". ".join(f"{word}: {text}" for word, text in told if text)
    if said:
        yield Text(f"  {said}.", style="dim")
    yield from (Text(f"  {line}.", style="dim") for line in measured_lines(item.measured))


def _case(page: Page, first: CheckResult) -> list[Text]:
    """Show the smallest case of one failure."""
    lines = page.wrapped("\n")[:1]
    lines += page.wrapped(Text.assemble((f"{first.id}  ", "bold"), finding(first)), hang=2, most=3)
    for line in _last_frame(first):
        lines += page.wrapped(line, indent=2, hang=2, most=2)
    if first.counterexample is not None:
        for line in smallest(first.counterexample, brief=True):
            lines += page.wrapped(line, indent=2, hang=2, most=3)
        if worst := worst_element(first.counterexample):
            lines += page.wrapped(worst, indent=2, hang=2, style="bold", most=3)
    return lines


def _last_frame(result: CheckResult) -> list[str]:
    """Return where the subject raised, of which the first line of the message says nothing."""
    lines = [line.strip() for line in result.message.splitlines()[1:] if line.strip()]
    frames = [index for index, line in enumerate(lines) if line.startswith("File ")]
    return lines[frames[-1] : frames[-1] + 2] if frames else []


def _what_to_do(page: Page, verdict: Verdict, first: CheckResult) -> list[Text]:
    lines = [Text(), Text("What to do:", style="bold")]
    for purpose, line in advice(verdict, first):
        text = Text.assemble(f"{purpose}: ", (line, "bold"))
        lines += page.wrapped(text, indent=2, hang=2, most=6)  # a command that is cut is none
    return lines


def _failures(page: Page, verdict: Verdict, first: CheckResult | None) -> None:
    """One line per clause that fails and points at a mistake, as many as there is room for."""
    told = [one for one in verdict.failures if not one.general and one is not first]
    vague = [one for one in verdict.failures if one.general and one is not first]
    groups = _groups(told)
    if not told and not vague:
        return
    page.add()
    page.add("What else fails:", style="bold")
    end = page.wrapped(_consequences(vague), indent=2, hang=2) if vague else []
    room = LINES - len(page.lines) - len(end) - len(_closing(page, verdict))
    for number, group in enumerate(groups):
        lines = page.wrapped(_grouped(group), indent=2, hang=2, most=2)
        rest = len(groups) - number - 1
        if len(lines) + (1 if rest else 0) > room:
            page.add(f"and {rest + 1} more (--verbose: all of them)", indent=2)
            break
        page.lines += lines
        room -= len(lines)
    page.lines += end


def waived_lines(page: Page, verdict: Verdict) -> None:
    """Add the failures that are waived, one line each, with the reasons."""
    if not verdict.waived:
        return
    page.add()
    page.add("Waived:", style="bold")
    for number, result in enumerate(verdict.waived):
        if number == WAIVED and len(verdict.waived) > WAIVED + 1:
            page.add(f"and {len(verdict.waived) - WAIVED} more (--verbose: all of them)", indent=2)
            break
        text = styled(result.status)
        why = ", ".join(result.waived.values())
        text.append(f"  {result.id}  {finding(result)} (waived: {why})", style="default")
        page.add(text, indent=2, hang=2, most=3)


def _groups(results: Iterable[CheckResult]) -> list[list[CheckResult]]:
    """Take together what fails in the same way in several clauses, and the checks of one clause."""
    found: dict[tuple[str, ...], list[CheckResult]] = {}
    for result in results:
        way = (result.status.value, finding(result))
        key = way if result.status is not Status.FAIL else (result.clause,)
        found.setdefault(key, []).append(result)
    return list(found.values())


def _grouped(group: Sequence[CheckResult]) -> Text:
    first = group[0]
    others = list(dict.fromkeys(one.clause for one in group if one.clause != first.clause))
    more = f" and {len(others)} more clauses" if len(others) > 1 else ""
    more = more or (f" and {others[0]}" if others else "")
    text = styled(first.status)
    text.append(f"  {first.id}{more}  {finding(first)}", style="default")
    return text


def _consequences(vague: Sequence[CheckResult]) -> str:
    clauses = len(dict.fromkeys(one.clause for one in vague))
    checks = f"{len(vague)} more check{'' if len(vague) == 1 else 's'}"
    of = f"{clauses} clause{'' if clauses == 1 else 's'}"
    return f"as after almost any mistake, {checks} of {of} (--verbose: which)"


def _closing(page: Page, verdict: Verdict) -> list[Text]:
    kept = kept_lines(verdict.lacks, verdict.stragglers)
    covered = filter(None, [coverage_line(verdict.coverage)])
    said = ["", _checked_as(verdict), *_bound(verdict), *covered]
    lines = [*said, *left_out(verdict.checks), *kept, MORE]
    return [part for line in lines for part in page.wrapped(line, hang=2, style="dim")]


def _checked_as(verdict: Verdict) -> str:
    line = profile_line(verdict.profile, verdict.head_dims)
    return f"checked as {line}, seed {verdict.seed}"


def _bound(verdict: Verdict) -> list[str]:
    """Say what a style made of the subject; nothing where none did."""
    if (style := verdict.style) is None:
        return []
    others = f" (also there: {', '.join(style['others'])})" if style["others"] else ""
    return [f"style {style['name']}: {style['callee']}{others}; {'; '.join(style['told'])}"]


def _spent(verdict: Verdict) -> str:
    parts = [f"{name} {seconds:.1f} s" for name, seconds in verdict.spent.items()]
    return f"{', '.join(parts)}, of all jobs in {verdict.duration:.1f} s" if parts else ""


def _everything(console: Console, verdict: Verdict) -> None:
    """Print the table, what was not checked, and every failure in detail."""
    console.print()
    clause_grid(clause_rows(verdict.checks)).print(console)
    page = Page(console)
    for line in skip_lines(verdict.checks):
        page.add(line, hang=2, style="dim")
    told: dict[tuple[Status, str], str] = {}
    for result in (*verdict.failures, *verdict.waived):
        same_as = told.setdefault((result.status, finding(result)), result.id)
        is_first = same_as == result.id or result.status is Status.FAIL
        page.add()
        failure(page, result, same_as="" if is_first else same_as)
    page.print()


def profile_line(profile: Mapping[str, Any], used: Sequence[int] = ()) -> str:
    """Print the claims of a profile in one line.

    Parameters
    ----------
    profile : mapping
        As `Profile.as_dict` returns it.
    used : sequence of int
        The sizes of head_dim that were used, where these are not all that are claimed.

    Returns
    -------
    str
        For example `half-split (i, i+d/2), numpy bshd float32, base 10000, ...`.
    """
    layouts = " and ".join(LAYOUTS[bool(item)] for item in profile.get("layouts", ()))
    dtypes = "/".join(profile.get("dtypes", ()))
    parts = [layouts, f"{profile.get('array', '')} {profile.get('axes', '')} {dtypes}"]
    for name, told in CLAIMS.items():
        value = profile.get(name, told.default)
        if name == "head_dims" and used and list(used) != list(value):
            parts.append(f"{told.words(used)} ({len(used)} of {len(value)} sizes were drawn)")
        elif name == "base" and profile.get("frequencies"):
            continue
        elif value != told.default or name in ALWAYS_SAID:
            parts.append(told.words(value))
        if name == "base":
            parts.append(scaling_said(profile.get("scaling")))
        if name == "max_position":
            least = -value if profile.get("negative_positions", True) else 0
            parts.append(f"positions {least}..{value}")
    return ", ".join(part for part in parts if part)
