"""Where the commands write: a console on a stream, and the file named by `--json`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console

from ropespec.conformance.cli.status import Unusable
from ropespec.conformance.report.document import write

__all__ = ["NARROW", "WIDE", "console", "save", "writable"]

NARROW = 100
WIDE = 120


def console(stream: TextIO, plain_width: int) -> Console:
    """Return a console as wide as the terminal, or of `plain_width` where there is none."""
    width = None if stream.isatty() else plain_width
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def writable(name: str | None) -> Path | None:
    """Open the file before the work, so that minutes of it are not lost to a wrong path.

    Raises
    ------
    Unusable
        If it cannot be written.
    """
    if name is None:
        return None
    path = Path(name)
    is_new = not path.exists()
    try:
        with path.open("a", encoding="utf-8"):
            pass
        if is_new:
            path.unlink()
    except OSError as problem:
        raise _refused(path, problem) from None
    return path


def save(content: Mapping[str, Any], path: Path | None) -> None:
    """Write the document, if a file was named.

    Raises
    ------
    Unusable
        If it cannot be written.
    """
    if path is None:
        return
    try:
        write(content, path)
    except OSError as problem:
        raise _refused(path, problem) from None


def _refused(path: Path, problem: OSError) -> Unusable:
    return Unusable(f"--json: cannot write {path}: {problem.strerror}")
