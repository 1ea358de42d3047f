"""The processes of the score: what they give back, and that none is left behind."""

import multiprocessing
import signal
import subprocess
import sys
import time
from contextlib import closing

import pytest

from ropespec.conformance.zoo.pool import each

LONG = 60  # seconds; nobody waits for it unless the test fails


def test_every_task_is_done_once_and_keeps_its_number():
    """Results come as they are ready, each with the place of its task."""
    assert dict(each(pow, [(2, 3), (3, 2), (5, 1)], 2)) == {0: 8, 1: 9, 2: 5}


def test_what_a_task_raises_ends_the_work():
    """The error is that of the task, and the tasks beside it are not waited for."""
    with pytest.raises(ValueError, match="must be non-negative"):
        list(each(time.sleep, [(LONG,), (-1,)], 2))


def test_whoever_stops_early_leaves_no_process():
    """As an interrupt from the keyboard does: what runs is ended, what waits is never begun."""
    with closing(each(time.sleep, [(0,), (LONG,), (LONG,), (LONG,)], 2)) as done:
        assert next(done) == (0, None)
        workers = multiprocessing.active_children()

    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [-signal.SIGTERM] * 2


def test_the_processes_end_with_the_one_that_started_them():
    """However it ended: they hold its standard output, which only closes when all are gone."""
    code = (
        "import time; from ropespec.conformance.zoo.pool import each\n"
        "if __name__ == '__main__':\n"
        f"    for _ in each(time.sleep, [(0,), ({LONG},), ({LONG},)], 2): print('', flush=True)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert parent.stdout.readline() == b"\n"
    parent.kill()

    parent.communicate(timeout=60)
