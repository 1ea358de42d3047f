"""The command `python -m ropespec.backends.benchmark`."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ropespec.backends.benchmark.case import DTYPES, FULL_SIZES, SIZES, Row, Shape
from ropespec.backends.benchmark.document import document, write
from ropespec.backends.benchmark.environment import environment
from ropespec.backends.benchmark.plot import plot
from ropespec.backends.benchmark.progress import Progress
from ropespec.backends.benchmark.run import Plan, run
from ropespec.backends.benchmark.subjects import BACKENDS, ENTRIES, PEERS, Entry, compiled
from ropespec.backends.benchmark.table import WIDTH, show
from ropespec.backends.benchmark.targets import outcomes

__all__ = ["command", "main", "selected"]


class _Size(click.ParamType[Shape]):
    """BxSxHxD."""

    name = "BxSxHxD"

    def convert(
        self,
        value: str | Shape,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Shape:
        """Read four positive numbers, the last of them even."""
        if isinstance(value, tuple):
            return value
        parts = value.lower().split("x")
        if len(parts) != 4 or not all(part.isascii() and part.isdigit() for part in parts):
            self.fail(f"{value!r} is not four numbers such as 4x2048x32x128", param, ctx)
        batch, length, heads, head_dim = map(int, parts)
        if min(batch, length, heads, head_dim) < 1 or head_dim % 2:
            self.fail(f"{value!r}: all four must be positive, and head_dim even", param, ctx)
        return batch, length, heads, head_dim


@click.command(context_settings={"max_content_width": WIDTH})
@click.option(
    "--backend",
    "backends",
    multiple=True,
    type=click.Choice(BACKENDS),
    help="Only this one of ours; repeat for more. Default: all that are installed.",
)
@click.option(
    "--peer",
    "peers",
    multiple=True,
    type=click.Choice(PEERS),
    metavar="NAME",
    help="Only this one beside ours; repeat for more. Default: all that are installed of "
    f"{', '.join(PEERS)}.",
)
@click.option("--no-peers", is_flag=True, help="Ours and the naive forms alone.")
@click.option(
    "--dtype",
    "dtypes",
    multiple=True,
    type=click.Choice(DTYPES),
    help="Only this dtype; repeat for more. Default: float32 and bfloat16.",
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    type=_Size(),
    metavar="BxSxHxD",
    help="Batch, sequence, heads, head_dim; repeat for more. "
    "Default: 1x1x32x128, 1x512x32x128, 4x2048x32x128.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    default=15,
    show_default=True,
    help="The median is of so many; slow cases make do with fewer, but 5 if asked for.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=0.4,
    show_default=True,
    help="A case that takes longer is slow.",
)
@click.option(
    "--device",
    type=click.Choice(("auto", "cpu", "cuda")),
    default="auto",
    show_default=True,
    help="Where torch, JAX and CuPy work; auto takes a GPU.",
)
@click.option(
    "--compiled",
    "with_compiled",
    is_flag=True,
    help="torch.compile of every eager peer and of ours with tables: seconds for each case.",
)
@click.option(
    "--full",
    is_flag=True,
    help="Everything: float16, 4x8192x32x128, compiled peers, every variant in every "
    "case. Takes an hour.",
)
@click.option("--check-targets", is_flag=True, help="Exit with status 1 if a target is missed.")
@click.option(
    "--json",
    "json_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the environment and all rows.",
)
@click.option(
    "--plot",
    "plot_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the ratios of the largest size (needs matplotlib).",
)
def command(**given: Any) -> None:  # noqa: ANN401  # the options, as click reads them
    """Measure how close to a copy the rotation comes, and how exact it stays.

    Rotary embedding moves bytes and does little else, so the yardstick is a copy of the same
    tensor: made in the same process between the repetitions, into the same kind of memory. New
    memory has to be fetched from the system, which can take longer than the work itself; compare
    ratios only where memory is of the same kind, and see the allocator in the first lines.

    Beside every time stands the largest error near the positions 2^10, 2^17 and 2^20: speed
    without truth is nothing.

    \b
    python -m ropespec.backends.benchmark --no-peers          ours: about 3 minutes
    python -m ropespec.backends.benchmark                     and what others use: about 10
    python -m ropespec.backends.benchmark --backend torch --peer "transformers llama"
    python -m ropespec.backends.benchmark --size 1x1x32x128 --dtype float32 --backend numpy
    python -m ropespec.backends.benchmark --json result.json --plot result.png

    \b
    subject    "ropespec torch" is given positions, "ropespec torch tables" cos and sin;
               "naive numpy" and "naive jax" are the usual few lines in those frameworks
    pairs      inter: components 2i and 2i+1; half: i and i + D/2
    pass       fwd: the rotation; back: the gradient of x from that of the result
    into       new memory, a given out, or x itself

    Every subject runs in a process of its own. One that is not installed is named at the end.
    """  # noqa: D301  # click reads the character \b as "keep these lines"
    options = _Options(**given)
    options.check()
    with Progress() as progress:
        found = run(options.subjects(), options.plan(), progress)
    machine = environment(found.gpu)
    targets = outcomes(found.rows)
    shown = [one for one in targets if options.check_targets or one.measured is not None]
    show(Console(width=WIDTH), machine, found.rows, found.absent, shown)
    if options.json_path is not None:
        write(options.json_path, document(machine, found.rows, found.absent, targets))
    if options.plot_path is not None:
        _draw(options.plot_path, machine, found.rows)
    if options.check_targets and any(one.met is False for one in targets):
        raise SystemExit(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """What was asked for."""

    backends: tuple[str, ...]
    peers: tuple[str, ...]
    no_peers: bool
    dtypes: tuple[str, ...]
    sizes: tuple[Shape, ...]
    repetitions: int
    seconds: float
    device: str
    with_compiled: bool
    full: bool
    check_targets: bool
    json_path: Path | None
    plot_path: Path | None

    def check(self) -> None:
        """Refuse before anything runs what would fail after it."""
        if self.no_peers and self.peers:
            raise click.UsageError("--peer and --no-peers exclude each other")
        if self.plot_path is not None:
            if importlib.util.find_spec("matplotlib") is None:
                raise click.UsageError("--plot needs matplotlib: pip install 'ropespec[benchmark]'")
            if self.plot_path.suffix not in {".png", ".svg", ".pdf"}:
                raise click.UsageError(f"--plot {self.plot_path}: not a .png, .svg or .pdf")
        for path in (self.json_path, self.plot_path):
            if path is not None and not path.absolute().parent.is_dir():
                raise click.UsageError(f"there is no folder {path.parent} for {path.name}")

    def subjects(self) -> list[Entry]:
        """Return the subjects."""
        return selected(
            self.backends,
            self.peers,
            no_peers=self.no_peers,
            with_compiled=self.with_compiled or self.full,
        )

    def plan(self) -> Plan:
        """Return what is measured of them."""
        return Plan(
            dtypes=self.dtypes or (DTYPES if self.full else DTYPES[:2]),
            shapes=self.sizes or (FULL_SIZES if self.full else SIZES),
            repetitions=self.repetitions,
            limit=self.seconds,
            device=self.device,
            full=self.full,
        )


def selected(
    backends: tuple[str, ...], peers: tuple[str, ...], *, no_peers: bool, with_compiled: bool
) -> list[Entry]:
    """Return the subjects that the options ask for, in their order.

    Parameters
    ----------
    backends, peers : tuple of str
        Names; none stands for all.
    no_peers : bool
        Leave all peers out.
    with_compiled : bool
        Add every torch peer, and ours with tables, through `torch.compile`.
    """
    found = []
    for entry in ENTRIES:
        if entry.kind != "peer":
            twice = entry.is_compiled and bool(entry.options.get("tables"))
            if (not backends or entry.backend in backends) and (with_compiled or not twice):
                found.append(entry)
        elif not no_peers and (not peers or entry.name in peers):
            found.append(entry)
            if with_compiled and entry.backend == "torch":
                found.append(compiled(entry))
    return found


def _draw(path: Path, machine: dict[str, Any], rows: Sequence[Row]) -> None:
    try:
        plot(path, machine, rows)
    except ValueError as error:
        raise click.ClickException(f"no plot: {error}") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str or None
        As on the command line; None takes those of the process.

    Returns
    -------
    int
        0 after a run, 1 if a target is missed that was to be checked, 2 for bad options.
    """
    name = "python -m ropespec.backends.benchmark"
    try:
        command.main(args=arguments, prog_name=name, standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"Error: {error.format_message()}", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0
