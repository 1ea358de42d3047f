"""Checks of the implementations, each in its own process, so many at a time."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Self

from ropespec.conformance.cores import cores
from ropespec.conformance.gallery.installing import Installed
from ropespec.conformance.gallery.judging import judged, judged_as, settled, unrun
from ropespec.conformance.gallery.listed import Implementation, normal
from ropespec.conformance.gallery.reproducing import reproduced

__all__ = ["Runner"]

_DEADLINE = 600
"""Seconds for the checks of one implementation; what is left then is not judged."""

_GRACE = 120
"""Seconds beside these for what is not a check: the import, scripts, the search for a cause."""

_UNDECIDED = 4

_VALUES = ("--only", "ROT-6.value", "--only", "ROT-7.value", "--dtype", "float32")
"""What tells a rotation from that of another model."""

Row = dict[str, Any]


class Runner:
    """Checks implementations; a context manager, at whose end nothing is left running.

    Parameters
    ----------
    folder : Path
        The folder of the lists.
    environments : mapping of str to Installed
        What is in each environment.
    workers : int
        How many run at a time.
    """

    def __init__(self, folder: Path, environments: Mapping[str, Installed], workers: int) -> None:
        self._folder = folder
        self._environments = environments
        self._workers = workers
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        with self._lock:
            for process in self._running:
                process.terminate()  # its subject is ended with it

    def rows(
        self, implementations: Iterable[Implementation], on_row: Callable[[str, Row], None]
    ) -> None:
        """Check implementations, and hand each row over when it is there."""
        with ThreadPoolExecutor(self._workers) as pool:
            futures = {pool.submit(self.row, one): one.name for one in implementations}
            try:
                for done in as_completed(futures):
                    on_row(futures[done], done.result())
            except BaseException:  # Ctrl-C must not wait for those that have not begun
                pool.shutdown(wait=False, cancel_futures=True)
                self.__exit__()
                raise

    def row(self, implementation: Implementation) -> Row:
        """Return the row of one implementation."""
        return settled(implementation, self._row(implementation))

    def _row(self, implementation: Implementation) -> Row:
        here = self._environments[implementation.environment.name]
        if why := implementation.not_run or _absent(implementation, here):
            return unrun(why)
        began = time.monotonic()
        verdict, why = self._verdict(implementation.words, here.python)
        if verdict is None:
            return unrun(why)
        found = judged(verdict) | reproduced(verdict, here.python, self._folder, self._run)
        if implementation.refused:
            words = (implementation.words[0], *implementation.refused, *_VALUES)
            verdict, why = self._verdict(words, here.python)
            if verdict is None:
                return unrun(why)
            found["another"] = judged_as(verdict)
        return found | {"seconds": round(time.monotonic() - began, 1)}

    def _verdict(self, words: Sequence[str], python: Path) -> tuple[Mapping[str, Any] | None, str]:
        """Return what the command says in its document, or in its last line."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "verdict.json"
            command = [sys.executable, "-m", "ropespec", "check", *words]
            command += ["--python", str(python), "--json", str(file), "--deadline", str(_DEADLINE)]
            command += ["--jobs", "1"] if self._share == 1 else []
            try:
                done = self._run(command, "", self._folder, self._quiet(), _DEADLINE + _GRACE)
            except subprocess.TimeoutExpired:
                return None, f"it did not end in {_DEADLINE + _GRACE} s"
            if done.returncode == _UNDECIDED:
                return None, f"nothing failed within {_DEADLINE} s, and not all was checked"
            if not file.exists():
                said = [line for line in done.stderr.splitlines() if line.startswith("ropespec: ")]
                return None, (said or ["its process ended"])[-1].removeprefix("ropespec: ")
            return json.loads(file.read_text(encoding="utf-8")), ""

    @property
    def _share(self) -> int:
        """How many cores there are for each."""
        return max(1, cores() // self._workers)

    def _quiet(self) -> dict[str, str]:
        """Return the environment of a check."""
        return {"OMP_NUM_THREADS": str(self._share), **os.environ}

    def _run(
        self,
        words: Sequence[str],
        given: str,
        folder: Path,
        environment: Mapping[str, str],
        seconds: float,
    ) -> "subprocess.CompletedProcess[str]":
        with self._lock:
            if self._stopped:
                raise subprocess.TimeoutExpired(words, 0.0)
            process = subprocess.Popen(  # noqa: S603  # our own command, and scripts that it wrote
                words,
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
            )
            self._running.add(process)
        try:
            printed, errors = process.communicate(given, timeout=seconds)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.communicate()
            raise
        finally:
            with self._lock:
                self._running.discard(process)
        return subprocess.CompletedProcess(words, process.returncode, printed, errors)


def _absent(implementation: Implementation, here: Installed) -> str:
    """Return why an implementation cannot be run; nothing if it can."""
    package = implementation.package
    found = here.versions.get(normal(package))
    if here.missing:
        return here.missing
    if found is None:
        said = [words for one, words in here.failed.items() if package in one]
        return f"{package} is not installed in {implementation.environment.name}" + "".join(
            f": {words}" for words in said
        )
    if found != implementation.version:
        return f"{package} {found} is installed, and the list has {implementation.version}"
    return ""
