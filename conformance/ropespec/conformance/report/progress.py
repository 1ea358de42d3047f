"""What is shown while checks run: a moving line on a terminal, one plain line elsewhere."""

from types import TracebackType
from typing import Self

import rich.progress
from rich.console import Console
from rich.text import Text

from ropespec.conformance.report.table import styled
from ropespec.conformance.results import CheckResult

__all__ = ["Progress"]


class Progress:
    """Shows how far the checks of one subject are; a context manager.

    Parameters
    ----------
    console : Console
        Where to, usually standard error. Only on a terminal is more shown than the first line.
    subject : str
        The target. The first line appears on entering, before anything is loaded.
    """

    def __init__(self, console: Console, subject: str) -> None:
        self._console = console
        self._subject = subject
        self._bar: rich.progress.Progress | None = None
        self._task: rich.progress.TaskID | None = None

    def __enter__(self) -> Self:
        first = f"loading {self._subject} ..."
        if not self._console.is_terminal:
            self._console.print(Text(f"ropespec: {first}"), soft_wrap=True)
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
            line.append(f"  {result.id}  {result.title}", style="default")
            self._bar.print(line)
