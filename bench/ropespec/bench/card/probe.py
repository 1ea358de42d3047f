"""The probes: `python -m ropespec.bench.card.probe WHAT FRAMEWORK DEVICE --json FILE`."""

import importlib
import json
from pathlib import Path
from typing import Any

import click

from ropespec.bench.card.steps import FRAMEWORKS

__all__ = ["main"]

PROBES = ("versions", "bits", "graphs", "streams")


@click.command()
@click.argument("what", type=click.Choice(PROBES))
@click.argument("framework", type=click.Choice(FRAMEWORKS))
@click.argument("device", type=click.Choice(["cuda", "cpu"]))
@click.option("--json", "file", required=True, type=click.Path(dir_okay=False, path_type=Path))
def main(what: str, framework: str, device: str, file: Path) -> None:
    """Write the rows that a probe finds; exit with 1 where one of them is not as it must be."""
    probe = importlib.import_module(f"ropespec.bench.card.{what}")
    rows: list[dict[str, Any]] = probe.rows(framework, device)
    file.write_text(json.dumps(rows), encoding="utf-8")
    wrong = [row for row in rows if not row["right"]]
    for row in wrong:
        click.echo(row)
    raise SystemExit(int(bool(wrong)))


if __name__ == "__main__":
    main()
