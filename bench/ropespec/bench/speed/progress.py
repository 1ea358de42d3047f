"""What is being measured, on standard error while it goes on."""

import shutil
import sys
from typing import Self, TextIO

__all__ = ["Progress"]


class Progress:
    """One line that changes on a terminal, a line for every group of cases elsewhere.

    Parameters
    ----------
    stream : TextIO, optional
        Standard error by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._write("\r\x1b[K")

    def __call__(self, text: str) -> None:
        """Say what begins."""
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\r\x1b[K{text[:width]}")
        elif ":" not in text:  # a group of cases, not one of them
            self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
