"""Where the commands write: a console on a stream, and the file named by `--json`.

What was found outlives what it is told with: the document is written before the report is printed,
and neither a reader that has gone nor a full disk changes the exit status of what was found.
"""

import errno
import io
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import click

from ropespec.conformance.cli.status import Undelivered, Unusable
from ropespec.conformance.report.document import text_of
from ropespec.conformance.report.screen import Screen

__all__ = [
    "NARROW",
    "WIDE",
    "Destination",
    "console",
    "deliver",
    "forgive_streams",
    "silence",
    "writable",
]

NARROW = 100
WIDE = 120


@dataclass(frozen=True, slots=True)
class Destination:
    """Where `--json` wants the document.

    Attributes
    ----------
    path : Path or None
        A file, with links followed; None for standard output, which `-` stands for.
    """

    path: Path | None


def console(stream: TextIO | None, plain_width: int) -> Screen:
    """Return a console as wide as the terminal, or of `plain_width` where there is none."""
    if stream is None:  # the caller closed it
        return Screen(file=io.StringIO(), width=plain_width)
    width = None if stream.isatty() else plain_width
    return Screen(file=stream, width=width, highlight=False, markup=False, emoji=False)


def forgive_streams() -> None:
    """Let standard output and error take every text, whatever their encoding."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def writable(name: str | None, *sources: str) -> Destination | None:
    """Try the file before the work, so that minutes of it are not lost to a wrong path.

    Parameters
    ----------
    name : str or None
        What `--json` was given; `-` is standard output.
    *sources : str
        Files that are checked, which are not to be written to; empty where it is no file.

    Raises
    ------
    Unusable
        If it cannot be written, or is the source itself.
    """
    if name is None:
        return None
    if name == "-":
        return Destination(None)
    try:
        path = Path(name).resolve()
        if path.exists() and any(path.samefile(source) for source in sources if source):
            raise Unusable(f"--json: {name} is the source that is checked; name another file")
        _try(path)
    except (OSError, RuntimeError) as problem:
        raise _refused(name, problem) from None
    return Destination(path)


def _try(path: Path) -> None:
    """Open what is there without waiting for a reader, or make a file beside the one to come."""
    if path.exists():
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)))
    if not path.exists() or stat.S_ISREG(path.stat().st_mode):
        with tempfile.TemporaryFile(dir=path.parent, prefix=".ropespec-"):
            path.with_name(path.name)  # a name that the system does not take is refused by stat
            path.exists()


def deliver(
    content: Mapping[str, Any],
    destination: Destination | None,
    show: Callable[[Screen], None],
    width: int = NARROW,
) -> None:
    """Write the document, then print the report.

    Parameters
    ----------
    content : mapping
        The document.
    destination : Destination or None
        Where it goes; None for nowhere.
    show : callable
        Prints the report on a console.
    width : int
        Columns where there is no terminal.

    Raises
    ------
    Undelivered
        If the document cannot be written. The report is printed all the same.
    """
    text = text_of(content)
    problem: Undelivered | None = None
    if destination is not None and destination.path is not None:
        try:
            _replace(destination.path, text)
        except OSError as error:
            problem = Undelivered(f"--json: cannot write {destination.path}: {_words(error)}")
    to_stdout = destination is not None and destination.path is None
    if to_stdout:
        _print(lambda: _write_out(text))
    screen = console(sys.stderr if to_stdout else sys.stdout, width)
    _print(lambda: show(screen))
    if problem is not None:
        raise problem


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all; what is no regular file is written as it is."""
    data = text.encode("utf-8", "backslashreplace")  # JSON reads a lone surrogate as \\uXXXX
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        path.write_bytes(data)
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".ropespec-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mode = path.stat().st_mode if path.exists() else 0o666 & ~_umask()
        Path(name).chmod(stat.S_IMODE(mode))
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write_out(text: str) -> None:
    if sys.stdout is not None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _print(write: Callable[[], None]) -> None:
    """Print what can be printed; a reader that has enough, or a full disk, is no finding."""
    try:
        write()
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        silence()
        if error.errno != errno.EPIPE and sys.stderr is not None:
            click.echo(f"ropespec: the report could not be printed: {_words(error)}", err=True)


def silence() -> None:
    """Send the rest of standard output nowhere, so that nothing fails while Python exits."""
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):  # no stream, or one without a descriptor
        sys.stdout = io.StringIO()


def _refused(name: str, problem: OSError | RuntimeError) -> Unusable:
    return Unusable(f"--json: cannot write {name}: {_words(problem)}")


def _words(problem: OSError | RuntimeError) -> str:
    if isinstance(problem, OSError) and problem.errno == errno.ENXIO:
        return "nobody reads from it"
    return getattr(problem, "strerror", None) or str(problem)
