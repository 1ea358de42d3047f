"""The parent's hold on a worker process: start it, ask it, and notice when it dies or hangs."""

import json
import os
import re
import signal
import sys
import time
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ropespec.conformance.subject.ending import Ending
from ropespec.conformance.subject.environment import interpreter
from ropespec.conformance.subject.errors import (
    SubjectCrashed,
    SubjectError,
    SubjectTimeout,
    TargetUnusable,
)
from ropespec.conformance.subject.frames import Disconnected, Frame, FrameError
from ropespec.conformance.subject.keeper import GOODBYE
from ropespec.conformance.subject.kept import KeptWorker, can_keep
from ropespec.conformance.subject.plain import PlainWorker

__all__ = ["WorkerProcess", "require_seconds"]

Answer = TypeVar("Answer")

_MAIN = "from ropespec.conformance.subject.worker import main; main()"
# The worker finds what its parent finds, before the folder of the user is searched.
_START = f"import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); {_MAIN}"
# Another interpreter finds what is its own, and only then what its parent finds.
_START_ELSEWHERE = f"import json, sys; sys.path += json.loads(sys.argv.pop(1)); {_MAIN}"
_OURS = str(Path(__file__).parent)
_NOISE = re.compile(r"^(Extension modules: |  File \"<string>\", line 1 in <module>$|\s*$)")


class WorkerProcess:
    """A worker process and the connection to it.

    It runs in a session (process group) of its own: Ctrl-C reaches only the parent.

    Parameters
    ----------
    folder : Path
        The working directory, which is importable.
    memory_limit : int or None
        Bytes that it and all it starts may hold; None for no limit.

    Attributes
    ----------
    stragglers : Counter
        Processes that were still there after the subject had ended: how many of each name.
    """

    def __init__(self, folder: Path, memory_limit: int | None = None) -> None:
        paths = json.dumps([item for item in sys.path if item])
        python = interpreter()
        start = _START if python == sys.executable else _START_ELSEWHERE
        command = [python, "-P", "-c", start, paths]
        self._hold = (
            KeptWorker(folder, command, memory_limit or 0)
            if can_keep()
            else PlainWorker(folder, command)
        )
        self.stragglers: Counter[str] = Counter()
        self._asked = 0
        self._since = 0.0
        self._running = True
        # Runs at the latest when the interpreter ends, whoever forgot to close.
        self._release = weakref.finalize(self, _release, self._hold, os.getpid())

    @property
    def pid(self) -> int:
        """The process id, which is that of the process group too."""
        return self._hold.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs and can be asked."""
        return self._running and self._hold.alive

    @property
    def lacks(self) -> tuple[str, ...]:
        """What this system cannot keep a subject from, in words."""
        return self._hold.lacks

    def ask(
        self,
        header: Mapping[str, Any],
        arrays: Sequence[np.ndarray] = (),
        *,
        timeout: float,
        doing: str,
        read: Callable[[Frame], Answer],
    ) -> Answer:
        """Send a frame, wait for the answer and read it.

        Parameters
        ----------
        header, arrays
            The frame.
        timeout : float
            Seconds for the whole exchange.
        doing : str
            What the worker does, for messages: "in apply_rotary".
        read : callable
            Makes of the answer what is returned; a `FrameError` of it is a crash.

        Raises
        ------
        SubjectCrashed
            If the process dies, or what it sends is not an answer to this question.
        SubjectTimeout
            If there is no answer in time. The process is killed.
        """
        require_seconds(timeout)
        self._hold.settle()
        self._since = time.monotonic()
        self._hold.deadline = self._since + timeout
        self._asked += 1
        try:
            self._hold.channel.send({**header, "seq": self._asked}, arrays)
            return _read(self._hold.channel.receive(), self._asked, read)
        except (TypeError, ValueError):
            raise  # nothing was sent: the arguments cannot be
        except (SubjectError, TargetUnusable):
            raise  # this is what the answer says
        except TimeoutError:
            words = self._end().words
            message = f"no answer within {timeout:g} s {doing}; its process was killed"
            raise SubjectTimeout(message, _told(words)) from None
        except Disconnected:
            raise _crash(self._end(GOODBYE), doing) from None
        except FrameError as broken:
            words = self._end().words
            raise SubjectCrashed(f"its process sent {broken} {doing}", _told(words)) from None
        except BaseException:  # Ctrl-C must not leave a subject running
            self.close(kill=True)
            raise

    def spare(self, pid: int) -> None:
        """Let that copy of the process live when the process ends; 0 if there is none."""
        self._hold.spare(pid)

    def renew(self) -> bool:
        """Start a fresh worker, as it was when it had been imported; False if that cannot be."""
        self.retire()
        self._running = self._release.alive and self._hold.can_renew and self._hold.renew()
        return self._running

    def retire(self) -> None:
        """End the process, but keep that of which it can be renewed."""
        if self._running:
            self._since = time.monotonic()
            self._end(GOODBYE)
        if not self._hold.can_renew:
            self.close()

    def close(self, *, kill: bool = False) -> None:
        """End the process and release everything; may be called again."""
        if self._running:
            self._since = time.monotonic()
            self._end(0.0 if kill else GOODBYE)
        self._release()

    def _end(self, goodbye: float = 0.0) -> Ending:
        self._running = False
        ending = self._hold.end(goodbye, self._since)
        if ending.code is not None:  # what a killed subject had no time to end is no straggler
            self.stragglers.update(ending.left)
        return ending


def require_seconds(timeout: float) -> None:
    """Refuse a deadline that is none.

    Raises
    ------
    ValueError
        For anything but a number above zero; infinity is one.
    """
    if not timeout > 0:
        raise ValueError(f"a timeout must be a number of seconds above zero; got {timeout}")


def _read(frame: Frame, asked: int, read: Callable[[Frame], Answer]) -> Answer:
    if frame.header.get("seq") != asked:
        raise FrameError("an answer to another question")
    try:
        return read(frame)
    except (SubjectError, TargetUnusable, FrameError):
        raise
    except Exception as error:
        raise FrameError(f"an answer that cannot be read: {type(error).__name__}") from error


def _crash(ending: Ending, doing: str) -> SubjectCrashed:
    words, code = _told(ending.words), ending.code
    if ending.over_memory:
        return SubjectCrashed(f"its process took more memory than it may {doing}", words)
    if code is None:
        return SubjectCrashed(f"its process closed the connection {doing}", words)
    if code >= 0:
        message = f"its process ended with exit code {code} {doing}"
        return SubjectCrashed(message, words, exit_code=code)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = "; perhaps the system ran out of memory" if name == "SIGKILL" else ""
    return SubjectCrashed(f"its process died of {name} {doing}{hint}", words, signal=name)


def _told(words: str) -> str:
    """Return the end of what was printed, without our own frames."""
    lines = words.splitlines()
    kept = [line[:300] for line in lines if not _NOISE.match(line) and _OURS not in line]
    return "\n".join(kept[-16:])


def _release(hold: KeptWorker | PlainWorker, owner: int) -> None:
    if os.getpid() == owner:  # and not in a process that was forked from it
        hold.close()
