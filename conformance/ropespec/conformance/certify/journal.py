"""What is done already, on disk: a run that was stopped goes on where it was."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from ropespec.conformance.certify.found import Found
from ropespec.conformance.certify.plan import Plan

__all__ = ["Journal", "OtherPlan"]


class OtherPlan(Exception):  # noqa: N818  # named for what is found
    """The file is of another plan; one line for the user."""


class Journal:
    """The blocks that are done, a line each; a context manager.

    Parameters
    ----------
    path : Path or None
        The file; None to keep nothing.
    plan : Plan
        What is to be done.

    Attributes
    ----------
    done : list of Found
        What the file had.

    Raises
    ------
    OtherPlan
        If the file is of another plan, subject or version.
    """

    def __init__(self, path: Path | None, plan: Plan) -> None:
        self._path = path
        self._key = hashlib.sha256(json.dumps(plan.as_dict(), sort_keys=True).encode()).hexdigest()
        self._file: IO[str] | None = None
        self.done: list[Found] = list(self._read()) if path is not None else []

    def _read(self) -> Iterator[Found]:
        assert self._path is not None
        if not self._path.exists():
            return
        lines = self._path.read_text(encoding="utf-8").splitlines()
        if lines and lines[0] != self._key:
            raise OtherPlan(
                f"{self._path} is the progress of another subject, version or range: "
                "remove it to begin anew, or name another file"
            )
        for line in lines[1:]:
            try:
                yield Found.from_dict(json.loads(line))
            except (ValueError, KeyError, TypeError):  # the line that was being written
                return

    def __enter__(self) -> Self:
        if self._path is not None:
            text = "".join(f"{line}\n" for line in (self._key, *map(_line, self.done)))
            self._path.write_text(text, encoding="utf-8")
            self._file = self._path.open("a", encoding="utf-8")
        return self

    def add(self, found: Found) -> None:
        """Write down a block."""
        if self._file is not None:
            self._file.write(f"{_line(found)}\n")
            self._file.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()


def _line(found: Found) -> str:
    return json.dumps(found.as_dict(), allow_nan=True)
