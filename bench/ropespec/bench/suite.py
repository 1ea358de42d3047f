"""How fast the suite is: `python -m ropespec.bench.suite`.

For each subject: seconds until it is loaded, seconds for all checks, cases and calls per second,
and the time of the checks as a ratio to the same calls made again in a plain loop without judging.
For the wrong implementations of the zoo: seconds until the first failing check is known.
Ratios are of one run on one machine; absolute times are worth little on a shared one.
"""

import dataclasses
import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ropespec.conformance.builtin import BUILTIN, availability, builtin_profile
from ropespec.conformance.profile import Profile
from ropespec.conformance.results import CheckResult
from ropespec.conformance.runner import Plan, run
from ropespec.conformance.subject.session import Session, SubjectError, load
from ropespec.conformance.zoo import Wrong, zoo

__all__ = ["Speed", "first_failure", "measure"]


@dataclass(frozen=True, slots=True)
class Speed:
    """What was measured of one subject.

    Attributes
    ----------
    subject : str
        The target.
    start : float
        Seconds until the subject was loaded in its worker.
    checks : float
        Seconds for all checks.
    cases, calls : int
        How many of each.
    ratio : float
        `checks` divided by the time of the same calls in a plain loop.
    """

    subject: str
    start: float
    checks: float
    cases: int
    calls: int
    ratio: float


def measure(target: str, profile: Profile, *, seed: int = 0) -> Speed:
    """Run all checks on a subject, then its calls again without judging.

    Parameters
    ----------
    target : str
        The subject.
    profile : Profile
        Its claims.
    seed : int
        Seed of the cases.
    """
    began = time.perf_counter()
    with Session(load(target), profile) as session:
        _ = session.environment
        loaded = time.perf_counter()
        with session.recording() as tape:
            verdict = run(session, Plan(seed=seed))
        checked = time.perf_counter()
        calls = [one.question for one in tape if one.question and one.question.do == "call"]
        for question in calls:
            try:
                session.ask(question)
            except SubjectError:
                continue  # a refused call was part of the run, too
        looped = time.perf_counter()
    cases = sum(result.examples for result in verdict.checks)
    return Speed(
        subject=target,
        start=loaded - began,
        checks=checked - loaded,
        cases=cases,
        calls=len(calls),
        ratio=(checked - loaded) / (looped - checked),
    )


class _FailedError(Exception):
    """Ends a run at its first failure."""


def first_failure(entry: Wrong) -> float:
    """Seconds from the start of the command's work to the first failing check of an entry."""

    def stop(result: CheckResult, index: int, total: int) -> None:  # noqa: ARG001  # the signature
        if not result.status.conforms:
            raise _FailedError

    began = time.perf_counter()
    with Session(load(entry.target), entry.profile, timeout=5.0) as session, suppress(_FailedError):
        run(session, Plan(), stop)
    return time.perf_counter() - began


def _table(speeds: Sequence[Speed]) -> Table:
    table = Table("subject", "start s", "checks s", "cases", "cases / s", "calls", "ratio to calls")
    for one in speeds:
        table.add_row(
            one.subject,
            f"{one.start:.1f}",
            f"{one.checks:.1f}",
            str(one.cases),
            f"{one.cases / one.checks:.0f}",
            str(one.calls),
            f"{one.ratio:.1f}",
        )
    return table


def _over(entries: Sequence[Wrong], progress: Callable[[str], None]) -> dict[str, float]:
    found = {}
    for entry in entries:
        found[entry.name] = first_failure(entry)
        progress(entry.name)
    return found


@click.command()
@click.option("--subject", multiple=True, help="A built-in backend; may be repeated.")
@click.option("--zoo/--no-zoo", "with_zoo", default=True, help="Time the wrong implementations.")
@click.option("--json", "file", type=click.Path(dir_okay=False), help="Write the numbers there.")
def main(*, subject: tuple[str, ...], with_zoo: bool, file: str | None) -> None:
    """Measure how fast the checks are."""
    console = Console()
    error = Console(stderr=True)
    names = [name for name in subject or BUILTIN if availability(name) is None]
    speeds = []
    for name in names:
        error.print(f"checking {name} ...")
        speeds.append(measure(name, builtin_profile(name)))
    console.print(_table(speeds))
    entries = [one for one in zoo() if isinstance(one, Wrong)] if with_zoo else []
    entries = [one for one in entries if not one.profile.framework.unavailable()]
    first = _over(entries, lambda name: error.print(f"first failure of {name}"))
    if first:
        console.print(f"first failure: median {statistics.median(first.values()):.1f} s, ", end="")
        console.print(f"largest {max(first.values()):.1f} s ({max(first, key=first.__getitem__)})")
    if file:
        content = {
            "platform": platform.platform(),
            "python": platform.python_version(),
            "subjects": [dataclasses.asdict(one) for one in speeds],
            "first_failure": first,
        }
        Path(file).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
