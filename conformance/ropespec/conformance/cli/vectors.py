"""`ropespec vectors`: the specification as data."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ropespec.conformance.cli.output import WIDE, console
from ropespec.conformance.cli.status import CONFORMS, Unusable
from ropespec.conformance.report.progress import Progress

if TYPE_CHECKING:
    from ropespec.conformance.vectors.release import File

__all__ = ["vectors_command"]

_ABSENT = "vectors needs {}, which is not installed: pip install 'ropespec[vectors]'"


@click.command("vectors", short_help="Write the spec as data, for other languages.")
@click.option(
    "-o",
    "folder",
    required=True,
    metavar="DIR",
    help="Where to; a folder that is empty or not there yet.",
)
def vectors_command(*, folder: str) -> int:
    """Write inputs, rotated values rounded once, and an interval for each component.

    A file in safetensors for each rotation and dtype: both layouts, part of a head, scaled
    frequencies, several position numbers a token, in float32, bfloat16 and float16, at positions up
    to 2^31 - 1 and next to quarter turns. An implementation of a precision class is right if every
    component lies between `low.CLASS` and `high.CLASS`. manifest.json lists the files with their
    clauses, conventions, frequencies to 40 digits, and digests.

    The released set never changes, so that this writes the same bytes everywhere.

    \b
    ropespec vectors -o vectors

    Exit status: 0; 2 if DIR cannot be written to or holds something.
    """  # noqa: D301  # click reads the character \b as "keep these lines"
    made = _written(Path(folder))
    size = sum(len(file.content) for file in made) / 1e6
    click.echo(f"{len(made)} vectors in {folder}, {size:.1f} MB; manifest.json lists them")
    return CONFORMS


def _empty(path: Path) -> Path:
    """Return the folder, made if it was not there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise Unusable(f"-o must be a folder that is empty or not there yet; got {str(path)!r}")
    except OSError as problem:
        raise Unusable(f"-o: {path} cannot be written to: {problem.strerror}") from None
    return path


def _written(folder: Path) -> list["File"]:
    with Progress(console(sys.stderr, WIDE), "the vectors") as progress:
        try:
            from ropespec.conformance.vectors.release import COUNT, MANIFEST, files, manifest
        except ModuleNotFoundError as missing:
            raise Unusable(_ABSENT.format(missing.name)) from None
        made, path = [], _empty(folder)
        for done, file in enumerate(files(), 1):
            _write(path / file.name, file.content)
            made.append(file)
            progress.on_step(done, COUNT, file.name)
        _write(path / MANIFEST, manifest(made).encode())
    return made


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as problem:
        raise Unusable(f"-o: {path} cannot be written: {problem.strerror}") from None
