"""`ropespec zoo`: list the implementations the suite is proved on, or score the suite on them."""

import sys
from typing import TYPE_CHECKING

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ropespec.conformance.cli.output import WIDE, console, deliver, writable
from ropespec.conformance.cli.status import CONFORMS, FAILS, Unusable

if TYPE_CHECKING:  # the zoo and the judge are loaded by the command itself
    from ropespec.conformance.zoo import Right, Wrong
    from ropespec.conformance.zoo.score import Score, Scored

__all__ = ["zoo_command"]


@click.command("zoo", short_help="List the wrong implementations, or score the suite on them.")
@click.option("--score", "scored", is_flag=True, help="Run the whole suite on every one.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all cases.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="With how many seeds the right ones are run.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@click.option("--json", "json_file", metavar="FILE", help="Write the score there.")
def zoo_command(
    *, scored: bool, seed: int, seeds: int, only: tuple[str, ...], json_file: str | None
) -> int:
    """List the wrong implementations the suite must catch and the right ones it must pass.

    With --score the suite is run on them: what is caught, by which check first, and whether the
    diagnosis names it; false alarms; checks that kill nothing.

    \b
    ropespec zoo
    ropespec zoo --score --json score.json
    ropespec zoo --score --only clockwise --only usual_half

    Exit status: 0; with --score 1 if a target is missed (all wrong ones caught, 95 % of them named,
    no right one failed, no check idle); 2 if there is nothing of that name.
    """  # noqa: D301  # click reads the character \b as "keep these lines"
    if json_file and not scored:
        raise Unusable("--json writes the score; give it with --score")
    chosen = _chosen(only)
    if not scored:
        _list(console(sys.stdout, WIDE), chosen)
        return CONFORMS
    destination = writable(json_file)
    from ropespec.conformance.zoo.score import score  # Hypothesis is slow to load

    reasons = {entry.name: entry.profile.framework.unavailable() for entry in chosen}
    for name, reason in reasons.items():
        if reason:
            click.echo(f"{name} is not run: {reason}", err=True)
    chosen = tuple(entry for entry in chosen if not reasons[entry.name])
    found = score(chosen, seed=seed, seeds=seeds, whole=not only, on_done=_progress)
    content = {"seed": seed, **found.as_dict()}
    deliver(content, destination, lambda screen: _print(screen, found), WIDE)
    return CONFORMS if found.met else FAILS


def _chosen(only: tuple[str, ...]) -> "tuple[Wrong | Right, ...]":
    from ropespec.conformance.subject.target import (  # as below
        did_you_mean,
    )
    from ropespec.conformance.zoo import zoo  # NumPy is slow to load

    entries = {entry.name: entry for entry in zoo()}
    for name in only:
        if name not in entries:
            near = did_you_mean(name, list(entries))
            raise Unusable(f"--only: there is no {name!r} in the zoo{near}")
    return tuple(entry for entry in entries.values() if not only or entry.name in only)


def _progress(item: "Scored", done: int, total: int) -> None:
    kind = "wrong" if item.is_wrong else "right"
    what = f"fails {item.failed[0]}" if item.failed else "passes"
    mark = "" if item.as_it_should else "  <-- should not"
    line = f"[{done}/{total}] {item.name} ({kind}) {what} in {item.seconds:.1f} s{mark}"
    click.echo(line, err=True)


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold", justify="right" if column == "s" else "left")
    return table


def _list(screen: Console, entries: "tuple[Wrong | Right, ...]") -> None:
    from ropespec.conformance.zoo import Wrong  # NumPy is slow to load
    from ropespec.conformance.zoo.not_shown import NOT_SHOWN

    for title, kind in (("Wrong", True), ("Right", False)):
        table = _table("name", "id", title)
        for entry in entries:
            if isinstance(entry, Wrong) is kind:
                id_ = entry.catalogue if isinstance(entry, Wrong) else ""
                table.add_row(Text(entry.name), id_, Text(entry.sentence))
        if table.row_count:
            screen.print(table)
            screen.print()
    table = _table("id", "Why it is not here")
    for id_, reason in NOT_SHOWN.items():
        table.add_row(id_, Text(reason))
    screen.print(table)


def _print(screen: Console, found: "Score") -> None:
    table = _table("name", "id", "caught by", "named", "s")
    for item in found.scored:
        caught = item.failed[0] if item.failed else "-"
        if not item.is_wrong:
            caught = f"false alarm: {caught}" if item.failed else "passes, as it should"
        elif not item.failed:
            caught = "MISSED"
        named = "" if item.named is None else " or ".join(item.diagnosis) or "-"
        named = named if item.named is not False else f"not: {named}"
        table.add_row(
            Text(item.name), item.catalogue, Text(caught), Text(named), f"{item.seconds:.1f}"
        )
    screen.print(table)
    screen.print()
    for line in _lines(found):
        screen.print(Text(line), soft_wrap=True)


def _lines(found: "Score") -> list[str]:
    """Return the targets, one line each, and what is measured besides."""
    count = len(found.wrong)
    caught = count - len(found.missed)
    lines = [f"caught {caught} of {count}{_names(found.missed, '; missed')}"]
    lines.append(f"named {found.named_share:.1%}{_names(found.unnamed, '; not named')}")
    lines.append(f"false alarms {len(found.false_alarms)}{_names(found.false_alarms)}")
    if found.whole:
        lines.append(f"idle checks {len(found.idle)}{_names(found.idle)}")
        own = found.without_own_killer
        lines.append(f"clauses without a killer of their own {len(own)}{_names(own)}")
    seconds = sorted(item.first_failure for item in found.wrong if item.first_failure is not None)
    if seconds:
        lines.append(f"seconds to the first failure, median {seconds[len(seconds) // 2]:.1f}")
    lines.append("all targets are met" if found.met else "a target is missed")
    return lines


def _names(names: tuple[str, ...], before: str = "") -> str:
    return f"{before}: {', '.join(names)}" if names else ""
