"""The parent's hold on a worker that a keeper watches: Linux, where nothing gets away."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ropespec.conformance.subject import keeper
from ropespec.conformance.subject.copies import WAIT
from ropespec.conformance.subject.ending import Ending
from ropespec.conformance.subject.environment import environment
from ropespec.conformance.subject.frames import Channel, Disconnected

__all__ = ["KeptWorker", "can_keep"]

_SWEPT = 10.0  # seconds beyond its goodbye in which a keeper has ended a worker
_FORKED = 10.0  # seconds for a copy of a process
_IMPORTED = 60.0  # seconds for it to import what calls have imported


def can_keep() -> bool:
    """Whether this system has all that a keeper needs."""
    try:
        import fcntl  # noqa: F401, PLC0415  # elsewhere it is missing
        import resource  # noqa: F401, PLC0415
    except ImportError:
        return False
    return sys.platform == "linux" and hasattr(os, "fork") and Path("/proc/self/stat").exists()


class KeptWorker:
    """A worker, its keeper, and the copy of it from which a fresh worker can be forked.

    Parameters
    ----------
    folder : Path
        The working directory of the worker.
    command : sequence of str
        What starts it, without the two descriptors that come last.
    limit : int
        Bytes that it and all it starts may hold; 0 for no limit.

    Attributes
    ----------
    pid : int
        The process id of the worker, which is that of its process group too.
    channel : Channel
        The connection to it.
    deadline : float
        When a wait on the channel ends, on the monotonic clock.
    lacks : tuple of str
        What this system cannot keep a subject from.
    """

    def __init__(self, folder: Path, command: Sequence[str], limit: int) -> None:
        here, there = socket.socketpair()
        control, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        line, other = socket.socketpair()
        self._pipe, output = os.pipe()
        # Asked before each call, and dear to make: whether it printed, whether the keeper tells.
        self._printed, self._told = select.poll(), select.poll()
        self._printed.register(self._pipe, select.POLLIN)
        self._told.register(control, select.POLLIN)
        ends = [there.fileno(), other.fileno()]
        theirs = [far.fileno(), self._pipe, output, *ends]
        arguments = [os.getpid(), *theirs, limit, folder, *command, *ends]
        try:
            self._keeper = subprocess.Popen(  # noqa: S603  # our own interpreter and script
                [sys.executable, "-P", "-S", keeper.__file__, *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment(),
                pass_fds=theirs,
                start_new_session=True,
            )
        except BaseException:
            for end in (here, control, line):
                end.close()
            os.close(self._pipe)
            raise
        finally:
            for end in (far, there, other):
                end.close()
            os.close(output)
        self._control, self._line = control, line
        self._ended = self._lost = False
        self.pid, self.deadline = 0, 0.0
        self.lacks: tuple[str, ...] = ()
        self._connect(here)
        told = self._hear(_SWEPT)
        self.pid = told.get("pid", 0)
        if not told.get("adopts"):
            self.lacks = ("processes that leave the subject's group may outlive it",)
            line.close()

    @property
    def alive(self) -> bool:
        """Whether the worker runs, as far as is known."""
        while not self._ended and self._told.poll(0.0):
            self._hear(0.0)
        return not self._ended

    @property
    def can_renew(self) -> bool:
        """Whether there may be a copy from which a fresh worker can be forked."""
        return not self._lost and self._line.fileno() >= 0

    def settle(self) -> None:
        """See that what has been printed so far is known to be older than now."""
        if not self._lost and self._printed.poll(0.0):
            self._order("settle")

    def spare(self, pid: int) -> None:
        """Let that process live when the worker ends: the copy; 0 if there is none."""
        if not pid or not self._order("spare", pid).get("known"):
            self._line.close()

    def renew(self) -> bool:
        """Fork a fresh worker from the copy; False if that is not possible."""
        here, there = socket.socketpair()
        try:
            self._line.settimeout(_FORKED)
            socket.send_fds(self._line, [b"\0"], [there.fileno()])
            there.close()
            here.settimeout(_FORKED)
            told = here.recv(8)
            if told == WAIT:
                here.settimeout(_IMPORTED)
                told = here.recv(8)
            pid = int.from_bytes(told, "little")
        except OSError:
            pid = 0
        there.close()
        if not pid or not self._order("watch", pid).get("known"):
            here.close()
            self._line.close()
            return False
        self.channel.close()
        self.pid, self._ended = pid, False
        self._connect(here)
        return True

    def end(self, goodbye: float, since: float) -> Ending:
        """End the worker and all that descends from it; the keeper stays.

        Parameters
        ----------
        goodbye : float
            Seconds for the worker to end by itself, its connection closed.
        since : float
            From when on what was printed is of interest, on the monotonic clock.
        """
        self.channel.close()
        told = self._order("end", since, goodbye, seconds=goodbye + _SWEPT)
        self._ended = True
        if not told:
            return Ending()
        status = told["status"]
        code = None if status is None else os.waitstatus_to_exitcode(status)
        return Ending(code, told["words"], told["left"], told["over"])

    def close(self) -> None:
        """Release everything; what still runs is ended by the keeper."""
        for end in (self.channel, self._line, self._control):
            end.close()
        os.close(self._pipe)
        self._keeper.send_signal(signal.SIGCONT)
        try:
            self._keeper.wait(keeper.GOODBYE + _SWEPT)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()

    def _connect(self, connection: socket.socket) -> None:
        self.channel = Channel(connection, self._wait)
        self._events = select.poll()
        self._events.register(self._control, select.POLLIN)

    def _wait(self, writing: bool) -> None:
        """Wait for the channel, until the deadline or the end of the worker."""
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        self._events.register(self.channel, select.POLLOUT if writing else select.POLLIN)
        # A day is as good as no limit, and fits into what poll takes.
        found = [fileno for fileno, _ in self._events.poll(min(seconds, 86400.0) * 1000)]
        if self.channel.fileno() not in found and self._control.fileno() in found:
            # A process started by the subject may hold the connection open after its death.
            self._hear(0.0)
            if self._ended:
                raise Disconnected("the process ended")

    def _order(self, *request: str | float, seconds: float = _SWEPT) -> dict[str, Any]:
        """Ask the keeper; nothing if it is gone."""
        self._keeper.send_signal(signal.SIGCONT)  # the subject may have stopped it
        with contextlib.suppress(OSError):
            self._control.send(json.dumps(request).encode())
        while not self._lost:
            told = self._hear(seconds)
            if "ended" not in told:
                return told
        return {}

    def _hear(self, seconds: float) -> dict[str, Any]:
        """Take the next thing the keeper says; a keeper that says nothing in time is lost."""
        data = b""
        if not self._lost and _readable(self._control.fileno(), seconds):
            with contextlib.suppress(OSError):
                data = self._control.recv(keeper.PACKET)
        if not data:
            self._lose()
            return {}
        told: dict[str, Any] = json.loads(data)
        self._ended = self._ended or "ended" in told
        return told

    def _lose(self) -> None:
        """Do what is left when the keeper is gone, which only the subject can have killed."""
        self._ended = self._lost = True
        self._line.close()
        self._keeper.kill()
        if self.pid:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)


def _readable(descriptor: int, seconds: float) -> bool:
    events = select.poll()
    events.register(descriptor, select.POLLIN)
    return bool(events.poll(seconds * 1000))
