"""The environment variables of a worker."""

import os

__all__ = ["environment"]


def environment() -> dict[str, str]:
    """Return those of this process, with what a worker needs beside them.

    Session and worker take turns. OpenMP threads of a subject that spin while they wait for work
    would take the turn of the session, half of the time of a worker that has them. What they
    compute is the same, and whoever sets the variable has it as they set it.
    """
    return {"OMP_WAIT_POLICY": "passive", **os.environ, "PYTHONUNBUFFERED": "1"}
