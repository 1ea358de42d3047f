"""The verdict on each subject of `conformance_tests`, printed once when pytest ends."""

import io
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from ropespec.conformance.judge.precision import PRECISIONS
from ropespec.conformance.opening import open_subject
from ropespec.conformance.pytest_told import result_of
from ropespec.conformance.remedy import remedied
from ropespec.conformance.report.answers import kept_lines
from ropespec.conformance.report.page import Page
from ropespec.conformance.report.screen import shown
from ropespec.conformance.report.summary import head, waived_lines
from ropespec.conformance.report.table import left_out
from ropespec.conformance.results import CheckResult, Status, Verdict
from ropespec.conformance.runner import Plan, explained, select
from ropespec.conformance.subject.errors import TargetUnusable
from ropespec.conformance.waivers import unneeded

__all__ = ["summarize"]


def summarize(
    reporter: pytest.TerminalReporter, reports: Iterable[Any], left: Sequence[Mapping[str, Any]]
) -> None:
    """Print the verdicts.

    Parameters
    ----------
    reporter : TerminalReporter
        Where to.
    reports : iterable of reports
        Those of our tests, with what each left in its attribute `ropespec`.
    left : sequence of mappings
        What subjects were not kept from and left running, by target.
    """
    groups: dict[str, list[Any]] = {}
    for report in reports:
        if report.ropespec["of_waiver"]:
            continue
        key = json.dumps([report.ropespec[name] for name in ("target", "claims", "seed", "only")])
        groups.setdefault(key, []).append(report)
    if not groups:
        return
    reporter.write_sep("=", "ropespec")
    for number, group in enumerate(groups.values()):
        if number:
            reporter.write_line("")
        _subject(reporter, group)
    for target in sorted({one["target"] for one in left}):
        own = [one for one in left if one["target"] == target]
        lacks = dict.fromkeys(clause for one in own for clause in one["lacks"])
        stragglers = sum((Counter(one["stragglers"]) for one in own), Counter[str]())
        for line in kept_lines(lacks, stragglers):
            reporter.write_line(shown(f"{target}: {line}"))


def _subject(reporter: pytest.TerminalReporter, reports: Sequence[Any]) -> None:
    told = [report.ropespec for report in reports if report.ropespec["result"]]
    if not told:
        why = min(reports, key=lambda report: not report.failed).ropespec  # the others skip
        reporter.write_line(f"{why['target']} cannot be used: {why['finding']}", red=True)
        return
    verdict = _explained(_verdict(told, sum(report.duration for report in reports)), told[0])
    width = shutil.get_terminal_size().columns
    page = Page(Console(file=io.StringIO(), width=width, color_system=None))
    asked = len(select(Plan(only=tuple(told[0]["only"]))))
    ran = len(verdict.checks)
    only = tuple(told[0]["only"]) or ((f"{ran} of {asked} checks",) if ran < asked else ())
    head(page, verdict, only=only)
    waived_lines(page, verdict)
    for text in left_out(verdict.checks):
        page.add(text, hang=2)
    colour = {"red": True} if verdict.failures or verdict.unneeded else {"green": True}
    for number, line in enumerate(page.lines):
        markup = {"bold": True, **colour} if number == 0 else {}
        reporter.write_line(shown(line.plain), **markup)


def _verdict(told: Sequence[Mapping[str, Any]], seconds: float) -> Verdict:
    """Put the results of single tests together to one verdict."""
    first = told[0]
    results = {found.id: found for found in (result_of(one["result"]) for one in told)}
    offered = first["offered"]
    chosen = select(Plan(only=tuple(first["only"])))
    for item in chosen:
        if offered is not None and not set(item.needs) <= set(offered):
            missing = ", ".join(name for name in item.needs if name not in offered)
            results[item.id] = CheckResult(
                *(item.id, item.clause, "", item.sentence, Status.SKIP),
                message=f"{missing} not offered",
            )
    checks = tuple(results[item.id] for item in chosen if item.id in results)
    return Verdict(
        subject=first["target"],
        profile=first["profile"],
        seed=first["seed"],
        precision_by_dtype=_precision(one["precision"] for one in told),
        checks=checks,
        duration=seconds,
        waivers=first["waivers"],
        unneeded=unneeded(first["waivers"], checks),
    )


def _precision(measured: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the best class per dtype that held in every process: the least precise of them."""
    order = [*PRECISIONS, "none"]
    found: dict[str, str] = {}
    for classes in measured:
        for dtype, name in classes.items():
            found[dtype] = max(found.get(dtype, name), name, key=order.index)
    return found


def _explained(verdict: Verdict, told: Mapping[str, Any]) -> Verdict:
    """Name the mistake, and find the claims that fit, if anything failed."""
    if not verdict.failures:
        return verdict
    try:
        with open_subject(told["target"], told["claims"], told["timeout"]) as session:
            plan = Plan(seed=verdict.seed, only=tuple(told["only"]))
            return remedied(session, explained(session, verdict), plan)
    except TargetUnusable:  # it was usable before; the verdict stands
        return replace(verdict, diagnosis=())
