"""`ropespec gallery`: real implementations from the package index, and a verdict each."""

import itertools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ropespec.conformance.cli.output import WIDE, console
from ropespec.conformance.cli.status import CONFORMS, FAILS, UNDECIDED, Unusable
from ropespec.conformance.report.document import version
from ropespec.conformance.report.progress import Progress
from ropespec.conformance.subject.target import did_you_mean

if TYPE_CHECKING:
    from ropespec.conformance.gallery.installing import Installed
    from ropespec.conformance.gallery.listed import Gallery, Implementation

__all__ = ["gallery_command"]

_LISTS = Path(__file__).parents[3] / "gallery"
_ELSEWHERE = "the lists are in the repository of ropespec, which is not here: name yours by --lists"

_MOST = 3
"""Failures that are told while others run; all of them are in the rows."""

Rows = dict[str, dict[str, Any]]


@click.command("gallery", short_help="Check real implementations from the package index.")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--install", "building", is_flag=True, help="Build the environments in DIR.")
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Only this implementation, or those of this package; may be repeated.",
)
@click.option("--again", is_flag=True, help="Check those again whose rows still hold.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many are checked at a time.  [default: one a core]",
)
@click.option(
    "--lists",
    metavar="DIR",
    help="A folder of lists of implementations.  [default: conformance/gallery]",
)
def gallery_command(
    *,
    folder: str | None,
    building: bool,
    only: tuple[str, ...],
    again: bool,
    workers: int | None,
    lists: str | None,
) -> int:
    """Check real implementations of RoPE, each in an environment and a process of its own.

    With --install the environments are built in DIR, one for each list, from the package index that
    pip is told of; without it each implementation is checked there, and verdicts.json and
    verdicts.md are written beside the lists, a row as soon as it is there. A row that still holds
    is not made again, so that a run that was stopped goes on: what is typed and the files it names,
    the version of the package and that of ropespec are the same. Without DIR the rows are shown.

    A list says of each implementation what is typed after `ropespec check`, and what is known to
    fail, with a reason and a link. What is missing or broken is a row that says so. Scripts that
    show what fails are run in the environment, where nothing of ropespec is.

    \b
    ropespec gallery --install ~/gallery
    ropespec gallery ~/gallery
    ropespec gallery ~/gallery --only transformers --again
    ropespec gallery

    Exit status: 0 all is as the lists say, 1 something else fails, or what is known to fail passes,
    2 the call or a list is unusable, or something could not be installed, 4 no row is wrong, but
    some could not be run that the lists do not say so of.
    """  # noqa: D301  # click reads the character \b as "keep these lines"
    gallery, rows = _read(lists)
    chosen = _chosen(gallery, only)
    if folder is None:
        if building:
            raise Unusable("--install needs DIR, the folder to build the environments in")
        _show(gallery, rows, chosen)
        return _status(chosen, rows)
    if building:
        return _install(gallery, chosen, _made(folder))
    if not Path(folder).is_dir():
        raise Unusable(f"DIR must be a folder that --install has built; got {folder!r}")
    _check(gallery, chosen, rows, Path(folder), again=again, workers=workers)
    _show(gallery, rows, chosen)
    return _status(chosen, rows)


def _read(lists: str | None) -> "tuple[Gallery, Rows]":
    from ropespec.conformance.gallery.keeping import kept
    from ropespec.conformance.gallery.listed import GalleryError, read

    if lists is None and not [*_LISTS.glob("*.toml")]:
        raise Unusable(_ELSEWHERE)
    try:
        gallery = read(Path(lists or _LISTS).absolute())
        return gallery, kept(gallery)
    except GalleryError as problem:
        raise Unusable(str(problem)) from None


def _chosen(gallery: "Gallery", only: tuple[str, ...]) -> "tuple[Implementation, ...]":
    names = [one.name for one in gallery.implementations]
    known = dict.fromkeys([*names, *(one.package for one in gallery.implementations)])
    for name in only:
        if name not in known:
            near = did_you_mean(name, list(known))
            raise Unusable(f"--only: the lists have no {name!r}{near}")
    every = gallery.implementations
    return tuple(one for one in every if not only or {one.name, one.package} & {*only})


def _made(folder: str) -> Path:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise Unusable(f"DIR: {folder} cannot be made: {problem.strerror}") from None
    return Path(folder).absolute()


def _install(gallery: "Gallery", chosen: "tuple[Implementation, ...]", folder: Path) -> int:
    from ropespec.conformance.gallery.installing import install, is_installed

    wanted = {one.environment.name for one in chosen}
    status = CONFORMS
    for environment in gallery.environments:
        if environment.name not in wanted or is_installed(environment, folder):
            continue
        with Progress(console(sys.stderr, WIDE), f"{environment.name}, by pip"):
            failed = install(environment, folder)
        click.echo(f"{environment.name}: {len(environment.every) - len(failed)} installed")
        for one, words in failed.items():
            click.echo(f"{environment.name}: {one} could not be installed: {words}", err=True)
            status = Unusable.exit_code
    click.echo(f"the environments are in {folder}; ropespec gallery {folder} checks what is there")
    return status


def _check(
    gallery: "Gallery",
    chosen: "tuple[Implementation, ...]",
    rows: Rows,
    folder: Path,
    *,
    again: bool,
    workers: int | None,
) -> None:
    """Make the rows that do not hold, and write the files after each."""
    from ropespec.conformance.gallery.keeping import holds, key, write
    from ropespec.conformance.gallery.listed import GalleryError
    from ropespec.conformance.gallery.running import Runner

    keys = {one.name: key(one, gallery.folder, version()) for one in chosen}
    due = [one for one in chosen if again or not holds(rows.get(one.name), keys[one.name])]
    done = itertools.count(1)
    with Progress(console(sys.stderr, WIDE), "the gallery") as progress:

        def on_row(name: str, row: dict[str, Any]) -> None:
            rows[name] = {**row, "key": keys[name]}
            write(gallery, rows)
            progress.on_step(next(done), len(due), name)
            click.echo(f"{name}: {row['status']}{_more(row)}")

        there = _there(gallery, folder)
        at_a_time = workers or os.cpu_count() or 1
        try:
            with Runner(gallery.folder, there, at_a_time) as runner:
                runner.rows(due, on_row)
        except GalleryError as problem:
            raise Unusable(str(problem)) from None


def _there(gallery: "Gallery", folder: Path) -> "dict[str, Installed]":
    from ropespec.conformance.gallery.installing import installed

    return {one.name: installed(one, folder) for one in gallery.environments}


def _more(row: dict[str, Any]) -> str:
    told = f": {row['why']}" if "why" in row else f", {row['seconds']:.0f} s"
    unknown = [one for one in row.get("failed", []) if one["id"] in row["unknown"]]
    return told + "".join(f"\n  {one['id']}: {one['message']}" for one in unknown[:_MOST])


def _show(gallery: "Gallery", rows: Rows, chosen: "tuple[Implementation, ...]") -> None:
    from ropespec.conformance.gallery.table import summary

    for one in chosen:
        row = rows.get(one.name, {"status": "no row yet"})
        why = f": {row['why']}" if "why" in row else ""
        click.echo(f"{one.name:<32} {one.package} {one.version}: {row['status']}{why}")
    click.echo(summary(gallery, rows))


def _status(chosen: "tuple[Implementation, ...]", rows: Rows) -> int:
    from ropespec.conformance.gallery.judging import DEVIATES, NOT_RUN, OUTDATED

    found = {one.name: rows.get(one.name, {"status": NOT_RUN})["status"] for one in chosen}
    if {DEVIATES, OUTDATED} & {*found.values()}:
        return FAILS
    lost = any(found[one.name] == NOT_RUN and not one.not_run for one in chosen)
    return UNDECIDED if lost else CONFORMS
