"""What pytest loads of ropespec when it starts: hooks that do nothing until a test of ours ran."""

import os
from collections.abc import Generator
from typing import Any

import pytest

__all__ = ["LEFT", "OUTCOME"]

OUTCOME = pytest.StashKey[dict[str, Any]]()
"""Where a test of `conformance_tests` leaves what came out, as plain values; see `pytest_told`."""

LEFT = pytest.StashKey[list[dict[str, Any]]]()
"""Where subjects that ended with a test file leave what they left running, as plain values."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give the report what came out, and the place of the user's test file."""
    report = yield
    module = item.getparent(pytest.Module)
    if call.when == "teardown" and module is not None and LEFT in module.stash:
        report.ropespec_left = module.stash[LEFT]  # type: ignore[attr-defined]  # as below
    outcome = item.stash.get(OUTCOME, None)
    if outcome is None or call.when != "call":
        return report
    # A plain attribute travels between the processes of pytest-xdist.
    report.ropespec = outcome  # type: ignore[attr-defined]  # see above
    path, line, _ = item.reportinfo()
    place, number = os.fspath(path), (line or 0) + 1
    crash = getattr(report.longrepr, "reprcrash", None)
    if report.failed and crash is not None:
        crash.path, crash.lineno, crash.message = place, number, outcome["finding"]
    elif report.skipped and not outcome["waived"]:
        report.longrepr = (place, number, f"Skipped: {outcome['finding']}")
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Count what is not offered by itself: it is no test that was left out on purpose."""
    outcome = getattr(report, "ropespec", None)
    if outcome is not None and report.skipped and outcome["not_offered"]:
        return "not offered", "", "NOT OFFERED"
    return None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the verdict on each subject, with its diagnosis, once at the end."""
    everything = [report for group in terminalreporter.stats.values() for report in group]
    reports = [report for report in everything if hasattr(report, "ropespec")]
    if reports:
        from ropespec.conformance.pytest_summary import summarize  # noqa: PLC0415  # start quickly

        left = [one for report in everything for one in getattr(report, "ropespec_left", ())]
        summarize(terminalreporter, reports, left)
