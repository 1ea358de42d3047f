"""The parent's hold on a worker where there is no keeper: any system that has processes."""

import contextlib
import hmac
import os
import secrets
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from ropespec.conformance.subject.ending import Ending
from ropespec.conformance.subject.environment import environment
from ropespec.conformance.subject.frames import Channel, Disconnected
from ropespec.conformance.subject.keeper import Printed

__all__ = ["PlainWorker"]

_TICK = 0.05  # seconds between two looks at the process
_STARTED = 60.0  # seconds for a worker to connect
_SPOKEN = 2.0  # seconds for it to say its word
_LACKS = (
    "processes that the subject starts may outlive it",
    "its memory is not limited",
    "a subject that hangs may outlive this process if that is killed",
)


class PlainWorker:
    """A worker process; see `KeptWorker`, whose place it takes.

    The worker connects over the loopback device, and says the word that was written to its
    standard input, so that nobody else can answer for it.
    """

    can_renew = False

    def __init__(self, folder: Path, command: Sequence[str]) -> None:
        self._printed = Printed()
        self.deadline = 0.0
        self.lacks = _LACKS
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
                [*command, f":{listener.getsockname()[1]}", "-1"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=environment(),
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
            self._reader = threading.Thread(target=self._read, daemon=True)
            self._reader.start()
            try:
                connection = self._accepted(listener)
            except BaseException:
                self._kill()
                raise
        self.channel = Channel(connection, self._wait)
        self.pid = self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the worker runs."""
        return self._process.poll() is None

    def settle(self) -> None:
        """What is printed is taken at once; a busy machine may be late."""

    def spare(self, pid: int) -> None:
        """Nothing is spared."""

    def renew(self) -> bool:
        """Nothing can be forked."""
        return False

    def end(self, goodbye: float, since: float) -> Ending:
        """End the worker, and its process group where the system has such a thing."""
        self.channel.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(goodbye)
        code = self._process.poll()
        self._kill()
        self._reader.join(_TICK)  # longer only where another process holds the pipe
        return Ending(code, self._printed.since(since))

    def close(self) -> None:
        """Release everything."""
        self.channel.close()
        self._kill()
        self._reader.join(1.0)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()

    def _accepted(self, listener: socket.socket) -> socket.socket:
        """Wait for the worker to connect, and for nobody else."""
        word = secrets.token_hex(32).encode()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError), self._process.stdin as stdin:
            stdin.write(word)
        listener.settimeout(_TICK)
        limit = time.monotonic() + _STARTED
        while self._process.poll() is None and time.monotonic() < limit:
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                connection.settimeout(_SPOKEN)
                if hmac.compare_digest(connection.recv(len(word), socket.MSG_WAITALL), word):
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    return connection
                connection.close()
        here, there = socket.socketpair()
        there.close()  # there is no worker: the first question finds out
        return here

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self._process.stdout.fileno(), 2**16):
                self._printed.add(chunk, time.monotonic())

    def _wait(self, writing: bool) -> None:
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        here = [self.channel.fileno()]
        found = select.select(*(([], here) if writing else (here, [])), [], min(seconds, _TICK))
        if not any(found) and self._process.poll() is not None:
            raise Disconnected("the process ended")

    def _kill(self) -> None:
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
