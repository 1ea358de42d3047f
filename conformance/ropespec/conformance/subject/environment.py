"""In which interpreter a subject lives, and with which environment variables."""

import os
import sys

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
    """
    return {"OMP_WAIT_POLICY": "passive", **os.environ, "PYTHONUNBUFFERED": "1"}
