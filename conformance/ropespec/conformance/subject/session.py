"""Calls to a subject in a worker process: the parent's side.

One that the profile leaves out is not made. After a crash or a timeout the next call runs in a
fresh worker.
"""

import math
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Any, Self

import numpy as np

from ropespec.conformance.profile import Profile
from ropespec.conformance.spent import Spent
from ropespec.conformance.styles.runs import count_runs
from ropespec.conformance.subject.caller import Caller
from ropespec.conformance.subject.claimed import require_claimed
from ropespec.conformance.subject.errors import (
    NotClaimed,
    NotDifferentiable,
    NotPossible,
    Overdue,
    SubjectCrashed,
    SubjectError,
    SubjectRaised,
    SubjectTimeout,
    TargetUnusable,
)
from ropespec.conformance.subject.frames import Frame, FrameError
from ropespec.conformance.subject.loaded import (
    LOAD_TIMEOUT,
    Loaded,
    default_memory_limit,
    load,
)
from ropespec.conformance.subject.process import require_seconds
from ropespec.conformance.subject.reply import KEPT, Offer, Reply, Rotated
from ropespec.conformance.subject.requests import Question, failure
from ropespec.conformance.subject.styled import Styled
from ropespec.conformance.subject.trespasses import Trespasses
from ropespec.conformance.subject.workers import Workers

__all__ = [
    "KEPT",
    "Loaded",
    "NotClaimed",
    "NotDifferentiable",
    "NotPossible",
    "Offer",
    "Overdue",
    "Reply",
    "Rotated",
    "Session",
    "SubjectCrashed",
    "SubjectError",
    "SubjectRaised",
    "SubjectTimeout",
    "TargetUnusable",
    "default_memory_limit",
    "load",
]

CALL_TIMEOUT = 30.0
_A_RUN = 0.1
"""Seconds for each run of positions: about as long as a gradient takes that is traced anew."""
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Session(Caller):
    """Calls to one subject under one profile.

    The worker starts with the first call, or is taken over from `Loaded`.
    A session is not for several threads at once.

    Parameters
    ----------
    target : str or Loaded
        The subject.
    profile : Profile
        Its claims; `array`, `device`, `axes` and `shared_positions` say how it is called.
    timeout : float
        Seconds for each call.
    load_timeout : float
        Seconds for importing the subject, and for importing its framework.
    memory_limit : int or None
        As in `load`, where the target is not loaded yet.
    waivers : mapping of str to str
        The failures that are waived, by clause or check, and why.

    Attributes
    ----------
    target, profile, waivers
        As given; of what is loaded its target.
    head_dims : set of int
        Sizes of the last axis of what was to be rotated so far.
    spent : Spent
        What the calls so far took; checks add their own.
    trespasses : Trespasses
        What the calls so far wrote to or shared that is not theirs.
    until : float
        When, by `time.perf_counter`, the last call may begin.

    Raises
    ------
    ValueError
        For a timeout that is no number above zero.
    """

    def __init__(
        self,
        target: str | Loaded,
        profile: Profile,
        *,
        timeout: float = CALL_TIMEOUT,
        load_timeout: float = LOAD_TIMEOUT,
        memory_limit: int | None = -1,
        waivers: Mapping[str, str] = _NOTHING,
    ) -> None:
        require_seconds(timeout)
        require_seconds(load_timeout)
        self.target = target if isinstance(target, str) else target.target
        self.profile = profile
        self.waivers = waivers
        self.head_dims: set[int] = set()
        self.spent = Spent()
        self.trespasses = Trespasses()
        self.until = math.inf
        self._refused = ""  # the transform that raised last, if nothing else was asked since
        self.timeout = timeout
        self._workers = Workers(target, load_timeout, memory_limit)

    @property
    def offers(self) -> Mapping[str, Offer]:
        """The functions the subject offers, by name."""
        return self._workers.loaded.offers

    @property
    def style(self) -> Styled | None:
        """How a style binds it, as far as the calls have shown; None where none does."""
        told = self._workers.loaded.style
        return None if told is None else told.by(self._workers.way, self.profile)

    @property
    def environment(self) -> Mapping[str, str]:
        """Versions in the worker, and under `device` where arguments lie (empty for NumPy)."""
        if not self._workers.environment:
            self._workers.ready(self.profile)
        return self._workers.environment

    @property
    def restarts(self) -> int:
        """How many workers have been lost, or ended by `refresh`, and replaced."""
        return self._workers.restarts

    @property
    def stragglers(self) -> Mapping[str, int]:
        """Processes that outlived the subject and were killed: how many of each name.

        Those of the worker that still runs are not known before `refresh` or `close`.
        """
        return self._workers.stragglers

    @property
    def lacks(self) -> tuple[str, ...]:
        """What this system cannot keep the subject from, one clause each; empty on Linux."""
        _ = self.environment
        return self._workers.lacks

    def ask(self, question: Question) -> Reply:
        """Ask the worker; what is not claimed is not asked.

        Raises
        ------
        Overdue
            If it is later than `until`.
        """
        if time.perf_counter() > self.until:
            raise Overdue
        packed, arrays = question.packed()
        sizes = require_claimed(self.profile, question, arrays)
        transform = question.kind if question.do == "transform" else ""
        if self._refused not in ("", transform):
            self.refresh()
        self.head_dims |= {sizes[axis] for axis in sizes if axis == "d"}

        def read(frame: Frame) -> Reply:
            _raise_failure(frame)
            return Reply.of(frame, len(arrays))

        doing, most = f"in {question.function}", self.timeout + self._for_runs(arrays)
        try:
            reply = self.spent.asking(
                lambda: self._workers.ready(self.profile).ask(
                    packed, arrays, timeout=most, doing=doing, read=read
                )
            )
        except NotPossible:
            self._refused = transform or self._refused
            raise
        self._workers.way = reply.way
        self.trespasses.note(question, packed, reply)
        return reply

    def _for_runs(self, arrays: Sequence[np.ndarray]) -> float:
        """Return the seconds that are added where one call is many of the subject."""
        style = self._workers.loaded.style
        if style is None or not style.by_runs:
            return 0.0
        numbers = [one for one in arrays if one.dtype.kind in "iu" and one.ndim in (1, 2)]
        return _A_RUN * sum(map(count_runs, numbers))

    def changed(self, *replies: Reply) -> tuple[bool, ...]:
        """Whether the results of earlier calls are no longer what they were when they came.

        The worker keeps the results of the last `KEPT` calls alive and says what their memory holds
        now; it is compared here.

        Parameters
        ----------
        replies : Reply
            Of the last `KEPT` calls, all of them to the worker that runs now.

        Raises
        ------
        SubjectError
            If one of them is not kept (any more), or as `call`.
        """
        numbers = [reply.number for reply in replies]
        then = [value for reply in replies for value in reply.values]

        def recalled(frame: Frame) -> list[np.ndarray]:
            _raise_failure(frame)
            if len(frame.arrays) != len(then):
                raise FrameError(f"{len(frame.arrays)} earlier results of {len(then)}")
            return list(frame.arrays)

        now = iter(
            self._workers.ready(self.profile).ask(
                {"do": "recall", "numbers": numbers},
                timeout=self.timeout,
                doing="while its earlier results were read",
                read=recalled,
            )
        )
        return tuple(any(_other(value, next(now)) for value in r.values) for r in replies)

    def refresh(self) -> None:
        """End the worker; the next call starts a fresh one, which remembers nothing.

        On Linux it is forked from a copy that was left when the subject had been imported, and has
        imported since what calls have imported, unless that has started threads or processes,
        opened anything but files, or shares memory.
        """
        self._refused = ""
        self._workers.retire()
        self.forgotten()

    def close(self) -> None:
        """End the worker; may be called again."""
        self._workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _other(then: np.ndarray, now: np.ndarray) -> bool:
    same = (then.dtype, then.shape) == (now.dtype, now.shape)
    return not same or then.tobytes() != now.tobytes()


def _raise_failure(frame: Frame) -> None:
    error = failure(frame.header)
    if error is not None:
        raise error
