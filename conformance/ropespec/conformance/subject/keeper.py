"""The keeper of a worker on Linux: a process of its own that runs no code of the subject.

It starts the worker, takes what the worker prints, notices its end and weighs its memory. Whatever
descends from the worker comes back to the keeper when it is orphaned (PR_SET_CHILD_SUBREAPER), so
nothing gets away: not by a session of its own, not by forking twice. When the session's process
ends, however it does, the keeper ends all of them. It is run as a script, and imports little.

Requests and answers are JSON, one a packet: `watch` and `spare` name a process, `end` ends the
worker. Unasked it says that the worker has ended.
"""

import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["GOODBYE", "PACKET", "TAIL", "Printed"]

GOODBYE = 2.0
"""Seconds for a worker to end by itself."""
PACKET = 2**17
"""The longest request or answer, in bytes."""
TAIL = 2**13
"""How much of what was printed is handed on, in bytes."""
_TICK = 0.1  # seconds between two looks at the memory
_GRACE = 0.3  # seconds for what ends by itself when the worker has
_SWEEP = 5.0  # seconds for killed processes to be gone
_CHUNK = 2**16
_REMEMBERED = 1000  # ends of processes, and moments at which something was printed
_MOST_NAMES = 20
_SET_CHILD_SUBREAPER = 36  # prctl(2)
_LISTED = Path(f"/proc/self/task/{os.getpid()}/children").exists()


class Printed:
    """The last megabyte of what a subject printed, and from where on it is newer than a moment.

    Parameters
    ----------
    size : int
        How many bytes are kept.
    """

    def __init__(self, size: int = 2**20) -> None:
        self._size = size
        self._kept = bytearray()
        self._count = 0
        self._marks: deque[tuple[float, int]] = deque(maxlen=_REMEMBERED)

    def add(self, chunk: bytes, moment: float) -> None:
        """Keep what was printed, at that moment or later; the oldest goes when there is no room."""
        self._marks.append((moment, self._count))
        self._count += len(chunk)
        self._kept += chunk
        del self._kept[: max(len(self._kept) - self._size, 0)]

    def since(self, moment: float) -> str:
        """Return the end of what was printed since a moment of the monotonic clock."""
        newer = (before for when, before in self._marks if when >= moment)
        length = self._count - next(newer, self._count)
        return self._kept[-min(length, TAIL) :].decode(errors="replace") if length else ""


class _Keeper:
    def __init__(self, control: socket.socket, pipe: int, output: int, limit: int) -> None:
        self._control, self._limit = control, limit
        self._printed = Printed()
        self._worker, self._spare = 0, 0
        self._status: int | None = None
        self._over = False
        self._weighed = 0.0
        self._dead: dict[int, int] = {}
        # Both ends are held, so that neither ever comes to its end.
        self._pipe, self._output = pipe, output
        self._wake, self._signalled = os.pipe()
        for descriptor in (self._pipe, self._wake, self._signalled):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(self._signalled, warn_on_full_buffer=False)
        self._events = select.poll()
        for descriptor in (self._pipe, self._wake):
            self._events.register(descriptor, select.POLLIN)

    def start(
        self, command: list[str], folder: str, descriptors: list[int], *, adopts: bool
    ) -> None:
        """Start the worker in a session of its own, and say so."""
        self._worker = os.fork()
        if not self._worker:
            try:
                _become(command, folder, descriptors, self._output)
            finally:
                os._exit(127)
        for descriptor in descriptors:
            os.close(descriptor)
        self._tell({"pid": self._worker, "adopts": adopts})

    def serve(self, parent: int) -> None:
        """Do what is asked until nobody is there to ask."""
        work: dict[str, Callable[..., dict[str, Any]]] = {
            "watch": self._watch,
            "spare": self._leave,
            "settle": self._settle,
            "end": self._end,
        }
        self._events.register(self._control, select.POLLIN)
        while os.getppid() == parent:
            if not self._turn(_TICK):
                continue
            request = b""
            with contextlib.suppress(OSError):
                request = self._control.recv(PACKET)
            if not request:
                break
            self._events.unregister(self._control)
            name, *values = json.loads(request)
            self._tell(work[name](*values))
            self._events.register(self._control, select.POLLIN)
        self._close()

    def _watch(self, pid: int) -> dict[str, Any]:
        """Take a process that has come to the keeper for the worker."""
        self._reap()
        known = pid in self._dead or pid in _children(os.getpid())
        self._worker, self._status, self._over = pid, self._dead.get(pid), False
        return {"known": known}

    def _leave(self, pid: int) -> dict[str, Any]:
        """Let a process live when the worker ends."""
        known = pid in _children(os.getpid())
        self._spare = pid if known else 0
        return {"known": known}

    def _settle(self) -> dict[str, Any]:
        """Take all that has been printed so far."""
        limit = time.monotonic() + _GRACE
        while self._drain() and time.monotonic() < limit:
            pass
        return {}

    def _end(self, since: float, goodbye: float) -> dict[str, Any]:
        """End the worker and all that descends from it, and say what there is to say."""
        self._until(lambda: self._status is not None, goodbye)
        status = self._status
        if status is not None:
            self._until(lambda: not self._living(), _GRACE)
        left = self._sweep()
        self._settle()
        words = self._printed.since(since)
        return {"status": status, "words": words, "left": left, "over": self._over}

    def _close(self) -> None:
        self._sweep()
        self._until(lambda: self._spare not in _children(os.getpid()), GOODBYE)
        self._spare = 0
        self._sweep()

    def _tell(self, answer: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self._control.send(json.dumps(answer).encode())

    def _turn(self, seconds: float) -> bool:
        """Wait for an event and see to it; whether there is a request."""
        found = [descriptor for descriptor, _ in self._events.poll(seconds * 1000)]
        if self._wake in found:
            os.read(self._wake, _CHUNK)
        self._drain()
        self._reap()
        self._weigh()
        return self._control.fileno() in found

    def _until(self, done: Callable[[], bool], seconds: float) -> None:
        limit = time.monotonic() + seconds
        while not done() and time.monotonic() < limit:
            self._turn(0.01)

    def _drain(self) -> bool:
        """Take some of what was printed; whether there was anything."""
        moment = time.monotonic()
        try:
            self._printed.add(os.read(self._pipe, _CHUNK), moment)
        except BlockingIOError:
            return False
        return True

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = found
                if pid == self._worker:
                    self._status = status
                    self._tell({"ended": True})
                self._dead[pid] = status
                if len(self._dead) > _REMEMBERED:
                    del self._dead[next(iter(self._dead))]

    def _living(self) -> list[int]:
        """Return all descendants but the one that is spared."""
        return list(_descendants(os.getpid(), self._spare))

    def _sweep(self) -> Counter[str]:
        """Kill all descendants but the one that is spared; count by name those of the worker."""
        names: dict[int, str] = {}
        limit = time.monotonic() + _SWEEP
        while (living := self._living()) and time.monotonic() < limit:
            for pid in living:
                names.setdefault(pid, _name(pid))
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self._turn(0.005)
        names.pop(self._worker, None)
        return Counter(dict(Counter(names.values()).most_common(_MOST_NAMES)))

    def _weigh(self) -> None:
        """Kill the worker if it and its descendants have taken more memory than they may."""
        now = time.monotonic()
        if not self._limit or self._over or now - self._weighed < _TICK:
            return
        self._weighed = now
        living = self._living()
        # What is resident is quickly read, and too much: it counts what is shared several times.
        if sum(map(_resident, living)) > self._limit and sum(map(_own, living)) > self._limit:
            self._over = True
            self._sweep()


def _become(command: list[str], folder: str, descriptors: list[int], output: int) -> None:
    """Turn this process into the worker."""
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, which is inherited
        signal.signal(number, signal.SIG_DFL)
    os.chdir(folder)
    os.execv(command[0], command)  # noqa: S606  # our own interpreter


def _children(pid: int) -> list[int]:
    if not _LISTED:
        rows = ((item.name, _read(item / "stat")) for item in Path("/proc").iterdir())
        return [int(i) for i, row in rows if row.rpartition(")")[2].split()[1:2] == [str(pid)]]
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:  # it has ended
        return []
    return [int(child) for task in tasks for child in _read(task / "children").split()]


def _descendants(pid: int, spared: int) -> Iterator[int]:
    for child in _children(pid):
        if child != spared:
            yield child
            yield from _descendants(child, spared)


def _read(path: Path) -> str:
    """Return what stands in a file of /proc; nothing if its process has ended."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _name(pid: int) -> str:
    return "".join(c for c in _read(Path(f"/proc/{pid}/comm")) if c.isprintable())


def _resident(pid: int) -> int:
    pages = _read(Path(f"/proc/{pid}/statm")).split()[1:2]
    return sum(map(int, pages)) * os.sysconf("SC_PAGE_SIZE")


def _own(pid: int) -> int:
    """Return the memory of a process that is no file's, with its share of what is shared."""
    for name, words in (("smaps_rollup", "Pss_Anon: Pss_Shmem:"), ("status", "RssAnon: RssShmem:")):
        rows = (row.split() for row in _read(Path(f"/proc/{pid}/{name}")).splitlines())
        if found := [int(row[1]) for row in rows if row[0] in words.split()]:
            return sum(found) * 1024
    return 0


def _adopt() -> bool:
    """Have orphaned descendants come to this process."""
    try:
        import ctypes  # noqa: PLC0415  # a build of Python may lack it

        return bool(ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (ImportError, AttributeError, OSError):
        return False


def main() -> None:
    """Keep one worker.

    Called with the parent's process id, five descriptors (for requests, the two ends of the pipe
    for what is printed, and two for the worker), a memory limit in bytes or 0, the folder of the
    worker and its command.
    """
    parent, control, pipe, output, first, second, limit, folder, *command = sys.argv[1:]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)  # not ignored, which the worker would inherit
    for descriptor in (control, pipe, output):
        os.set_inheritable(int(descriptor), False)
    adopts = _adopt()
    keeper = _Keeper(socket.socket(fileno=int(control)), int(pipe), int(output), int(limit))
    keeper.start(command, folder, [int(first), int(second)], adopts=adopts)
    keeper.serve(int(parent))


if __name__ == "__main__":
    main()
