"""In which interpreter a subject lives, and with which environment variables."""

import functools
import hashlib
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path

import platformdirs

from ropespec.conformance.frameworks import FRAMEWORKS

__all__ = ["MOST_BYTES", "PYTHON", "environment", "interpreter"]

PYTHON = "ROPESPEC_PYTHON"
"""The variable that names the interpreter of subjects; unset for the one that asks."""

MOST_BYTES = 2**28
"""How much compiled programs may take before the older ones go; those of a run take 2**22."""


def interpreter() -> str:
    """Return the interpreter of subjects: `PYTHON`, or the one of this process."""
    return os.environ.get(PYTHON) or sys.executable


def environment() -> dict[str, str]:
    """Return those of this process, with what a worker needs beside them.

    Session and worker take turns. Threads of a subject that spin while they wait for work, of
    OpenMP or of OpenBLAS, would take the turn of the session, half of the time of a worker that
    has them. What they compute is the same, and whoever sets a variable has it as they set it.

    What a framework compiles it finds again, in this run and in later ones.
    """
    ours = {"OMP_WAIT_POLICY": "passive", "OPENBLAS_THREAD_TIMEOUT": "4"}
    for name, framework in FRAMEWORKS.items():
        names = framework.environment("").keys()
        if not names or names & os.environ.keys():  # the user keeps it, or who started this process
            continue
        if (folder := _kept()) is not None:
            ours |= framework.environment(str(folder / name))
    return {**ours, **os.environ, "PYTHONUNBUFFERED": "1"}


@functools.cache
def _kept() -> Path | None:
    """Return the user's folder for what is compiled on such a machine; None if it cannot be had."""
    folder = platformdirs.user_cache_path("ropespec") / "compiled" / _machine()
    if not folder.is_absolute():  # nobody has a home here
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None  # then each worker compiles for itself
    with suppress(OSError):  # another run may be at it
        _make_room(folder)
    return folder if os.access(folder, os.W_OK) else None


def _machine() -> str:
    """Name a machine by its instructions, for what is compiled for others might not run on it."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        told = ""
    first = told.partition("\n\n")[0].splitlines()
    kept = [line for line in first if line.lower().startswith(("model name", "flags", "features"))]
    able = "\n".join(kept) or platform.processor()  # which takes a process on Linux
    return f"{platform.machine()}-{hashlib.sha256(able.encode()).hexdigest()[:12]}"


def _make_room(folder: Path) -> None:
    """Remove the older half of what is kept when it has become too much."""
    # There may be thousands, and nothing has begun yet: to make a `Path` of each takes longer.
    files = [file for inside, _, _ in os.walk(folder) for file in os.scandir(inside)]
    files = [file for file in files if file.is_file()]
    if sum(file.stat().st_size for file in files) > MOST_BYTES:
        files.sort(key=lambda file: file.stat().st_mtime)
        for file in files[: len(files) // 2 + 1]:
            Path(file).unlink(missing_ok=True)
