# ruff: noqa: ARG001, T201  # arguments and prints of a subject are its own
"""Never answers."""

import subprocess
import sys
import time


def apply(x, positions):
    """Sleep for ever."""
    print("waiting", flush=True)
    while True:
        time.sleep(3600)


def with_child(x, positions):
    """Wait for a child that sleeps for ever and keeps every descriptor."""
    print("going")
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    print("child", child.pid)
    child.wait()
