"""Whether luck decides what is caught: `python -m ropespec.bench.seeds`.

Each wrong implementation of the zoo is given to the checks that are there because of it, at several
seeds; one that passes a check at some seed and fails it at another is printed.
"""

import math
from collections.abc import Iterator, Sequence

import click

from ropespec.bench.part import Part, part_option
from ropespec.conformance.registry import Check, all_checks
from ropespec.conformance.runner import Plan, run_check
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.trial import Effort, Trial
from ropespec.conformance.zoo import Wrong, zoo

__all__ = ["passed"]

_TIMEOUT = 5.0
_COMPILED = 60.0
"""Seconds for a call, of which the first may compile."""


def passed(entry: Wrong, seeds: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Yield each check of a wrong implementation that it passes, and the seed.

    Parameters
    ----------
    entry : Wrong
        What must fail its own checks.
    seeds : sequence of int
        Seeds of the cases.
    """
    checks: dict[str, Check] = {one.id: one for one in all_checks()}
    timeout = _TIMEOUT if entry.profile.array == "numpy" else _COMPILED
    with Session(load(entry.target), entry.profile, timeout=timeout) as session:
        for seed in seeds:
            session.refresh()  # as in a run of its own
            for id_ in entry.killed_by:
                # That it fails is enough, at whatever case.
                trial = Trial(session, untried=set(), effort=Effort(seconds=math.inf))
                if run_check(checks[id_], trial, Plan(seed=seed)).status.conforms:
                    yield id_, seed


@click.command()
@click.option("--seeds", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--array", multiple=True, help="Only those of this framework; may be repeated.")
@part_option
def main(*, seeds: int, array: tuple[str, ...], part: Part) -> None:
    """Give each wrong implementation to its own checks, at several seeds."""
    first, step = part
    entries = [
        one
        for one in zoo()
        if isinstance(one, Wrong)
        and not one.profile.framework.unavailable()
        and (not array or one.profile.array in array)
    ][first::step]
    missed = 0
    for number, entry in enumerate(entries, start=1):
        found = list(passed(entry, range(seeds)))
        missed += bool(found)
        for id_, seed in found:
            click.echo(f"{entry.name} passes {id_} at seed {seed}")
        if number % 20 == 0:
            click.echo(f"{number} of {len(entries)}", err=True)
    click.echo(f"{len(entries) - missed} of {len(entries)} fail their own checks at {seeds} seeds")


if __name__ == "__main__":
    main()
