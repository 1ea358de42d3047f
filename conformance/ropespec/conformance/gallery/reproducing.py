"""Whether the script that a refusal printed shows it, where nothing of ours is."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ropespec.conformance.draft import Draft

__all__ = ["reproduced"]

_SECONDS = 120.0
_OURS = ("PYTHONPATH", "PYTHONHOME")
_BEHIND = "# one of the rotations behind"
"""How a script begins that shows a rotation where a law failed: the budget is that of the law."""

_ROUNDED = 2.0**-7
"""More than the rounding of any dtype makes of a component up to 1."""

NONE = {"scripts": 0, "shown": 0, "script": ""}


def reproduced(
    verdict: Mapping[str, Any],
    python: Path,
    folder: Path,
    run: "Callable[..., subprocess.CompletedProcess[str]]",
) -> dict[str, Any]:
    """Run the scripts of a verdict in the interpreter of the subject, and with nothing of ours.

    Parameters
    ----------
    verdict : mapping
        The document of `ropespec check`.
    python : Path
        The interpreter.
    folder : Path
        The folder of the lists, from which scripts find what is bound.
    run : callable
        Runs a command: its words, input, folder, environment and seconds.

    Returns
    -------
    dict
        `scripts`, how many were printed; `shown`, how many of them show what they are about; and
        `script`, the first that does.
    """
    items = [item for item in verdict["checks"] if (item["counterexample"] or {}).get("script")]
    environment = {name: value for name, value in os.environ.items() if name not in _OURS}
    shown = []
    for item in items:
        script = item["counterexample"]["script"]
        try:
            done = run([str(python), "-"], script, folder, environment, _SECONDS)
        except subprocess.TimeoutExpired:
            continue
        if _shows(item, done):
            shown.append(script)
    return {**NONE, "scripts": len(items), "shown": len(shown), "script": (*shown, "")[0]}


def _shows(item: Mapping[str, Any], done: "subprocess.CompletedProcess[str]") -> bool:
    """Whether it ended in what was found: numbers apart by the budget, words, or an exception."""
    found = item["counterexample"]
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        raised = last.partition(":")[0].rpartition(".")[2]
        return bool(raised) and raised in item["message"]
    budget = found["budget"] if isinstance(found["budget"], float | int) else 0.0
    if found["script"].startswith(_BEHIND):
        budget = min(budget, _ROUNDED)
    return Draft(found["script"], budget).shown_by(0, done.stdout, done.stderr)
