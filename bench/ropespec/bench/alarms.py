"""Whether a right implementation is ever refused: `python -m ropespec.bench.alarms FILE`.

Each right one of the zoo, and with `--gallery DIR` each real one that is known to conform, is given
all checks at many seeds; with `--claims N` it is rotations that are right under claims drawn at
random. FILE gets a line of JSON for each run, and what stands there is not run again, so that this
can be stopped and go on, on another day too: a line keeps the state of which it is evidence.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import click

from ropespec.bench.claims import drawn, written
from ropespec.bench.part import Part, part_option
from ropespec.conformance.gallery.installing import installed
from ropespec.conformance.gallery.judging import CONFORMS, NOT_RUN
from ropespec.conformance.gallery.keeping import kept
from ropespec.conformance.gallery.listed import Implementation, read
from ropespec.conformance.gallery.running import Runner
from ropespec.conformance.profile import Profile
from ropespec.conformance.runner import Plan, run
from ropespec.conformance.subject.session import Session, load
from ropespec.conformance.zoo import Right, zoo

__all__ = ["main", "refused"]

_LISTS = Path(__file__).parents[3] / "conformance" / "gallery"
_TIMEOUT = 60.0
"""Seconds for a call, of which the first may compile."""


Done = set[tuple[str, int]]
Names = tuple[str, ...]
One = TypeVar("One", Right, Implementation)


def refused(target: str, profile: Profile, seed: int) -> dict[str, str]:
    """Return what each check says that a right one does not pass at a seed."""
    with Session(load(target), profile, timeout=_TIMEOUT) as session:
        verdict = run(session, Plan(seed=seed))
    return {one.id: one.message for one in verdict.failures}


def _ours(seeds: int, done: Done, part: Part, names: Names) -> Iterator[dict[str, Any]]:
    right = [one for one in zoo() if isinstance(one, Right)]
    known = [one for one in right if not one.profile.framework.unavailable()]
    there = _chosen(known, names)
    for seed in range(seeds):
        for entry in there[part[0] :: part[1]]:
            if (entry.name, seed) not in done:
                found = refused(entry.target, entry.profile, seed)
                yield {"name": entry.name, "seed": seed, "refused": found}


def _under_claims(count: int, done: Done, part: Part) -> Iterator[dict[str, Any]]:
    for number in range(part[0], count, part[1]):
        name = f"claims {number}"
        if (name, 0) in done:
            continue
        claims = drawn(number)
        with TemporaryDirectory() as folder:
            found = refused(written(claims, Path(folder)), Profile.from_mapping(claims), 0)
        yield {"name": name, "seed": 0, "claims": claims, "refused": found}


def _theirs(
    folder: Path, seeds: int, done: Done, part: Part, names: Names
) -> Iterator[dict[str, Any]]:
    gallery = read(_LISTS)
    rows = kept(gallery)
    conform = [one for one in gallery.implementations if _conforms(rows.get(one.name, {}))]
    known = _chosen(conform, names)
    there = {one.name: installed(one, folder) for one in gallery.environments}
    with Runner(gallery.folder, there, workers=1) as runner:
        for seed in range(seeds):
            for one in known[part[0] :: part[1]]:
                if (one.name, seed) not in done:
                    yield _said(one.name, seed, runner.row(_at(one, seed)))


def _chosen(known: list[One], names: Names) -> list[One]:
    """Return those of these names, or all where no name is given."""
    there = {one.name: one for one in known}
    if missing := [name for name in names if name not in there]:
        must = f"--name must be one of {', '.join(there)}; got {missing[0]!r}"
        raise click.UsageError(must)
    return [there[name] for name in dict.fromkeys(names)] or known


def _conforms(row: Mapping[str, Any]) -> bool:
    return row.get("status") == CONFORMS


def _at(one: Implementation, seed: int) -> Implementation:
    return replace(one, words=(*one.words, "--seed", str(seed)), refused=())


def _said(name: str, seed: int, row: Mapping[str, Any]) -> dict[str, Any]:
    if row["status"] == NOT_RUN:
        return {"name": name, "seed": seed, "not run": row["why"]}
    failed = {item["id"]: item["message"] for item in row["failed"]}
    return {"name": name, "seed": seed, "refused": failed}


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--seeds", type=click.IntRange(min=1), default=20, show_default=True)
@click.option(
    "--gallery",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Those of the gallery in these environments, not those of the zoo.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    help="Only this one, of the zoo or of the gallery; repeatable.",
)
@click.option(
    "--claims",
    "count",
    type=click.IntRange(min=1),
    help="Rotations that are right under so many sets of claims, each at one seed, not the zoo.",
)
@click.option(
    "--state", default="", help="Kept with each line: $(git describe --always --dirty) says it."
)
@part_option
def main(
    *,
    file: Path,
    seeds: int,
    folder: Path | None,
    names: Names,
    count: int | None,
    state: str,
    part: Part,
) -> None:
    """Give every right implementation all checks, at many seeds."""
    if names and count is not None:
        raise click.UsageError("--name and --claims: rotations under drawn claims have no names")
    told, done = _told(file)
    if folder is not None:
        due = _theirs(folder.absolute(), seeds, done, part, names)
    elif count is not None:
        due = _under_claims(count, done, part)
    else:
        due = _ours(seeds, done, part, names)
    with file.open("a", encoding="utf-8") as to:
        for one in due:
            told.append(one)
            to.write(json.dumps({**one, "state": state}) + "\n")
            to.flush()
            click.echo(f"{len(told)} runs, the last {one['name']} at seed {one['seed']}", err=True)
            for id_, message in one.get("refused", {}).items():
                first = message.partition("\n")[0]
                click.echo(f"{one['name']} is refused by {id_} at seed {one['seed']}: {first}")
    counted = Counter(one["name"] for one in told if "refused" in one)
    alarms = sum(bool(one.get("refused")) for one in told)
    missing = sum("not run" in one for one in told)
    click.echo(
        f"{counted.total()} runs of {len(counted)} right ones: {alarms} refused; {missing} not run"
    )


def _told(file: Path) -> tuple[list[dict[str, Any]], Done]:
    """Return what FILE holds, and of whom and which seeds that is."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        told = [json.loads(line) for line in lines]
        return told, {(one["name"], one["seed"]) for one in told}
    except (ValueError, KeyError, TypeError, OSError) as problem:
        must = f"FILE: {str(file)!r} must hold lines that this command wrote: {problem!r}"
        raise click.UsageError(must) from None


if __name__ == "__main__":
    main()
