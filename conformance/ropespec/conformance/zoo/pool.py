"""Do tasks in several processes, and leave none behind when the work is interrupted."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing.connection import wait
from typing import Any, TypeVar

__all__ = ["each"]

Result = TypeVar("Result")


def each(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], workers: int
) -> Generator[tuple[int, Result]]:
    """Yield the number of a task and its result, as they come.

    Whatever ends the iteration early, an interrupt from the keyboard among it, ends the processes;
    they end by themselves if this one is killed.

    Parameters
    ----------
    function : callable
        What is called with each task; both must survive pickling.
    tasks : sequence of tuple
        Arguments.
    workers : int
        How many processes.
    """
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_attend) as pool:
        running: dict[Future[Result], int] = {}
        try:
            for i, task in enumerate(tasks):
                running[pool.submit(function, *task)] = i
            for future in as_completed(running):
                yield running[future], future.result()
        except BaseException:  # a pool that loses a process gives up all that waits
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()
            raise


def _attend() -> None:
    """Leave the keyboard to the parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
