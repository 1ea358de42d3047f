"""The command `python -m ropespec.bench.card`."""

import datetime as dt
from pathlib import Path

import click

from ropespec.bench.card.run import run
from ropespec.bench.card.steps import steps
from ropespec.bench.card.store import finished, path_of, write
from ropespec.bench.speed.environment import environment

__all__ = ["NO_DEVICE", "main"]

NO_DEVICE = 3
"""Exit status where there is no card."""


@click.command()
@click.option(
    "--results",
    default="results",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the results.",
    show_default=True,
)
@click.option(
    "--device",
    default="cuda",
    type=click.Choice(["cuda", "cpu"]),
    show_default=True,
    help="cpu takes the card's place, to see that every step runs.",
)
@click.option("--only", multiple=True, metavar="STEP", help="Only this step; repeatable.")
@click.option("--quick", is_flag=True, help="A few cases of each step, kept apart from the others.")
@click.option("--again", is_flag=True, help="Run what has been run before, too.")
@click.option(
    "--seconds",
    default=570,
    type=click.IntRange(min=60),
    show_default=True,
    help="How long a step may take.",
)
def main(
    results: Path, device: str, only: tuple[str, ...], quick: bool, again: bool, seconds: int
) -> None:  # fmt: skip  # an option and its parts a line, as above
    """Find out all that is to be known of the backends on a card.

    Versions; every result against the CPU's bits; the conformance suite on CUDA torch, JAX and
    CuPy; the ladder of sizes against the card's copy; CUDA graphs; two streams. Each step takes
    less than ten minutes and writes a file named after the device and the day. Begun again, the
    command goes on with the steps that have no result yet with these versions.

    Exit status: 0 all passed, 1 not all did, 3 there is no card.
    """
    name = _device_name(device)
    if name is None:
        click.echo("no device: torch finds no card, and nothing was run")
        raise SystemExit(NO_DEVICE)
    wanted = steps(device, quick=quick, seconds=seconds)
    known = [step.name for step in wanted]
    if unknown := set(only) - set(known):
        raise click.UsageError(
            f"no step {', '.join(sorted(unknown))}; there are {', '.join(known)}"
        )
    name += " quick" if quick else ""
    results.mkdir(parents=True, exist_ok=True)
    where = environment("" if device == "cpu" else name)
    statuses = []
    for step in wanted:
        if only and step.name not in only:
            continue
        found = None if again else finished(results, name, where["versions"], step.name)
        kept = "" if found is None else f", kept of {found['date']}"
        if found is None:
            click.echo(f"{step.name} ...")
            today = dt.datetime.now(dt.UTC).date().isoformat()
            head = where | {"step": step.name, "device": name, "date": today}
            found = head | run(step, seconds)
            write(path_of(results, name, today, step.name), found)
        click.echo(f"{step.name}: {found['status']}{kept}")
        statuses.append(found["status"])
    raise SystemExit(int(any(status in {"failed", "out of time"} for status in statuses)))


def _device_name(device: str) -> str | None:
    """Return the name of the card, that of the CPU in its place, or None where there is no card."""
    if device == "cpu":
        return "cpu"
    try:
        import torch  # noqa: PLC0415  # without it there is a CPU alone
    except ImportError:
        return None
    return torch.cuda.get_device_name() if torch.cuda.is_available() else None
