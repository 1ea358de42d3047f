"""`ropespec certify`: prove every position of a range."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ropespec.conformance.cli.options import (
    claims_of,
    naming_backends,
    profile_options,
    python_option,
    require_target,
    timeout_option,
)
from ropespec.conformance.cli.output import WIDE, Destination, console, deliver, writable
from ropespec.conformance.cli.status import CONFORMS, FAILS, Unusable
from ropespec.conformance.report.progress import Progress
from ropespec.conformance.subject.errors import TargetUnusable

if TYPE_CHECKING:
    from ropespec.conformance.certify.prove import Certificate

__all__ = ["certify_command"]

WHOLE = "0:131072"


def _range(_: click.Context, parameter: click.Parameter, text: str) -> tuple[int, int]:
    """Take `START:STOP` apart."""
    first, colon, last = text.partition(":")
    try:
        start, stop = int(first), int(last)
    except ValueError:
        colon = ""
    if not colon or start >= stop:
        raise click.BadParameter(
            f"must be START:STOP with START below STOP, two integers; got {text!r}",
            param=parameter,
        )
    if max(abs(start), abs(stop)) > 2**62:
        raise click.BadParameter(f"must be within 2^62 of 0; got {text!r}", param=parameter)
    return start, stop


@click.command("certify", short_help="Prove every position of a range.")
@click.argument("target")
@profile_options
@click.option(
    "--positions",
    callback=_range,
    default=WHOLE,
    show_default=True,
    metavar="START:STOP",
    help="From START to STOP - 1, every one.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes on this machine.  [default: one a core]",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Of a Dask cluster, such as tcp://node:8786, in place of processes on this machine.",
)
@click.option(
    "--json",
    "json_file",
    metavar="FILE",
    help="Write the certificate there; what is done is kept in FILE.progress until then.",
)
@python_option
@timeout_option
@naming_backends
def certify_command(
    *,
    target: str,
    json_file: str | None,
    **options: Any,  # noqa: ANN401  # what is to be proved and where, and the profile options
) -> int:
    """Prove that every position of a range is right, for every pair.

    Both unit inputs of every pair are turned at every position, in every claimed dtype and layout,
    and each component is held against its bound; of the 16-bit dtypes every number is turned too,
    at some angles. TARGET is BACKENDS, package.module:attribute or path/to/file.py:attribute.

    The last axis has 128 components, or the most below that are claimed, or each --head-dim. The
    precision class is that of --precision, or the best that holds at a sample.

    The work runs on Dask, on this machine or on any cluster that has ropespec and the target. Lost
    workers lose nothing. Stop it with Ctrl-C; with --json the same command goes on where it was.

    \b
    ropespec certify numpy --dtype float32 --json certificate.json
    ropespec certify my_rope.py:apply --half --positions 0:2147483648 --scheduler tcp://node:8786

    Exit status: 0 proved, 1 not, 2 the call, the target or the cluster is unusable, 3 the file of
    --json could not be written.
    """  # noqa: D301  # click reads the character \b as "keep these lines"
    source = require_target(target)
    destination = writable(json_file, source.path)
    # A worker elsewhere need not be in this folder.
    named = f"{source.path}:{source.attribute}".removesuffix(":")
    named = target if source.is_foreign or not source.path else named
    request = _Request(
        named,
        claims_of(options),
        destination,
        *(options[name] for name in ("positions", "timeout", "workers", "scheduler")),
    )
    return _told(_proved(request), request)


@dataclass(frozen=True, slots=True)
class _Request:
    """What was asked for."""

    target: str
    claims: dict[str, Any]
    destination: Destination | None
    positions: tuple[int, int]
    timeout: float
    workers: int | None
    scheduler: str | None

    def __post_init__(self) -> None:
        if self.workers is not None and self.scheduler is not None:
            raise Unusable("--workers is for this machine; a cluster has its own: leave one out")

    @property
    def progress_file(self) -> Path | None:
        """Where what is done is kept."""
        if self.destination is None or self.destination.path is None:
            return None
        return self.destination.path.with_name(f"{self.destination.path.name}.progress")


def _proved(request: _Request) -> "Certificate":
    with Progress(console(sys.stderr, WIDE), request.target) as progress:
        # Loaded after the first line is on the screen.
        from ropespec.conformance.certify.cluster import (
            SchedulerUnusable,
            Workers,
        )
        from ropespec.conformance.certify.journal import OtherPlan
        from ropespec.conformance.certify.prove import planned, prove

        dims, file = tuple(request.claims.get("head_dims", ())), request.progress_file
        try:
            plan = planned(
                request.target,
                request.claims,
                request.timeout,
                positions=request.positions,
                head_dims=dims,
            )
            return prove(
                plan,
                workers=Workers(request.scheduler, request.workers),
                progress_file=file,
                on_found=progress.on_step,
            )
        except TargetUnusable as problem:
            raise Unusable(str(problem), problem.remedy) from None
        except (SchedulerUnusable, OtherPlan) as problem:
            raise Unusable(str(problem)) from None
        except KeyboardInterrupt:
            if file is not None and file.exists():
                kept = f"ropespec: what is done is kept in {file}"
                click.echo(f"{kept}; the same command goes on from there", err=True)
            raise


def _told(found: "Certificate", request: _Request) -> int:
    """Deliver the certificate, and return the exit status."""
    from ropespec.conformance.report.certificate import (  # NumPy is loaded by now
        certificate_document,
        print_certificate,
    )

    content = certificate_document(found)
    deliver(content, request.destination, lambda at: print_certificate(at, found), WIDE)
    if request.progress_file is not None:
        request.progress_file.unlink(missing_ok=True)
    return CONFORMS if found.holds else FAILS
