"""A target that has been imported, and waits for a session to go on with it."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

from ropespec.conformance.subject.errors import SubjectError, TargetUnusable
from ropespec.conformance.subject.process import WorkerProcess
from ropespec.conformance.subject.reply import Offer
from ropespec.conformance.subject.target import parse

__all__ = ["LOAD_TIMEOUT", "Loaded", "load", "require_done"]

LOAD_TIMEOUT = 60.0
"""Seconds for an import."""


class Loaded:
    """A target that has been imported in a worker, waiting for its profile.

    Attributes
    ----------
    target : str
        As given.
    is_builtin : bool
        Whether it is a backend of this project.
    profile_mapping : mapping or None
        Its `PROFILE`.
    offers : mapping of str to Offer
        The functions it offers.
    """

    def __init__(
        self,
        target: str,
        folder: Path,
        worker: WorkerProcess,
        answer: Mapping[str, Any],
        *,
        is_builtin: bool,
    ) -> None:
        self.target = target
        self.is_builtin = is_builtin
        self.profile_mapping: Mapping[str, Any] | None = answer["profile"]
        self.offers: Mapping[str, Offer] = MappingProxyType(
            {name: Offer(name, frozenset(words)) for name, words in answer["offers"].items()}
        )
        self.folder = folder
        self._worker: WorkerProcess | None = worker

    def take_worker(self) -> WorkerProcess | None:
        """Hand over the worker in which it was imported; None if that has been done."""
        worker, self._worker = self._worker, None
        return worker

    def close(self) -> None:
        """End the worker unless a session has taken it."""
        worker = self.take_worker()
        if worker is not None:
            worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def load(target: str, timeout: float = LOAD_TIMEOUT, *, folder: Path | None = None) -> Loaded:
    """Import a target in a worker of its own.

    Parameters
    ----------
    target : str
        `numpy`, `torch`, `jax`, `cupy`, `package.module:attribute` or `path/to/file.py:attribute`.
    timeout : float
        Seconds for the import.
    folder : Path, optional
        The working directory of the worker, which is importable; the current one by default.

    Returns
    -------
    Loaded
        For `Session`, which goes on with the same worker.

    Raises
    ------
    TargetUnusable
        With one line that says why.
    """
    home = Path(folder or os.getcwd())  # noqa: PTH109  # as the user sees it
    parsed = parse(target, home)
    worker = WorkerProcess(home)
    try:
        request = {"do": "load", "target": target}
        answer = worker.ask(request, timeout=timeout, doing="while it was imported").header
        require_done(target, answer)
    except SubjectError as error:
        worker.close(kill=True)
        message = f"{parsed.place} cannot be imported: {error.message}{_last_word(error)}"
        raise TargetUnusable(message) from error
    except BaseException:
        worker.close(kill=True)
        raise
    return Loaded(target, home, worker, answer, is_builtin=parsed.is_builtin)


def require_done(target: str, answer: Mapping[str, Any]) -> None:
    """Raise what a worker that could not be prepared has answered.

    Raises
    ------
    TargetUnusable
        With one line for the user.
    """
    if answer.get("failed") == "raised":
        what = f"{answer['types'][0]}: {answer['message']}"
        raise TargetUnusable(f"{target} cannot be loaded: {what}")
    if "failed" in answer:
        raise TargetUnusable(answer["message"])


def _last_word(error: SubjectError) -> str:
    lines = error.detail.splitlines()
    fatal = [line for line in lines if line.startswith("Fatal")]
    return "".join(f"; its last words: {line}" for line in (fatal or lines)[-1:])
