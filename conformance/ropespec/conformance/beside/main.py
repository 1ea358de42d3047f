"""The process of a job: it opens the subject for itself, and tells of each check that is done."""

import _thread
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from ropespec.conformance.beside.asked import GOODBYE, Asked, Subject
from ropespec.conformance.beside.values import receive, send
from ropespec.conformance.jobs.job import Job
from ropespec.conformance.jobs.left import Left
from ropespec.conformance.jobs.process import make_ready
from ropespec.conformance.opening import open_subject
from ropespec.conformance.registry import all_checks
from ropespec.conformance.subject.errors import TargetUnusable

__all__ = ["main"]


def main() -> None:
    """Run one job; it ends early when its input does."""
    known = {item.id: item for item in all_checks()}
    make_ready()
    # A job that is not wanted has nothing to say, nor has one whose subject does not start twice:
    # what is not told of is done by whoever asked.
    with (
        suppress(EOFError, KeyboardInterrupt, TargetUnusable, BrokenPipeError),
        os.fdopen(os.dup(1), "wb") as output,
    ):
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)  # whatever is printed is no result
        subject = receive(sys.stdin.buffer)
        assert isinstance(subject, Subject)
        with open_subject(subject.target, subject.claims, subject.timeout) as session:
            asked = receive(sys.stdin.buffer)
            assert isinstance(asked, Asked)
            threading.Thread(target=_end_with_input, daemon=True).start()
            job = Job(session, asked.plan)
            for name in asked.checks:
                send(output, job.run(known[name]))
            session.refresh()  # what outlives its process is known when that has ended
            send(output, Left(session.spent, dict(session.stragglers)))


def _end_with_input() -> None:
    """End this process, its subject first, when nobody is there to ask any more."""
    while os.read(0, 1):
        pass
    _thread.interrupt_main()
    time.sleep(GOODBYE)
    os._exit(1)
