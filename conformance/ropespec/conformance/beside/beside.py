"""The command's hold on a job in another process: start it, ask it, hear from it, end it."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from ropespec.conformance.beside.asked import GOODBYE, Asked, Subject
from ropespec.conformance.beside.values import receive, send
from ropespec.conformance.jobs.left import Left
from ropespec.conformance.subject.environment import environment

if TYPE_CHECKING:
    from ropespec.conformance.jobs.job import Ran
    from ropespec.conformance.jobs.plan import Plan
    from ropespec.conformance.registry import Check

__all__ = ["Beside"]

_PATHS = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1))"
_MAIN = f"with_one_thread('{__package__}.main').main()"
_START = f"{_PATHS}; from ropespec.__main__ import with_one_thread; {_MAIN}"


class Beside:
    """A job in a process of its own, a context manager.

    The process starts at once, and has imported all that it needs by the time it is asked: so this
    imports nothing that takes time.
    It is in a session of its own: Ctrl-C reaches the command alone, which ends it.

    Parameters
    ----------
    target, claims, timeout
        As in `open_subject`.
    at_once : bool
        Whether the subject is opened now, and not when it is known that it can be: one that may be
        loaded twice at the same time, and has the memory.
    """

    def __init__(
        self, target: str, claims: Mapping[str, Any], timeout: float, *, at_once: bool = False
    ) -> None:
        self._subject: Subject | None = Subject(target, claims, timeout)
        self._ears = ThreadPoolExecutor(1)
        self._heard: Future[Left] | None = None
        paths = json.dumps([item for item in sys.path if item])
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
            [sys.executable, "-P", "-c", _START, paths],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            start_new_session=True,
        )
        if at_once:
            self._open()

    def begin(self, plan: "Plan", checks: Sequence["Check"], tell: Callable[["Ran"], None]) -> None:
        """Have the checks run, and each told of when it is done, in a thread."""
        self._open()
        self._send(Asked(plan, tuple(item.id for item in checks)))
        self._heard = self._ears.submit(self._hear, tell)

    def finished(self) -> Left:
        """Wait for the end of what was begun, or of its process; what `tell` raised is raised."""
        assert self._heard is not None
        return self._heard.result()

    def close(self) -> None:
        """End the process, and its subject first; may be called again."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._heard is None:  # its subject, if it has one, is asked nothing and ends with it
            self._process.kill()
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(2 * GOODBYE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._ears.shutdown()
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self) -> None:
        if self._subject is not None:
            self._send(self._subject)
            self._subject = None

    def _send(self, value: Subject | Asked) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended, and so tells of nothing
            send(self._process.stdin, value)

    def _hear(self, tell: Callable[["Ran"], None]) -> Left:
        assert self._process.stdout is not None
        with suppress(EOFError):  # its process has died
            while not isinstance(said := receive(self._process.stdout), Left):
                tell(cast("Ran", said))
            return said
        return Left()
