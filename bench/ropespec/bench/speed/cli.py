"""The command `python -m ropespec.bench.speed`."""

import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from ropespec.bench.speed.document import document, write
from ropespec.bench.speed.environment import environment
from ropespec.bench.speed.ladder import DTYPES, LEFT_OUT, TOKENS
from ropespec.bench.speed.options import Options, Size
from ropespec.bench.speed.plot import plot
from ropespec.bench.speed.progress import Progress
from ropespec.bench.speed.run import run
from ropespec.bench.speed.table import WIDTH, ladders, machine, missing
from ropespec.bench.speed.targets import outcomes
from ropespec.bench.speed.verdicts import verdicts

__all__ = ["command", "main"]

_Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def _among(name: str, variable: str, values: Sequence[str], text: str) -> _Decorator:
    """Return an option that may be repeated, for some of the values."""
    kind = click.Choice(tuple(values))
    return click.option(name, variable, multiple=True, type=kind, help=f"{text}; repeatable.")


@click.command(context_settings={"max_content_width": WIDTH}, epilog=LEFT_OUT)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Only this contender; * stands for anything, as in 'ropespec torch*'; repeatable.",
)
@_among("--dtype", "dtypes", DTYPES, "Only this dtype")
@_among("--layout", "layouts", ("interleaved", "half-split"), "Only these pairs")
@_among("--pass", "directions", ("forward", "both"), "Only the rotation, or it and its gradient")
@_among("--into", "intos", ("new", "out", "self"), "Only into this kind of memory")
@click.option(
    "--tokens",
    multiple=True,
    type=click.IntRange(min=1),
    help=f"Only steps of so many tokens of {', '.join(map(str, TOKENS))}; repeatable.",
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    type=Size(),
    metavar="BxSxHxD",
    help="Batch, tokens, heads, head_dim in place of the ladder; repeatable.",
)
@click.option("--full", is_flag=True, help="The whole product, peers compiled too: many hours.")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How often the contenders take turns in each case.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    default=40,
    show_default=True,
    help="In each round; the least time of all counts.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=0.1,
    show_default=True,
    help="After so many a round makes do with fewer repetitions, but 2 if asked for.",
)
@click.option(
    "--device",
    type=click.Choice(("auto", "cpu", "cuda")),
    default="auto",
    show_default=True,
    help="Where torch, JAX and CuPy work; auto takes a GPU.",
)
@click.option("--check-targets", is_flag=True, help="Name every miss; status 1 if there is one.")
@click.option(
    "--json",
    "json_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the environment, all rows and all targets.",
)
@click.option(
    "--plot",
    "plot_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw copies against size, a picture for each pass and kind of memory: for ladder.png "
    "ladder-forward-new.png and so on (needs matplotlib).",
)
def command(**given: Any) -> None:  # noqa: ANN401  # the options, as click reads them
    """Measure at every size how close to a copy the rotation comes, and how exact it stays.

    Rotary embedding moves bytes and does little else, so the yardstick is a copy of the same
    tensor: made in the same process between the repetitions, into the same kind of memory. New
    memory has to be fetched from the system, which can take longer than the work itself.

    Beside the times stands the largest error near position 2^20: speed without truth is nothing.

    \b
    python -m ropespec.bench.speed                     the ladder: about 25 minutes
    python -m ropespec.bench.speed --only 'ropespec torch' --only 'transformers*'
    python -m ropespec.bench.speed --only '*numpy*' --dtype float32 --tokens 512
    python -m ropespec.bench.speed --json result.json --plot ladder.png

    \b
    contender  "ropespec torch" is given positions, "ropespec torch tables" cos and sin;
               "naive numpy" and "naive jax" are the usual few lines in those frameworks,
               with their tables at hand; "naive jax positions" makes them with every call;
               "torch product" and "jax product" multiply each number once
    pairs      interleaved: components 2i and 2i+1; half-split: i and i + D/2
    pass       forward: the rotation; both: it and the gradient of x from that of the result,
               counted as one of the two
    into       new memory, a given out, or x itself

    Every contender runs in a process of its own, and in each case all take turns. A call that
    compiles is never timed. One that is not installed is named at the end. A run that is
    interrupted shows and writes what it has.
    """  # noqa: D301  # click reads the character \b as "keep these lines"
    options = Options(**given)
    options.check()
    contenders, plan = options.contenders(), options.plan()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Progress() as progress:
        found = run(contenders, plan, progress)
    where = environment(found.gpu)
    targets = outcomes(found.rows)
    console = Console(width=WIDTH)
    console.print(machine(where))
    ladders(console, found.rows)
    if not plan.full:
        console.print(Text(LEFT_OUT, style="dim"))
    lacking = missing(found)
    if lacking is not None:
        console.print(lacking)
    if targets:
        verdicts(console, targets, every=options.check_targets)
    if options.json_path is not None:
        write(options.json_path, document(where, plan, found, targets))
    if options.plot_path is not None:
        for path in plot(options.plot_path, where, found.rows):
            console.print(f"drawn: {path}")
    if found.left:
        raise KeyboardInterrupt
    if options.check_targets and any(not one.met for one in targets):
        raise SystemExit(1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str or None
        As on the command line; None takes those of the process.

    Returns
    -------
    int
        0 after a run, 1 if a target is missed that was to be checked, 2 for bad options, 130 if it
        was interrupted: what had been measured is shown and written.
    """
    name = "python -m ropespec.bench.speed"
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
