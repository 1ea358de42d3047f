"""In how many processes a subject is checked."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from ropespec.conformance.cores import cores
from ropespec.conformance.frameworks import BUILTIN, FRAMEWORKS
from ropespec.conformance.subject.target import FOREIGN

if TYPE_CHECKING:
    from ropespec.conformance.beside import Beside
    from ropespec.conformance.subject.session import Session

__all__ = ["fitting", "jobs_option", "others"]

USUAL = 2
"""Jobs where nobody says how many; each takes a core, most of the time."""

jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Check in N processes at a time, each with an instance of its own.  [default: 2 where "
    "there are two cores; 1 for a program, a library, on a GPU, and with --only]",
)
"""In how many processes a subject is checked; see `ropespec.conformance.beside`."""


@contextmanager
def others(
    jobs: int | None, target: str, claims: Mapping[str, Any], timeout: float, only: Sequence[str]
) -> Iterator[list["Beside"]]:
    """Start the jobs beside the one of this process.

    Parameters
    ----------
    jobs : int or None
        How many there are together; None for what is usual.
    target, claims, timeout
        As in `open_subject`.
    only : sequence of str
        As in `Plan`: for a few checks no second process is worth its start.
    """
    usual = 1 if only or target.startswith(FOREIGN) else min(USUAL, cores())
    with ExitStack() as stack:
        yield [
            stack.enter_context(_beside(target, claims, timeout))
            for _ in range((jobs or usual) - 1)
        ]


def _beside(target: str, claims: Mapping[str, Any], timeout: float) -> "Beside":
    from ropespec.conformance.beside import Beside  # only where it is wanted

    ours = target in BUILTIN and FRAMEWORKS[target].on_host and not claims.get("device")
    return Beside(target, claims, timeout, at_once=ours)


def fitting(beside: list["Beside"], jobs: int | None, session: "Session") -> list["Beside"]:
    """Leave others alone that nobody asked for, where a second instance may lack memory."""
    if jobs is not None or not beside:
        return beside
    device = session.environment["device"]
    return beside if not device or device.startswith("cpu") else []
