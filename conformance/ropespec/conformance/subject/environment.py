"""In which interpreter a subject lives, and with which environment variables."""

import functools
import os
import sys
import tempfile

from ropespec.conformance.frameworks import FRAMEWORKS
from ropespec.conformance.subject.keeper import COMPILED

__all__ = ["PYTHON", "environment", "interpreter"]

PYTHON = "ROPESPEC_PYTHON"
"""The variable that names the interpreter of subjects; unset for the one that asks."""


def interpreter() -> str:
    """Return the interpreter of subjects: `PYTHON`, or the one of this process."""
    return os.environ.get(PYTHON) or sys.executable


def environment() -> dict[str, str]:
    """Return those of this process, with what a worker needs beside them.

    Session and worker take turns. OpenMP threads of a subject that spin while they wait for work
    would take the turn of the session, half of the time of a worker that has them. What they
    compute is the same, and whoever sets the variable has it as they set it.

    Another job of the run gets them too, for its workers to find what has been compiled.
    """
    ours = {"OMP_WAIT_POLICY": "passive"}
    if COMPILED not in os.environ and (kept := _kept()) is not None:
        owner, folder = kept
        ours[COMPILED] = f"{owner} {folder.name}"
        for framework in FRAMEWORKS.values():
            found = framework.environment(folder.name)
            if not found.keys() & os.environ.keys():  # or the user keeps it, and as they say
                ours |= found
    return {**ours, **os.environ, "PYTHONUNBUFFERED": "1"}


@functools.cache
def _kept() -> tuple[int, tempfile.TemporaryDirectory[str]] | None:
    """Return this process and its folder for what frameworks compile, which goes with it.

    Processes that are forked from it have its folder, and do not own it.
    """
    try:
        return os.getpid(), tempfile.TemporaryDirectory(prefix="ropespec-")
    except OSError:
        return None  # then each worker compiles for itself
