"""A script is shown only after it was run in a fresh interpreter and showed the difference."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import IO

from ropespec.conformance.draft import Draft
from ropespec.conformance.results import CheckResult, Counterexample, Verdict
from ropespec.conformance.subject.environment import interpreter

__all__ = ["EACH", "WHOLE", "Proof", "proved"]

EACH = 20.0
"""Seconds for one script."""

WHOLE = 40.0
"""Seconds for all scripts of one subject."""

TOGETHER = 2
STEP = 0.02  # seconds between two looks at a script that runs
_KEPT = 2**16

SILENT = "run by itself, it shows no difference: calls before it are to blame"
SLOW = "it did not end in time"
LATE = f"the scripts of other failures took {WHOLE:g} s"
WAIVED = "it is waived"
CONSEQUENCE = "almost any mistake makes it fail; the others have one"


class Proof:
    """Runs the scripts of one subject.

    Parameters
    ----------
    folder : Path or None
        The working directory; the current one if None.
    each, whole : float
        Seconds for one script, and for all.
    """

    def __init__(
        self, folder: Path | None = None, *, each: float = EACH, whole: float = WHOLE
    ) -> None:
        self._folder = folder or Path.cwd()
        self._each = each
        self._left = whole
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End what runs, and begin nothing more."""
        self._stopped.set()

    def of(self, found: Counterexample) -> Counterexample:
        """Return a counterexample with the first of its scripts that shows it, or why none does."""
        if not found.drafts:
            return found
        reason = LATE
        for draft in found.drafts:
            if self._left <= 0 or self._stopped.is_set():
                break
            began = time.monotonic()
            reason = self._tried(draft)
            self._left -= time.monotonic() - began
            if not reason:
                return replace(found, script=draft.source, drafts=(), no_script="")
        return replace(found, drafts=(), no_script=reason)

    def of_result(self, result: CheckResult) -> CheckResult:
        """Return a result with its counterexample proved."""
        if result.counterexample is None:
            return result
        return replace(result, counterexample=self.of(result.counterexample))

    def _tried(self, draft: Draft) -> str:
        """Return why a script is not to be shown; nothing if it is."""
        try:
            seconds = min(self._each, self._left)
            status, printed, errors = run(draft.source, self._folder, seconds, self._stopped)
        except subprocess.TimeoutExpired:
            return SLOW
        except OSError as problem:
            return f"it could not be run: {problem.strerror or problem}"
        return "" if draft.shown_by(status, printed, errors) else SILENT


def proved(verdict: Verdict, proof: Proof | None = None) -> Verdict:
    """Run the scripts of a verdict, those that point at a mistake before the others.

    Parameters
    ----------
    verdict : Verdict
        What was found.
    proof : Proof or None
        Who runs them.

    Returns
    -------
    Verdict
        Each counterexample with a script that showed it, or with the reason why there is none.
        Where some failures point at a mistake, those that almost any mistake causes get none.
    """
    runs = proof or Proof()
    telling = {result.id for result in verdict.failures if not result.general}
    chosen = [one for one in verdict.failures if not telling or one.id in telling]
    with ThreadPoolExecutor(TOGETHER) as pool:
        try:
            done = {one.id: one for one in pool.map(runs.of_result, chosen)}
        except BaseException:  # Ctrl-C must not wait for scripts
            runs.stop()
            raise
    checks = tuple(done.get(one.id) or _without(one) for one in verdict.checks)
    return replace(verdict, checks=checks)


def _without(result: CheckResult) -> CheckResult:
    found = result.counterexample
    if found is None or not found.drafts:
        return result
    reason = WAIVED if result.waived else CONSEQUENCE
    return replace(result, counterexample=replace(found, drafts=(), no_script=reason))


def run(
    source: str, folder: Path, seconds: float, stopped: threading.Event | None = None
) -> tuple[int, str, str]:
    """Run a script in a fresh interpreter, in a folder and in this environment.

    Parameters
    ----------
    source : str
        The script.
    folder : Path
        The working directory.
    seconds : float
        How long it may take.
    stopped : Event or None
        Set when nobody waits for it any more.

    Returns
    -------
    status, printed, errors
        The exit status and the ends of what was printed.

    Raises
    ------
    TimeoutExpired
        If it takes longer; whatever it had started in its process group is ended.
    """
    process = subprocess.Popen(  # noqa: S603  # that of the subject, which is to be tried
        [interpreter(), "-"],
        cwd=folder,
        env=_environment(os.environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    readers = [_Reader(pipe) for pipe in (process.stdout, process.stderr) if pipe is not None]
    try:
        with contextlib.suppress(OSError):  # it may end before it has read everything
            process.stdin.write(source.encode())
            process.stdin.close()
        status = _waited(process, seconds, stopped or threading.Event())
    finally:
        _end(process)
    printed, errors = (reader.text() for reader in readers)
    return status, printed, errors


def _waited(process: "subprocess.Popen[bytes]", seconds: float, stopped: threading.Event) -> int:
    end = time.monotonic() + seconds
    while (status := process.poll()) is None:
        if stopped.wait(STEP) or time.monotonic() > end:
            raise subprocess.TimeoutExpired(process.args, seconds)
    return status


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    # Nothing is left beside the user's files, and every text can be printed.
    return {**own, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8:backslashreplace"}


def _end(process: "subprocess.Popen[bytes]") -> None:
    kill_group = getattr(os, "killpg", None)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if kill_group is not None:
            kill_group(process.pid, signal.SIGKILL)
        process.kill()
    process.wait()


class _Reader:
    """Keeps the end of what comes through a pipe, whatever its length and whoever holds it open."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._tail = b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self) -> str:
        self._thread.join(1.0)
        return self._tail.decode(errors="replace")

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._pipe:
            for chunk in _chunks(self._pipe):
                self._tail = (self._tail + chunk)[-_KEPT:]


def _chunks(pipe: IO[bytes]) -> Iterable[bytes]:
    return iter(lambda: os.read(pipe.fileno(), _KEPT), b"")
