"""Starting the process of each subject and gathering its rows."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

from ropespec.backends.benchmark.case import Direction, Into, Row, Shape
from ropespec.backends.benchmark.subjects import Entry

__all__ = ["Absent", "Found", "Plan", "run"]

COMMAND = (sys.executable, "-m", "ropespec.backends.benchmark.child")
"""Starts the process of a subject."""

MAX_CRASHES = 3
"""After so many a subject is given up."""

MAIN_WAYS: tuple[tuple[Direction, Into], ...] = (
    ("forward", "new"),
    ("forward", "out"),
    ("forward", "self"),
    ("backward", "new"),
)

ALL_WAYS: tuple[tuple[Direction, Into], ...] = (*MAIN_WAYS, ("backward", "out"))

TABLE_WAYS: tuple[tuple[Direction, Into], ...] = (("forward", "new"), ("forward", "out"))
"""What is enough for a variant whose gradient and in-place form are those of another subject."""

COMPILED_WAYS: tuple[tuple[Direction, Into], ...] = (*TABLE_WAYS, ("backward", "new"))


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured.

    Attributes
    ----------
    dtypes : tuple of str
        Dtypes.
    shapes : tuple
        Sizes (B, S, H, D).
    repetitions : int
        Of every measurement.
    limit : float
        Seconds a measurement may take before fewer repetitions are enough.
    device : str
        `auto`, `cpu` or `cuda`.
    full : bool
        Leave nothing out.
    timeout : float
        Seconds that a subject may take altogether.
    """

    dtypes: tuple[str, ...]
    shapes: tuple[Shape, ...]
    repetitions: int = 15
    limit: float = 0.4
    device: str = "auto"
    full: bool = False
    timeout: float = 1800.0

    def request(self, entry: Entry, skip: int = 0) -> dict[str, Any]:
        """Return what the process of a subject is asked for."""
        shapes, ways = self.shapes, ALL_WAYS
        if not self.full:
            ways = MAIN_WAYS
            if entry.is_compiled:  # every case is compiled by itself, which takes seconds
                shapes, ways = (max(shapes, key=_elements),), COMPILED_WAYS
            if entry.options.get("tables"):
                ways = TABLE_WAYS
        return {
            "subject": entry.name,
            "dtypes": self.dtypes,
            "shapes": shapes,
            "ways": ways,
            "repetitions": self.repetitions,
            "limit": self.limit,
            "device": self.device,
            "skip": skip,
        }


@dataclass(frozen=True, slots=True)
class Absent:
    """A subject that was not measured at all.

    Attributes
    ----------
    subject : str
        Its name.
    reason : str
        Why.
    """

    subject: str
    reason: str


@dataclass(slots=True)
class Found:
    """What came out.

    Attributes
    ----------
    rows : list of Row
        Measured and failed cases.
    absent : list of Absent
        Subjects that could not be measured.
    gpu : str
        The name of the GPU that something ran on, or nothing.
    """

    rows: list[Row] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    gpu: str = ""


Progress = Callable[[str], None]


def run(entries: list[Entry], plan: Plan, progress: Progress) -> Found:
    """Measure subjects, each in a process of its own, one after the other.

    Parameters
    ----------
    entries : list of Entry
        The subjects.
    plan : Plan
        What to measure.
    progress : callable
        Told in a line what begins.

    Returns
    -------
    Found
        All rows; a subject that failed has its reason in them, or is absent.
    """
    found = Found()
    for index, entry in enumerate(entries, start=1):
        missing = entry.missing()
        if missing is not None:
            found.absent.append(Absent(entry.name, f"not installed: {missing}"))
            continue
        where = f"[{index}/{len(entries)}] {entry.name}"
        progress(where)
        _one(entry, plan, found, where, progress)
    return found


def _one(entry: Entry, plan: Plan, found: Found, where: str, progress: Progress) -> None:
    def inside(text: str) -> None:
        progress(f"{where}: {text}")

    done = 0
    for _ in range(MAX_CRASHES):
        before = len(found.rows)
        reason = _process(plan.request(entry, skip=done), plan.timeout, found, inside)
        if reason is None:
            return
        done += len(found.rows) - before
        if len(found.rows) == before:
            found.absent.append(Absent(entry.name, reason))
            return
    found.absent.append(Absent(entry.name, f"given up after {MAX_CRASHES} crashes"))


def _process(
    request: dict[str, Any], timeout: float, found: Found, progress: Progress
) -> str | None:
    """Run one process; return why it ended early, if it did, the case in progress failed."""
    running: list[Any] | None = None
    count, total, device = 0, 0, "cpu"
    with _child(request, timeout) as (process, reports, log):
        for line in reports:
            report = json.loads(line)
            if "absent" in report:
                found.absent.append(Absent(request["subject"], report["absent"]))
            elif "cases" in report:
                total, device = report["cases"] - request["skip"], report["device"]
                found.gpu = report["device_name"] or found.gpu
            elif "start" in report:
                running, count = report["start"], count + 1
                progress(f"{count}/{total} {_text(report['start'])}")
            else:
                running = None
                found.rows.append(Row.from_json(report["row"]))
        code = process.wait()
        if code == 0:
            return None
        reason = _why(code, log)
    if running is not None:
        dtype, interleaved, shape, direction, into = running
        failed = Row(
            request["subject"],
            dtype,
            interleaved,
            tuple(shape),
            direction,
            into,
            device=device,
            reason=reason,
        )
        found.rows.append(failed)
    return reason


@contextmanager
def _child(
    request: dict[str, Any], timeout: float
) -> Iterator[tuple[subprocess.Popen[str], IO[str], IO[str]]]:
    """Start the process, send the request, and end it in any case."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    if request["device"] == "cpu":
        environment["JAX_PLATFORMS"] = "cpu"
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        process = subprocess.Popen(  # noqa: S603  # our own module
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment,
        )
        deadline = threading.Timer(timeout, process.kill)
        deadline.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.close()
            yield process, process.stdout, log
        finally:
            deadline.cancel()
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _why(code: int, log: IO[str]) -> str:
    log.seek(0)
    lines = [line.strip() for line in log if line.strip()]
    last = f": {lines[-1]}" if lines else ""
    ended = f"killed by signal {-code}" if code < 0 else f"exit status {code}"
    return f"the process ended early, {ended}{last}"[:200]


def _text(case: list[Any]) -> str:
    dtype, interleaved, shape, direction, into = case
    layout = "interleaved" if interleaved else "half-split"
    return f"{'x'.join(map(str, shape))} {dtype} {layout} {direction} into {into}"


def _elements(shape: Shape) -> int:
    batch, length, heads, head_dim = shape
    return batch * length * heads * head_dim
