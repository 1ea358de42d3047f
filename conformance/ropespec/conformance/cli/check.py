"""`ropespec check`: find out whether an implementation conforms."""

import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

from ropespec.conformance.cli.foreign import foreign_options
from ropespec.conformance.cli.given import given, given_options
from ropespec.conformance.cli.jobs import fitting, jobs_option, others
from ropespec.conformance.cli.options import (
    deadline_option,
    naming_backends,
    profile_options,
    python_option,
    require_target,
    timeout_option,
)
from ropespec.conformance.cli.output import NARROW, Destination, console, deliver, writable
from ropespec.conformance.cli.status import CONFORMS, FAILS, UNDECIDED, UNUSABLE, Unusable
from ropespec.conformance.frameworks import BUILTIN
from ropespec.conformance.profile import WAIVERS, ProfileError
from ropespec.conformance.report.document import document, documents
from ropespec.conformance.report.progress import Progress
from ropespec.conformance.report.proof import proved
from ropespec.conformance.report.summary import print_report
from ropespec.conformance.results import Verdict
from ropespec.conformance.subject.errors import TargetUnusable

if TYPE_CHECKING:
    from ropespec.conformance.beside import Beside
    from ropespec.conformance.subject.session import Session

__all__ = ["check_command"]


@dataclass(frozen=True, slots=True)
class _Request:
    """What was asked for, beside the target."""

    claims: dict[str, Any]
    timeout: float
    seed: int
    full: bool
    only: tuple[str, ...]
    deadline: float
    verbose: bool
    scripts: bool
    jobs: int | None

    @property
    def limits(self) -> dict[str, Any]:
        """What a document says of the extent of the run."""
        return {"only": self.only, "full": self.full}


@click.command("check", short_help="Check an implementation, clause by clause.")
@click.argument("target", required=False)
@profile_options
@given_options
@foreign_options
@click.option("--full", is_flag=True, help="Ten times as many cases.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Draw other cases."
)
@click.option(
    "--only",
    multiple=True,
    metavar="CLAUSE",
    help="Only this clause, check or chapter, or all clauses such as ROT; may be repeated.",
)
@click.option("--json", "json_file", metavar="FILE", help="Write the whole verdict there.")
@click.option("--verbose", is_flag=True, help="Print every clause, and every failure in full.")
@python_option
@timeout_option
@deadline_option
@jobs_option
@naming_backends
def check_command(  # one parameter per option that is no claim
    *,
    target: str | None,
    full: bool,
    seed: int,
    only: tuple[str, ...],
    json_file: str | None,
    verbose: bool,
    timeout: float,
    deadline: float,
    jobs: int | None,
    **options: Any,  # noqa: ANN401  # the profile options
) -> int:
    """Check an implementation of RoPE, clause by clause.

    TARGET is BACKENDS (the built-in backends), package.module:attribute or
    path/to/file.py:attribute: a function f(x, positions) that returns x rotated, or a module or
    an object that offers more of the API. Functions and classes of other signatures are bound by
    the names of their parameters, or by --style, and a module is searched for one.
    Without TARGET every built-in backend is checked.
    Programs and libraries in other languages are named by --command and --c-abi; other commands
    take them as command:PROGRAM and c-abi:LIBRARY:SIGNATURE.

    x has shape (batch, sequence, heads, head_dim) in the order of --axes; positions has shape
    (batch, sequence). What is not said here is taken from the file of --profile, then from a
    PROFILE mapping beside the function, then from the defaults.

    \b
    ropespec check my_rope.py:apply --half
    ropespec check my_kernels.rope:apply --interleaved --array torch --axes bhsd --dtype bfloat16
    ropespec check transformers.models.llama.modeling_llama
    ropespec check my_rope.py:apply --half --only ROT-7 --json verdict.json
    ropespec check --command './my_rope --fast' --half
    ropespec check librope.so --c-abi 'rope(float* x, const int* pos, int b, int s, int h, int d)'

    Exit status: 0 conforms, 1 does not, or a waiver is not needed, 2 the call or the target is
    unusable, or nothing can be checked of it, 3 the file of --json could not be written, 4 nothing
    failed before the --deadline, but not all was checked.
    """  # noqa: D301  # click reads the character \b as "keep these lines"
    scripts = verbose or json_file is not None
    claims = given(options)
    request = _Request(claims, timeout, seed, full, only, deadline, verbose, scripts, jobs)
    source = require_target(target).path if target is not None else ""
    destination = writable(json_file, source)
    if only:
        _require_known(only)
    _require_waivers(request.claims)
    if target is None:
        return _check_all(request, destination)
    verdict = _judge(target, request)
    content = document(verdict, **request.limits)

    def show(screen: Console) -> None:
        print_report(screen, verdict, only=only, verbose=verbose)

    deliver(content, destination, show)
    return _status([verdict])


def _status(verdicts: Sequence[Verdict]) -> int:
    if any(verdict.failures or verdict.unneeded for verdict in verdicts):
        return FAILS
    if any(verdict.undecided for verdict in verdicts):
        return UNDECIDED
    return CONFORMS if any(verdict.judged for verdict in verdicts) else UNUSABLE


def _check_all(request: _Request, destination: Destination | None) -> int:
    """Check every backend that can run here; those that cannot are neither passed nor failed."""
    not_run = {name: reason for name in BUILTIN if (reason := _missing(name))}
    verdicts = [_judge(name, request) for name in BUILTIN if name not in not_run]

    def show(screen: Console) -> None:
        for verdict in verdicts:
            print_report(screen, verdict, only=request.only, verbose=request.verbose)
            screen.print()
        for name, reason in not_run.items():
            screen.print(Text(f"{name} was not run: {reason}", style="yellow"), soft_wrap=True)

    deliver(documents(verdicts, not_run, **request.limits), destination, show)
    return _status(verdicts)


def _judge(target: str, request: _Request) -> Verdict:
    subject = target, request.claims, request.timeout
    with (
        Progress(console(sys.stderr, NARROW), target) as progress,
        others(request.jobs, *subject, request.only) as beside,
    ):
        # Loaded after the first line is on the screen, and the checks while the subject is.
        from ropespec.conformance.opening import open_subject

        # An interruption in one import may leave another waiting for good: nobody waits for that.
        checks = threading.Thread(target=_load_checks, daemon=True)
        checks.start()
        try:
            with open_subject(*subject) as session:
                checks.join()
                verdict = _run(session, request, progress, fitting(beside, request.jobs, session))
        except TargetUnusable as problem:
            raise Unusable(str(problem), problem.remedy) from None
        return proved(verdict) if request.scripts else verdict


def _load_checks() -> None:
    """Import what a run needs beside its subject: Hypothesis alone takes half a second."""
    from ropespec.conformance import registry

    registry.all_checks()


def _run(
    session: "Session", request: _Request, progress: Progress, beside: Sequence["Beside"]
) -> Verdict:
    from ropespec.conformance.jobs.process import make_ready  # not before it is wanted
    from ropespec.conformance.runner import Plan, run

    make_ready()
    plan = Plan(request.seed, request.full, request.only, request.deadline)
    verdict = run(session, plan, progress.on_result, beside)
    if not verdict.failures:
        return verdict
    from ropespec.conformance.remedy import remedied  # what conforms needs none

    return remedied(session, verdict, plan)


def _missing(name: str) -> str | None:
    from ropespec.conformance.builtin import availability  # only without a target

    return availability(name)


def _require_waivers(claims: Mapping[str, Any]) -> None:
    """Refuse waivers that name nothing before anything is said to be loading."""
    if WAIVERS not in claims:
        return
    from ropespec.conformance.waivers import read_waivers  # only with waivers

    try:
        read_waivers(claims[WAIVERS])
    except ProfileError as problem:
        raise Unusable(str(problem)) from None


def _require_known(only: tuple[str, ...]) -> None:
    from ropespec.conformance.runner import Plan, select  # only with --only

    try:
        select(Plan(only=only))
    except ValueError as problem:
        raise Unusable(f"--only: {problem}") from None
