"""A target that has been imported, and waits for a session to go on with it."""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

from ropespec.conformance.subject import checked
from ropespec.conformance.subject.binding import PLAIN, Binding
from ropespec.conformance.subject.errors import SubjectError, SubjectRaised, TargetUnusable
from ropespec.conformance.subject.frames import Frame
from ropespec.conformance.subject.limits import allowance
from ropespec.conformance.subject.process import WorkerProcess
from ropespec.conformance.subject.reply import Offer
from ropespec.conformance.subject.requests import failure
from ropespec.conformance.subject.styled import Styled
from ropespec.conformance.subject.target import current_folder, parse

__all__ = ["LOAD_TIMEOUT", "Loaded", "default_memory_limit", "load", "require_done"]

LOAD_TIMEOUT = 60.0
"""Seconds for an import."""


def default_memory_limit() -> int:
    """Return 8 GiB, or half of the memory of the machine if that is less.

    No check needs a tenth of it; a subject that takes more does not end.
    """
    with contextlib.suppress(AttributeError, ValueError, OSError):  # Windows cannot tell
        return min(8 * 2**30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    return 8 * 2**30


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
    style : Styled or None
        How a style binds it.
    folder : Path
        The working directory of the worker.
    memory_limit : int or None
        As given to `load`.
    """

    def __init__(
        self,
        target: str,
        folder: Path,
        worker: WorkerProcess,
        offering: "_Offering",
        *,
        is_builtin: bool,
        memory_limit: int | None,
    ) -> None:
        self.target = target
        self.is_builtin = is_builtin
        self.profile_mapping = offering.profile
        self.offers = offering.offers
        self.style = offering.style
        self.folder = folder
        self.memory_limit = memory_limit
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


def load(
    target: str,
    timeout: float = LOAD_TIMEOUT,
    *,
    folder: Path | None = None,
    memory_limit: int | None = -1,
    style: str = "",
) -> Loaded:
    """Import a target in a worker of its own.

    Parameters
    ----------
    target : str
        A name of a backend, `package.module:attribute` or `path/to/file.py:attribute`.
    timeout : float
        Seconds for the import.
    folder : Path, optional
        The working directory of the worker, which is importable; the current one by default.
    memory_limit : int or None
        Bytes that the subject may take, from before it is imported on; None for no limit,
        `default_memory_limit()` if not given. More raises MemoryError where the system can do that
        (Linux), and ends the worker where the memory is shared, a child's, or a device's.
    style : str
        The style by which it is bound; empty for the one its parameters tell, if they do.

    Returns
    -------
    Loaded
        For `Session`, which goes on with the same worker.

    Raises
    ------
    TargetUnusable
        With one line that says why.
    """
    home = folder or current_folder()
    parsed = parse(target, home)
    limit = default_memory_limit() if memory_limit == -1 else memory_limit
    try:
        worker = WorkerProcess(home, allowance(limit))
    except OSError as error:
        raise TargetUnusable(f"no process can be started for {target}: {error}") from error
    request = {"do": "load", "target": target, "memory_limit": limit, "style": style}
    doing = "while it was imported"
    try:
        offering = worker.ask(
            request,
            timeout=timeout,
            doing=doing,
            read=lambda f: _Offering.of(target, f, asked=bool(style)),
        )
    except SubjectError as error:
        worker.close(kill=True)
        message = f"{parsed.place} cannot be imported: {error.message}{_last_word(error)}"
        raise TargetUnusable(message) from error
    except BaseException:
        worker.close(kill=True)
        raise
    return Loaded(target, home, worker, offering, is_builtin=parsed.is_builtin, memory_limit=limit)


@dataclass(frozen=True, slots=True)
class _Offering:
    """What a worker says of the subject it has imported."""

    offers: Mapping[str, Offer]
    profile: Mapping[str, Any] | None
    style: Styled | None

    @classmethod
    def of(cls, target: str, frame: Frame, *, asked: bool = False) -> "_Offering":
        answer = frame.header
        require_done(target, answer)
        binding = Binding.of(answer.get("binding"))
        offers = {
            checked.text(name, "name"): Offer(
                name,
                frozenset(checked.texts(words, "keywords")),
                binding if name == "apply_rotary" else PLAIN,
            )
            for name, words in checked.mapping(answer.get("offers"), "offers").items()
        }
        profile = answer.get("profile")
        if profile is not None:
            profile = checked.plain(checked.mapping(profile, "PROFILE"), "PROFILE")
        return cls(MappingProxyType(offers), profile, Styled.of(answer.get("style"), asked=asked))


def require_done(target: str, answer: Mapping[str, Any]) -> None:
    """Raise what a worker that could not be prepared has answered.

    Raises
    ------
    TargetUnusable
        With one line for the user.
    """
    error = failure(answer)
    if isinstance(error, SubjectRaised):
        raise TargetUnusable(f"{target} cannot be loaded: {error}")
    if error is not None:
        raise TargetUnusable(error.message)


def _last_word(error: SubjectError) -> str:
    lines = error.detail.splitlines()
    fatal = [line for line in lines if line.startswith("Fatal")]
    return "".join(f"; its last words: {line}" for line in (fatal or lines)[-1:])
