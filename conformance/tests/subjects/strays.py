# ruff: noqa: ARG001  # arguments of a subject are its own
"""Starts processes that do not want to end with it; the result tells which."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_kept = []
SLEEP = [sys.executable, "-c", "import time; time.sleep(3600)"]


def _telling(x, number):
    y = x.copy()
    y.reshape(-1)[0] = number
    return y


def child(x, positions):
    """Start a child in its own group."""
    return _telling(x, subprocess.Popen(SLEEP).pid)


def session(x, positions):
    """Start a child in a session of its own."""
    return _telling(x, subprocess.Popen(SLEEP, start_new_session=True).pid)


def daemon(x, positions):
    """Fork twice, so that the grandchild is nobody's."""
    read, write = os.pipe()
    if not os.fork():
        os.setsid()
        if os.fork():
            os._exit(0)
        os.write(write, os.getpid().to_bytes(8, "little"))
        while True:
            time.sleep(3600)
    os.wait()
    return _telling(x, int.from_bytes(os.read(read, 8), "little"))


def reader(x, positions):
    """Start a child that ends a moment after nobody writes to it any more."""
    code = "import sys, time; sys.stdin.read(); time.sleep(0.05)"
    _kept.append(subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE))
    return x.copy()


def deaf(x, positions):
    """Start a daemon, write down who is there, and hang with all signals ignored."""
    grandchild = int(daemon(x, positions).reshape(-1)[0])
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    Path("pids.part").write_text(f"{os.getpid()} {grandchild}", encoding="ascii")
    Path("pids.part").rename("pids")
    while True:
        time.sleep(3600)


def kills_keeper(x, positions):
    """Kill the parent, whoever that is, and hang."""
    os.kill(os.getppid(), signal.SIGKILL)
    while True:
        time.sleep(3600)


def stops_keeper(x, positions):
    """Have the parent stand still, and hang."""
    os.kill(os.getppid(), signal.SIGSTOP)
    while True:
        time.sleep(3600)


def signals_keeper(x, positions):
    """Ask the parent to go, in every way that can be refused."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGCHLD):
        os.kill(os.getppid(), number)
    return x.copy()
