"""What was asked for on the command line, checked before anything runs."""

import fnmatch
import importlib.util
from dataclasses import dataclass
from pathlib import Path

import click

from ropespec.bench.speed.case import Direction, Into, Shape
from ropespec.bench.speed.ladder import DTYPES, Plan
from ropespec.bench.speed.subjects import ENTRIES, Entry, compiled

__all__ = ["Options", "Size", "selected"]


class Size(click.ParamType[Shape]):
    """BxSxHxD."""

    name = "BxSxHxD"

    def convert(
        self, value: str | Shape, param: click.Parameter | None, ctx: click.Context | None
    ) -> Shape:
        """Read four positive numbers, the last of them even."""
        if isinstance(value, tuple):
            return value
        parts = value.lower().split("x")
        if len(parts) != 4 or not all(part.isascii() and part.isdigit() for part in parts):
            self.fail(f"{value!r} is not four numbers such as 1x2048x32x128", param, ctx)
        batch, length, heads, head_dim = map(int, parts)
        if min(batch, length, heads, head_dim) < 1 or head_dim % 2:
            self.fail(f"{value!r}: all four must be positive, and head_dim even", param, ctx)
        return batch, length, heads, head_dim


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options, named as in `--help`."""

    only: tuple[str, ...]
    dtypes: tuple[str, ...]
    layouts: tuple[str, ...]
    directions: tuple[Direction, ...]
    intos: tuple[Into, ...]
    sizes: tuple[Shape, ...]
    tokens: tuple[int, ...]
    rounds: int
    repetitions: int
    seconds: float
    device: str
    full: bool
    check_targets: bool
    json_path: Path | None
    plot_path: Path | None

    def check(self) -> None:
        """Refuse before anything runs what would fail after it."""
        if self.plot_path is not None:
            if importlib.util.find_spec("matplotlib") is None:
                raise click.UsageError("--plot needs matplotlib: pip install matplotlib")
            if self.plot_path.suffix not in {".png", ".svg", ".pdf"}:
                raise click.UsageError(f"--plot {self.plot_path}: not a .png, .svg or .pdf")
        for path in (self.json_path, self.plot_path):
            if path is not None and not path.absolute().parent.is_dir():
                raise click.UsageError(f"there is no folder {path.parent} for {path.name}")
        if not self.plan().cases():
            raise click.UsageError("nothing is left to measure: no size has so many tokens")

    def contenders(self) -> list[Entry]:
        """Return who is measured."""
        return selected(self.only, full=self.full)

    def plan(self) -> Plan:
        """Return what is measured of them."""
        return Plan(
            dtypes=self.dtypes or DTYPES,
            layouts=tuple(one == "interleaved" for one in self.layouts) or (True, False),
            directions=self.directions or ("forward", "both"),
            intos=self.intos or ("new", "out", "self"),
            shapes=self.sizes,
            tokens=self.tokens,
            full=self.full,
            rounds=self.rounds,
            repetitions=self.repetitions,
            limit=self.seconds,
            device=self.device,
        )


def selected(only: tuple[str, ...], *, full: bool) -> list[Entry]:
    """Return the contenders that the options ask for, in their order.

    Parameters
    ----------
    only : tuple of str
        Names, in which `*` stands for anything; none for all.
    full : bool
        Where no name is given, take what is compiled too: torch peers, and ours with tables.

    Raises
    ------
    click.UsageError
        If a name fits nobody.
    """
    twice = [compiled(one) for one in ENTRIES if one.kind == "peer" and one.backend == "torch"]
    every = [*ENTRIES, *twice]
    if not only:
        return [one for one in every if full or not _costly(one)]
    for pattern in only:
        if not any(fnmatch.fnmatch(entry.name, pattern) for entry in every):
            known = ", ".join(entry.name for entry in every)
            raise click.UsageError(f"--only {pattern!r} is none of {known}")
    return [one for one in every if any(fnmatch.fnmatch(one.name, pattern) for pattern in only)]


def _costly(entry: Entry) -> bool:
    """Whether it takes seconds of compiling in every case, and is no target's subject."""
    return entry.is_compiled and (entry.kind == "peer" or entry.has_tables)
