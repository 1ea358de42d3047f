# ruff: noqa: ARG001, T201  # arguments and prints of a subject are its own
"""Ends its process in several ways."""

import os
import signal
import sys


def apply(x, positions):
    """Abort as native code does."""
    print("about to abort")
    os.abort()


def quits(x, positions):
    """Exit without a word to anyone."""
    os._exit(7)


def killed(x, positions):
    """Be killed, as by the system when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


def sometimes(x, positions):
    """Abort for negative positions only."""
    if positions.size and positions.min() < 0:
        os.abort()
    return x.copy()


def forks(x, positions):
    """Let a child come back from the call as well."""
    os.fork()
    return x.copy()


def scribbles(x, positions):
    """Write rubbish into the connection."""
    for descriptor in range(3, 512):
        try:
            os.write(descriptor, b"\xff" * 64)
        except OSError:
            print("not open", file=sys.stderr)
    return x.copy()
