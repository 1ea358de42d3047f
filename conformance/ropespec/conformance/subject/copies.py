"""A copy of a worker as it was when its subject had been imported, from which others are forked.

A check that is tried on a fresh instance then does not pay for the import again, nor for what the
first call imports: the copy does that before it forks (`imports`). Only a process that can be
copied whole is: one thread, no children, nothing open but files, no memory shared for writing.
Threads of OpenMP, which a framework has as soon as it has computed a large table, are given back
before: it starts others when it needs them. Runs inside the worker, on Linux.
"""

import atexit
import contextlib
import ctypes
import os
import re
import select
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from ropespec.conformance.subject.frames import Channel
from ropespec.conformance.subject.imports import Imports
from ropespec.conformance.subject.limits import die_with_parent

__all__ = ["WAIT", "finish", "leave_copy", "opened"]

Serve = Callable[[socket.socket], None]

WAIT = bytes(8)
"""What a copy says in place of a process id, when it has modules to import first."""
_OPENMP = re.compile(r"/lib[gi]?omp[\d.-][^/]*$")  # of GCC, Intel and LLVM
_HARD = 2  # omp_pause_hard: threads end, what was set stays
_NOT_WHOLE = 77  # the exit code of a copy that has found something shared
_PATIENCE = 2.0  # seconds for a child that does nothing to end


def opened() -> frozenset[str]:
    """Return what this process has open that is no file, each as the system names it."""
    found = set()
    for item in Path("/proc/self/fd").iterdir():
        try:
            if not item.is_file():
                found.add(str(item.readlink()))
        except OSError:
            continue  # the descriptor of this very listing
    return frozenset(found)


def leave_copy(
    line: int, channel: Channel, before: frozenset[str], imports: Imports, serve: Serve
) -> int:
    """Leave a copy of this process, which forks a worker for every socket that comes.

    Parameters
    ----------
    line : int
        The descriptor of the socket over which sockets come; it is closed here.
    channel : Channel
        The connection of this process, which the copy has nothing to do with.
    before : frozenset of str
        What `opened` said before the subject was imported.
    imports : Imports
        What tells the copy which modules calls have imported.
    serve : callable
        What a worker does with its socket.

    Returns
    -------
    int
        The process id of the copy; 0 if there is none.
    """
    pid = 0
    with contextlib.suppress(OSError):
        # Whatever the subject or the system puts in the way, a copy only saves time.
        with contextlib.suppress(Exception):
            if _alone(before):
                pid = _left(line, channel, imports, serve)
        os.close(line)
    if pid:
        _forget()
    return pid


def _left(line: int, channel: Channel, imports: Imports, serve: Serve) -> int:
    imports.begin()
    keeper = os.getppid()
    read, write = os.pipe()

    def wait() -> None:
        channel.close()
        _wait_for_requests(socket.socket(fileno=line), keeper, write, imports, serve)

    _fork_away(wait)
    os.close(write)
    told = select.select([read], [], [], _PATIENCE)[0]
    pid = int.from_bytes(os.read(read, 8), "little") if told else 0
    os.close(read)
    return pid


def finish() -> None:
    """End as an interpreter does, but leave the modules alone: what they hold is the copy's."""
    # As CPython ends a process that it has forked itself (multiprocessing.popen_fork).
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the subject may have put anything there
            stream.flush()
    os._exit(0)


def _alone(before: frozenset[str]) -> bool:
    """Whether a fork of this process is all there is of it."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    if opened() - before or _shares_memory(maps) or _has_children():
        return False
    _end_threads(maps)
    # Libraries that know of forks end their threads before one; those that do not still have them.
    if not _forks_and_ends():
        return False
    return len(list(Path("/proc/self/task").iterdir())) == 1


def _shares_memory(maps: list[str]) -> bool:
    return any(line.split()[1].startswith("rw-s") for line in maps)


def _end_threads(maps: list[str]) -> None:
    """Have each OpenMP that is loaded end its threads."""
    for path in {line.split(maxsplit=5)[-1] for line in maps if _OPENMP.search(line)}:
        with contextlib.suppress(OSError, AttributeError):  # older than OpenMP 5
            ctypes.CDLL(path).omp_pause_resource_all(_HARD)


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _forks_and_ends() -> bool:
    child = _fork()
    if not child:
        os._exit(0)
    limit = time.monotonic() + _PATIENCE
    while time.monotonic() < limit:
        try:
            if os.waitpid(child, os.WNOHANG)[0]:
                return True
        except ChildProcessError:  # the subject has the system bury its children
            return True
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    return False


def _fork() -> int:
    with warnings.catch_warnings():  # a framework may warn of threads
        warnings.simplefilter("ignore")
        return os.fork()


def _fork_away(work: Callable[[], None]) -> None:
    """Do something in a process that is no child of this one but of the keeper, and end it."""
    child = _fork()
    if child:
        with contextlib.suppress(ChildProcessError):  # the subject has the system bury its children
            os.waitpid(child, 0)
        return
    try:
        between = os.getpid()
        if not _fork():
            while os.getppid() == between:
                time.sleep(0.0005)
            die_with_parent()
            work()
    finally:
        os._exit(0)


def _wait_for_requests(
    line: socket.socket, keeper: int, told: int, imports: Imports, serve: Serve
) -> None:
    """Fork a worker for each socket that comes, until nobody is there to send one."""
    if os.getppid() != keeper:
        return
    os.write(told, os.getpid().to_bytes(8, "little"))
    os.close(told)
    while True:
        data, descriptors, _, _ = socket.recv_fds(line, 1, 1)
        if not data:
            finish()
        if descriptors:
            if names := imports.told():
                os.write(descriptors[0], WAIT)
                _import(imports, names)
            _fork_away(lambda: _work(line, descriptors[0], serve))  # noqa: B023  # it is called now
            os.close(descriptors[0])


def _import(imports: Imports, names: list[str]) -> None:
    """Go on in a copy of this copy that has imported modules; in this one if it cannot be whole."""
    child = _fork()
    if child:
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != _NOT_WHOLE:
            os._exit(0)  # it has served to its end
        imports.give_up()
        return
    die_with_parent()
    before = opened()
    whole = False
    with contextlib.suppress(BaseException):  # an import may raise anything
        whole = imports.take(names) and _alone(before)
    if not whole:
        os._exit(_NOT_WHOLE)


def _work(line: socket.socket, descriptor: int, serve: Serve) -> None:
    line.close()
    _forget()
    os.setsid()
    connection = socket.socket(fileno=descriptor)
    connection.sendall(os.getpid().to_bytes(8, "little"))
    serve(connection)
    finish()


def _forget() -> None:
    """Leave to the copy what was registered for the end while the subject was imported."""
    atexit._clear()  # noqa: SLF001  # as in finish
    if "multiprocessing.util" in sys.modules:
        atexit.register(sys.modules["multiprocessing.util"]._exit_function)  # noqa: SLF001
