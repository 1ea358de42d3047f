"""The workers of one session, one after the other."""

from collections import Counter
from types import MappingProxyType
from typing import Any

from ropespec.conformance.profile import Profile
from ropespec.conformance.subject import checked
from ropespec.conformance.subject.errors import SubjectError, TargetUnusable
from ropespec.conformance.subject.frames import Frame
from ropespec.conformance.subject.loaded import Loaded, load, require_done
from ropespec.conformance.subject.process import WorkerProcess
from ropespec.conformance.subject.target import current_folder

__all__ = ["Workers"]


class Workers:
    """The worker of a session, and those that take its place.

    Parameters
    ----------
    target : str or Loaded
        The subject.
    load_timeout : float
        Seconds for importing the subject, and for importing its framework.
    memory_limit : int or None
        As in `load`, where the target is not loaded yet.

    Attributes
    ----------
    restarts : int
        How many workers have been replaced.
    environment : mapping of str to str
        What the first of them said of itself; empty before.
    lacks : tuple of str
        What this system cannot keep a subject from; empty before.
    way : int or None
        Which way to call it a style has found, in the first of them.
    """

    def __init__(self, target: str | Loaded, load_timeout: float, memory_limit: int | None) -> None:
        self.restarts = 0
        self.environment = MappingProxyType[str, str]({})
        self.lacks: tuple[str, ...] = ()
        self._target = target if isinstance(target, str) else target.target
        self._load_timeout = load_timeout
        self._memory_limit = memory_limit if isinstance(target, str) else target.memory_limit
        self._loaded = None if isinstance(target, str) else target
        self._folder = current_folder() if self._loaded is None else self._loaded.folder
        self.way: int | None = None
        self._worker: WorkerProcess | None = None
        self._stragglers: Counter[str] = Counter()

    @property
    def loaded(self) -> Loaded:
        """The target, loaded if it was not yet."""
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    @property
    def stragglers(self) -> Counter[str]:
        """Processes that outlived the workers so far and were killed, by name."""
        return self._stragglers + (Counter() if self._worker is None else self._worker.stragglers)

    def ready(self, profile: Profile) -> WorkerProcess:
        """Return a worker that is alive and knows the subject and its framework.

        Raises
        ------
        TargetUnusable
            If there never was one.
        SubjectError
            If there was, and the target cannot be loaded again.
        """
        if self._worker is not None and self._worker.alive:
            return self._worker
        again = bool(self.environment)
        self.restarts += again
        try:
            return self._fresh(profile)
        except TargetUnusable as error:
            self._drop()
            if not again:
                raise
            # It could be loaded before, so this is a finding and not a mistake of the user.
            raise SubjectError(f"could not be loaded again: {error}") from error

    def retire(self) -> None:
        """End the worker; the next one remembers nothing."""
        if self._worker is not None:
            self._worker.retire()

    def close(self) -> None:
        """End the worker for good; may be called again."""
        self._drop()
        if self._loaded is not None:
            self._loaded.close()

    def _fresh(self, profile: Profile) -> WorkerProcess:
        """Return a worker forked from a copy, or one that has loaded the target for itself."""
        worker = self._worker
        if worker is not None and worker.renew():
            self._configure(worker, profile)
            return worker
        self._drop()
        worker = self._worker = self._taken()
        worker.spare(self._configure(worker, profile))
        return worker

    def _taken(self) -> WorkerProcess:
        worker = self.loaded.take_worker()
        if worker is None:
            worker = self._load().take_worker()
        assert worker is not None
        return worker

    def _load(self) -> Loaded:
        known = None if self._loaded is None else self._loaded.style
        return load(
            self._target,
            self._load_timeout,
            folder=self._folder,
            memory_limit=self._memory_limit,
            style=known.name if known is not None and known.asked else "",
        )

    def _configure(self, worker: WorkerProcess, profile: Profile) -> int:
        """Have the framework imported; return the process id of the copy that was left, or 0."""

        def read(frame: Frame) -> tuple[dict[str, str], int]:
            require_done(self._target, frame.header)
            found = checked.mapping(frame.header.get("environment"), "environment")
            words = {name: checked.text(value, name) for name, value in found.items()}
            return words, int(checked.number(frame.header.get("copy"), "copy"))

        asked: dict[str, Any] = {"profile": profile.as_dict(), "way": self.way}
        asked |= {"do": "configure", "array": profile.array, "device": profile.device}
        doing = f"while {profile.array} was imported"
        try:
            words, copy = worker.ask(asked, timeout=self._load_timeout, doing=doing, read=read)
        except SubjectError as error:
            raise TargetUnusable(f"{self._target} cannot be used: {error.message}") from error
        self.environment, self.lacks = MappingProxyType(words), worker.lacks
        return copy

    def _drop(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()
            self._stragglers += worker.stragglers
