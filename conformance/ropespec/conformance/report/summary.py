"""The report on one subject: header, table, what is wrong, the failures in full, the verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from ropespec.conformance.report.failure import failure
from ropespec.conformance.report.table import clause_rows, clause_table, skip_lines, styled
from ropespec.conformance.results import CheckResult, Diagnosis, Status, Verdict

__all__ = ["print_report", "profile_line", "verdict_lines"]

LAYOUTS = {True: "interleaved (2i, 2i+1)", False: "half-split (i, i+d/2)"}


def print_report(console: Console, verdict: Verdict, *, only: Sequence[str] = ()) -> None:
    """Print everything a reader needs to know about one verdict.

    Parameters
    ----------
    console : Console
        Where to; colours and width are its own affair.
    verdict : Verdict
        What was found.
    only : sequence of str
        The clauses, checks or chapters the run was limited to; empty for all of them.
    """
    telling = [result for result in verdict.failures if not result.general]
    vague = [result for result in verdict.failures if result.general]
    failed = telling or vague[:1]
    _print(console, Text(verdict.subject, style="bold"))
    _print(console, Text(f"{profile_line(verdict.profile)}, seed {verdict.seed}"))
    console.print()
    console.print(clause_table(clause_rows(verdict.checks)))
    for index, line in enumerate(skip_lines(verdict.checks)):
        _print(console, Text(line if index else f"\n{line}", style="dim"))
    if failed:
        for item in verdict.diagnosis:
            _print(console, _named(item))
        _print(console, Text("\nWhat is wrong:", style="bold"))
        for result in failed:
            _print(console, _summary(result))
        if others := [result.id for result in vague if result not in failed]:
            line = f"  as after almost any mistake, {len(others)} more checks fail: "
            _print(console, Text(line + ", ".join(others), style="dim"))
        _print(console, Text("\nIn detail:", style="bold"))
        told: dict[tuple[Status, str], str] = {}
        for result in failed:
            way = (result.status, _first_sentence(result))
            same_as = told.setdefault(way, result.id)
            is_first = same_as == result.id or result.status is Status.FAIL
            _print(console, Text())
            _print(console, failure(result, same_as="" if is_first else same_as))
    console.print()
    for text in verdict_lines(verdict, only=only):
        _print(console, text)


def _named(item: Diagnosis) -> Text:
    text = Text("\nDiagnosis: ", style="bold")
    label = f"{item.id} {item.name}".strip()
    text.append(label, style="bold red")
    text.append(f" (certainty {item.certainty:.0%})\n  {item.sentence}", style="default")
    return text


def _summary(result: CheckResult) -> Text:
    text = Text("  ")
    text.append_text(styled(result.status))
    text.append(f"  {result.id}  {result.title}: {_first_sentence(result)}")
    return text


def _first_sentence(result: CheckResult) -> str:
    lines = [line.strip() for line in result.message.splitlines() if line.strip()]
    return lines[0] if lines else result.sentence


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
        One line per thing known; the verdict itself is the last.
    """
    lines = [Text(_precision(dtype, name)) for dtype, name in verdict.precision_by_dtype.items()]
    if cut := sum(result.cut for result in verdict.checks):
        lines.append(Text(f"it is slow: {cut} checks drew fewer cases than usual (--full: all)"))
    rows = [row for row in clause_rows(verdict.checks) if row.status is not Status.SKIP]
    failed = [row for row in rows if not row.status.conforms]
    limited = f" (checked only: {', '.join(only)})" if only else ""
    if failed:
        count = f"{len(failed)} of {len(rows)} clauses fail"
        line = f"does not conform: {count}, see first {verdict.failures[0].clause}"
        return (*lines, Text(line + limited, style="bold red"))
    if verdict.overdue:
        left = len(rows), verdict.overdue
        line = "undecided: {} clauses checked and none failed, {} checks were not run in time"
        return (*lines, Text(line.format(*left) + limited, style="bold yellow"))
    if not rows:
        return (*lines, Text("does not conform: nothing was checked" + limited, style="bold red"))
    line = f"conforms{limited}: {len(rows)} {'clause' if len(rows) == 1 else 'clauses'} checked"
    return (*lines, Text(f"{line} in {verdict.duration:.0f} s", style="bold green"))


def _precision(dtype: str, name: str) -> str:
    if name == "none":
        return f"precision measured for {dtype}: no class holds"
    return f"precision measured for {dtype}: {name}"


def profile_line(profile: Mapping[str, Any]) -> str:
    """Print the claims of a profile in one line.

    Parameters
    ----------
    profile : mapping
        As `Profile.as_dict` returns it.

    Returns
    -------
    str
        For example `half-split (i, i+d/2), numpy bshd float32, base 10000, ...`.
    """
    layouts = " and ".join(LAYOUTS[bool(item)] for item in profile.get("layouts", ()))
    dtypes = "/".join(profile.get("dtypes", ()))
    parts = [layouts, f"{profile.get('array', '')} {profile.get('axes', '')} {dtypes}"]
    parts.append(f"base {profile.get('base', 10000.0):g}")
    if profile.get("rotary_dim") is not None:
        parts.append(f"rotary_dim {profile['rotary_dim']}")
    head_dims = profile.get("head_dims", ())
    if len(head_dims) > 3:
        parts.append(f"head_dim {min(head_dims)}..{max(head_dims)}")
    elif head_dims:
        parts.append(f"head_dim {'/'.join(map(str, head_dims))}")
    largest = profile.get("max_position")
    if largest is not None:
        parts.append(f"positions {-largest if profile.get('negative_positions') else 0}..{largest}")
    if profile.get("shared_positions"):
        parts.append("shared by the batch")
    if profile.get("device"):
        parts.append(f"on {profile['device']}")
    if profile.get("precision"):
        parts.append(f"precision {profile['precision']}")
    return ", ".join(part for part in parts if part)


def _print(console: Console, text: Text) -> None:
    # One statement, one line: a reader's terminal wraps it, a script's grep does not want it cut.
    console.print(text, soft_wrap=True)
