"""What is shown while checks run: a moving line on a terminal, a sign of life elsewhere."""

import threading
import time
from types import TracebackType
from typing import Self

import rich.progress
from rich.console import Console
from rich.text import Text

from ropespec.conformance.report.screen import shown
from ropespec.conformance.report.table import styled
from ropespec.conformance.results import CheckResult

__all__ = ["Progress"]

PULSE = 5.0
"""Seconds of silence after which a line is due where no terminal is."""


class Progress:
    """Shows how far the checks of one subject are; a context manager.

    Parameters
    ----------
    console : Console
        Where to, usually standard error. Off a terminal it is the first line, and then one every
        few seconds.
    subject : str
        The target. The first line appears on entering, before anything is loaded.
    """

    def __init__(self, console: Console, subject: str) -> None:
        self._console = console
        self._subject = shown(subject)
        self._bar: rich.progress.Progress | None = None
        self._task: rich.progress.TaskID | None = None
        self._began = time.monotonic()
        self._last = "loading"
        self._over = threading.Event()

    def __enter__(self) -> Self:
        first = f"loading {self._subject} ..."
        if not self._console.is_terminal:
            self._say(first)
            threading.Thread(target=self._pulse, daemon=True).start()
            return self
        self._bar = rich.progress.Progress(
            rich.progress.SpinnerColumn(),
            rich.progress.TextColumn("{task.description}", markup=False),
            rich.progress.BarColumn(),
            rich.progress.MofNCompleteColumn(),
            rich.progress.TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task(first, total=None)
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._bar is not None:
            self._bar.stop()

    def on_result(self, result: CheckResult, index: int, total: int) -> None:
        """Take note of a finished check.

        Parameters
        ----------
        result : CheckResult
            What became of it; one that does not conform stays on the screen.
        index, total : int
            Its place among the checks, from 0, and their number.
        """
        self._last = f"{index + 1} of {total} checks, the last {result.id}"
        if self._bar is None or self._task is None:
            return
        self._bar.update(
            self._task,
            description=f"{self._subject}  {result.id}",
            completed=index + 1,
            total=total,
        )
        if not result.status.conforms:
            line = styled(result.status)
            waived = " (waived)" if result.waived else ""
            line.append(f"  {result.id}  {result.title}{waived}", style="default")
            self._bar.print(line)

    def on_step(self, done: int, total: int, words: str) -> None:
        """Take note that so many of all are done; the words are shown behind the numbers."""
        self._last = f"{done} of {total} {words}"
        if self._bar is not None and self._task is not None:
            self._bar.update(
                self._task, description=f"{self._subject}  {words}", completed=done, total=total
            )

    def _pulse(self) -> None:
        """Say every few seconds that work goes on, in a thread that never holds anything up."""
        while not self._over.wait(PULSE):
            self._say(f"{self._subject}: {self._last}, {time.monotonic() - self._began:.0f} s")

    def _say(self, words: str) -> None:
        try:
            self._console.print(Text(f"ropespec: {words}"), soft_wrap=True)
        except OSError:  # nobody reads any more, which is no reason to stop
            self._over.set()
