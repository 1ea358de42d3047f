"""Running one step, for as long as it may take."""

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from ropespec.bench.card.steps import PASSED, UNFINISHED, Step

__all__ = ["run"]

TAIL = 4000
"""Characters of what a step said that are kept."""

GRACE = 10
"""Seconds that an interrupted step has to write what it found."""


def run(step: Step, seconds: int) -> dict[str, Any]:
    """Run a step, and end it with all its processes where it takes longer.

    Parameters
    ----------
    step : Step
        What to run.
    seconds : int
        How long it may take.

    Returns
    -------
    dict
        `status`: passed, failed, not here, or out of time; what it found and said.
    """
    if importlib.util.find_spec(step.needs) is None:
        return {"status": "not here", "said": f"{step.needs} is not installed"}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file, said = Path(folder, "found.json"), Path(folder, "said")
        with said.open("wb") as output:
            code = _wait(step, file, output.fileno(), seconds)
        found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
        text = said.read_text(encoding="utf-8", errors="replace")[-TAIL:]
    return {
        "status": _status(code, found),
        "exit": code,
        "seconds": round(time.monotonic() - began, 1),
        "command": " ".join(step.command[1:]),
        "found": found,
        "said": text,
    }


def _status(code: int | None, found: Any) -> str:  # noqa: ANN401  # what a step wrote
    if code in {None, UNFINISHED}:
        return "out of time"
    empty = not found or (isinstance(found, dict) and found.get("rows") == [])
    return "passed" if code == PASSED and not empty else "failed"


def _wait(step: Step, file: Path, output: int, seconds: int) -> int | None:
    """Return the exit status, or None where time ran out."""
    process = subprocess.Popen(  # noqa: S603  # a command of ours
        [*step.command, str(file)],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=os.environ | step.settings,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # what can be interrupted writes what it has
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):  # as a rule nothing is left of it
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
