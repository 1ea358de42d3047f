"""The threads that help with large rotations: made when first needed, and anew after a fork."""

import os
import threading
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from ropespec.backends.cpu.machine import Kernel, sharing

__all__ = ["Team", "run"]

STATE = 64
"""Numbers that threads share, with cache lines to spare."""


class Team(NamedTuple):
    """Who works on a rotation.

    Attributes
    ----------
    size : int
        Threads at most, the caller's included.
    parallel : int
        The address of `GOMP_parallel` in the OpenMP that the caller's framework works with, so that
        its threads and these are the same; 0 where there is none, for threads of our own.
    """

    size: int
    parallel: int = 0


class _Pool:
    """Threads that sleep, or look for work; one job at a time."""

    def __init__(self) -> None:
        self._share, self._serve, *_ = sharing()
        self._memory = np.zeros(STATE + 16, dtype=np.int64)
        self._state = (self._memory.ctypes.data + 127) // 128 * 128
        self._busy = threading.Lock()
        self._calls: list[SimpleQueue[None]] = []
        self._awake: list[bool] = []

    def run(self, address: int, job: bytes, tokens: int, step: int, threads: int) -> bool:
        """Run a job, unless another is running; tell whether it was run."""
        if not self._busy.acquire(blocking=False):
            return False
        try:
            for helper in range(threads - 1):
                if helper == len(self._calls):
                    self._add()
                elif not self._awake[helper]:
                    self._calls[helper].put(None)
            self._share(self._state, address, job, tokens, step)
        finally:
            self._busy.release()
        return True

    def _add(self) -> None:
        self._calls.append(SimpleQueue())
        self._awake.append(True)
        helper = len(self._awake) - 1
        name = f"ropespec-{helper + 1}"
        threading.Thread(target=self._help, args=(helper,), name=name, daemon=True).start()

    def _help(self, helper: int) -> None:
        while True:
            self._awake[helper] = True
            self._serve(self._state)
            self._awake[helper] = False
            self._calls[helper].get()


_pool: _Pool | None = None
_making = threading.Lock()
_forked = False
"""In a forked process the threads of OpenMP are gone, and it waits for them without end."""


def run(
    kernel: Kernel, address: int, job: bytes, tokens: int, step: int, threads: int, parallel: int
) -> None:
    """Turn all tokens of a job by two threads or more, if that can be.

    Parameters
    ----------
    kernel, address
        As `kernel_of` returns them.
    job : bytes
        Its numbers.
    tokens : int
        How many there are.
    step : int
        How many of them a thread takes at a time.
    threads : int
        How many may work on it, the caller's included.
    parallel : int
        As in `Team`.
    """
    if parallel and _forked:
        kernel(job, 0, tokens)
    elif parallel:
        with_openmp = sharing()
        with_openmp.conduct(parallel, with_openmp.helper, threads, address, job, tokens, step)
    elif not _made().run(address, job, tokens, step, threads):
        kernel(job, 0, tokens)


def _made() -> _Pool:
    global _pool  # noqa: PLW0603  # a process has one
    if _pool is None:
        with _making:
            _pool = _pool or _Pool()
    return _pool


def _forget() -> None:
    """Forget threads that a fork has left behind."""
    global _pool, _making, _forked  # as above
    _pool, _making, _forked = None, threading.Lock(), True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
