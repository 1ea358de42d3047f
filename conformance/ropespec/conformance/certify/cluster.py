"""Blocks on the workers of Dask: those of this machine, or of any cluster.

A worker that is lost loses the blocks it had, and Dask gives them to others.
"""

import logging
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropespec.conformance.certify.found import Found
from ropespec.conformance.certify.plan import Block, Plan
from ropespec.conformance.certify.worker import certify_block
from ropespec.conformance.cores import cores

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["SchedulerUnusable", "Workers", "connected", "work"]

AHEAD = 3
"""Blocks that each worker has in hand or waiting, so that none is idle and few are lost."""

CONNECT = 10.0
"""Seconds in which a scheduler must answer."""


_ABSENT = "certify runs on Dask, which is not installed: pip install 'ropespec[certify]'"


class SchedulerUnusable(Exception):  # noqa: N818  # named for what is said of it
    """No workers can be had; one line for the user."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Where blocks are judged.

    Attributes
    ----------
    scheduler : str or None
        Address of the scheduler of a Dask cluster; None for workers of this machine.
    count : int or None
        How many of this machine; None for one a core.
    """

    scheduler: str | None = None
    count: int | None = None


@contextmanager
def connected(workers: Workers) -> Iterator["Client"]:
    """Return a client of the workers of a cluster, or of this machine.

    Parameters
    ----------
    workers : Workers
        Which they are.

    Raises
    ------
    SchedulerUnusable
        If Dask is not installed, or the scheduler does not answer, or has no workers.
    """
    try:
        from distributed import Client, LocalCluster  # noqa: PLC0415  # an extra
    except ImportError:
        raise SchedulerUnusable(_ABSENT) from None
    if workers.scheduler is None:
        with _environment_kept():
            with _uninterrupted():
                own = LocalCluster(
                    n_workers=workers.count or cores(),
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                )
            with own, Client(own) as client:
                yield client
        return
    try:
        client = Client(workers.scheduler, timeout=CONNECT)
    except (OSError, ValueError) as problem:
        raise SchedulerUnusable(
            f"--scheduler: {workers.scheduler} does not answer: {problem}"
        ) from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise SchedulerUnusable(f"--scheduler: {workers.scheduler} has no workers")
        yield client


@contextmanager
def _environment_kept() -> Iterator[None]:
    """Take back what Dask sets here for its workers: one thread for every later process as well."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let processes that are started here leave Ctrl-C to this one, which ends them in order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def work(client: "Client", plan: Plan, blocks: Iterable[Block]) -> Iterator[Found]:
    """Have blocks judged, and yield what was found as it comes.

    Parameters
    ----------
    client : Client
        From `connected`.
    plan : Plan
        What the blocks are of.
    blocks : iterable of Block
        Those that are left; few of them are under way at a time.
    """
    from distributed import as_completed  # noqa: PLC0415  # an extra

    left = iter(blocks)
    at_once = AHEAD * max(1, len(client.scheduler_info()["workers"]))

    def next_future() -> "Future[Found] | None":
        block = next(left, None)
        if block is None:
            return None
        return client.submit(
            certify_block, plan.target, plan.claims, plan.timeout, block, pure=False
        )

    first = [future for _ in range(at_once) if (future := next_future()) is not None]
    under_way = as_completed(first)
    for done in under_way:
        yield done.result()
        if (future := next_future()) is not None:
            under_way.add(future)
