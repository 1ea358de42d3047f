"""The parent's hold on a worker process: start it, ask it, and notice when it dies or hangs."""

import contextlib
import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from ropespec.conformance.subject.errors import SubjectCrashed, SubjectError, SubjectTimeout
from ropespec.conformance.subject.frames import Channel, Disconnected, Frame, FrameError

__all__ = ["WorkerProcess"]

# The worker finds what its parent finds, before the folder of the user is searched.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "from ropespec.conformance.subject.worker import main; main()"
)
_GOODBYE = 2.0  # seconds for a worker to end by itself
_LOG_LIMIT = 2**20
_TAIL = 2**13
_OURS = str(Path(__file__).parent)
_NOISE = re.compile(r"^(Extension modules: |  File \"<string>\", line 1 in <module>$|\s*$)")


class WorkerProcess:
    """A worker process and the connection to it.

    It runs in a session (process group) of its own: Ctrl-C reaches only the parent, and the whole
    group, with whatever the subject has started, is killed with the worker.

    Parameters
    ----------
    folder : Path
        The working directory, which is importable.
    """

    def __init__(self, folder: Path) -> None:
        # A nameless file: nothing is left behind, and the worker never waits for a reader.
        log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # lives as long as the worker
        fcntl.fcntl(log, fcntl.F_SETFL, fcntl.fcntl(log, fcntl.F_GETFL) | os.O_APPEND)
        here, there = socket.socketpair()
        pipe_end, lifeline = os.pipe()
        paths = [item for item in sys.path if item]
        command = [
            *(sys.executable, "-P", "-c", _START),
            *(str(there.fileno()), str(pipe_end), json.dumps(paths)),
        ]
        try:
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                pass_fds=(there.fileno(), pipe_end),
                start_new_session=True,
            )
        except BaseException:
            log.close()
            here.close()
            os.close(lifeline)
            raise
        finally:
            there.close()
            os.close(pipe_end)
        self._log = log
        self._lifeline = lifeline
        self._watch = _Watch(self._process)
        self._channel = Channel(here, self._watch)
        self._mark = 0
        # Runs at the latest when the interpreter ends, whoever forgot to close.
        self._end = weakref.finalize(
            self, _end, self._process, self._channel, self._log, lifeline, goodbye=0.0
        )

    @property
    def pid(self) -> int:
        """The process id, which is that of the process group too."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs and can be asked."""
        return self._end.alive and self._process.poll() is None

    def ask(
        self,
        header: Mapping[str, Any],
        arrays: Sequence[np.ndarray] = (),
        *,
        timeout: float,
        doing: str,
    ) -> Frame:
        """Send a frame and wait for the answer.

        Parameters
        ----------
        header, arrays
            The frame.
        timeout : float
            Seconds for the whole exchange.
        doing : str
            What the worker does, for messages: "in apply_rotary".

        Raises
        ------
        SubjectCrashed
            If the process dies, or what it sends is not a frame.
        SubjectTimeout
            If there is no answer in time. The process is killed.
        """
        self._mark = self._trim_log()
        self._watch.deadline = time.monotonic() + timeout
        try:
            self._channel.send(header, arrays)
            return self._channel.receive()
        except TypeError:
            raise  # nothing was sent: the arguments cannot be
        except TimeoutError:
            self.kill()
            error: SubjectError = SubjectTimeout(
                f"no answer within {timeout:g} s {doing}; its process was killed", self._words()
            )
        except Disconnected:
            error = self._crash(doing)
        except FrameError as broken:
            self.kill()
            error = SubjectCrashed(f"its process sent {broken} {doing}", self._words())
        except BaseException:  # Ctrl-C must not leave a subject running
            self.close(kill=True)
            raise
        self.close(kill=True)
        raise error

    def kill(self) -> None:
        """Kill the process group and wait for the process; the log stays readable."""
        _kill(self._process)

    def close(self, *, kill: bool = False) -> None:
        """End the process and release everything; may be called again."""
        if self._end.detach() is not None:
            _end(
                self._process,
                self._channel,
                self._log,
                self._lifeline,
                goodbye=0.0 if kill else _GOODBYE,
            )

    def _crash(self, doing: str) -> SubjectCrashed:
        try:
            code = self._process.wait(_GOODBYE)
        except subprocess.TimeoutExpired:
            self.kill()
            return SubjectCrashed(f"its process closed the connection {doing}", self._words())
        words = self._words()
        if code >= 0:
            return SubjectCrashed(
                f"its process ended with exit code {code} {doing}", words, exit_code=code
            )
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = "; perhaps the system ran out of memory" if name == "SIGKILL" else ""
        return SubjectCrashed(f"its process died of {name} {doing}{hint}", words, signal=name)

    def _trim_log(self) -> int:
        size = os.fstat(self._log.fileno()).st_size
        if size > _LOG_LIMIT:
            os.ftruncate(self._log.fileno(), 0)
            return 0
        return size

    def _words(self) -> str:
        """Return the end of what was printed since the last question, without our own frames."""
        descriptor = self._log.fileno()
        start = max(self._mark, os.fstat(descriptor).st_size - _TAIL)
        lines = os.pread(descriptor, _TAIL, start).decode(errors="replace").splitlines()
        kept = [line[:300] for line in lines if not _NOISE.match(line) and _OURS not in line]
        return "\n".join(kept[-16:])


class _Watch:
    """Ends a wait when the process is dead or the time is over.

    An object of its own: the connection holds it, and must not hold the `WorkerProcess`, which is
    cleaned up when nothing holds it.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.deadline = 0.0

    def __call__(self) -> None:
        # A process started by the subject may hold the connection open after its death.
        if self._process.poll() is not None:
            raise Disconnected("the process ended")
        if time.monotonic() > self.deadline:
            raise TimeoutError


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _end(
    process: "subprocess.Popen[bytes]",
    channel: Channel,
    log: IO[bytes],
    lifeline: int,
    *,
    goodbye: float,
) -> None:
    channel.close()
    try:
        if goodbye and process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(goodbye)
    finally:
        _kill(process)
        os.close(lifeline)
        log.close()
