"""Ctrl-C that Python loses is pressed again."""

import _thread
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["repeated"]

SOON = 0.02
"""Seconds after which it comes again: what lost it has long ended."""


@contextmanager
def repeated() -> Iterator[None]:
    """Have an interruption come again that nobody could catch.

    What is raised while Python collects garbage or ends an object goes no further, and that may be
    a `KeyboardInterrupt`; Hypothesis has a function of its own called for every collection.
    """
    before = sys.unraisablehook
    timers: list[threading.Timer] = []

    def again(lost: "sys.UnraisableHookArgs") -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            before(lost)
            return
        started = False
        while not started:
            timers.append(threading.Timer(SOON, _thread.interrupt_main))
            with suppress(KeyboardInterrupt):  # on a busy machine it comes before this has ended
                timers[-1].start()
                started = True

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = before
        for timer in timers:
            timer.cancel()
