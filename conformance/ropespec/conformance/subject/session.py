"""A session with a subject: the parent's side, and all that the checks need to know.

A call either returns a `Reply` or raises a `SubjectError`; one that the profile leaves out is not
made. After a crash or a timeout the next call runs in a fresh worker.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from types import MappingProxyType, TracebackType
from typing import Any, Self

import numpy as np

from ropespec.conformance.profile import Profile
from ropespec.conformance.spent import Spent
from ropespec.conformance.subject.claimed import require_claimed
from ropespec.conformance.subject.errors import (
    NotClaimed,
    NotDifferentiable,
    NotPossible,
    SubjectCrashed,
    SubjectError,
    SubjectRaised,
    SubjectTimeout,
    TargetUnusable,
)
from ropespec.conformance.subject.frames import Frame, FrameError
from ropespec.conformance.subject.layout import from_subject, positions_for_subject, to_subject
from ropespec.conformance.subject.loaded import (
    LOAD_TIMEOUT,
    Loaded,
    default_memory_limit,
    load,
)
from ropespec.conformance.subject.process import require_seconds
from ropespec.conformance.subject.reply import KEPT, Offer, Reply, Rotated
from ropespec.conformance.subject.requests import failure, request
from ropespec.conformance.subject.workers import Workers

__all__ = [
    "KEPT",
    "Loaded",
    "NotClaimed",
    "NotDifferentiable",
    "NotPossible",
    "Offer",
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
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Session:
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
        self._refused = ""  # the transform that raised last, if nothing else was asked since
        self.timeout = timeout
        self._workers = Workers(target, load_timeout, memory_limit)

    @property
    def offers(self) -> Mapping[str, Offer]:
        """The functions the subject offers, by name."""
        return self._workers.loaded.offers

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

    def accepted(self, function: str, keywords: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of `interleaved`, `base` and `rotary_dim` that the function takes."""
        offer = self.offers.get(function)
        taken = offer.keywords if offer is not None else frozenset()
        return {name: value for name, value in keywords.items() if name in taken}

    def call(
        self,
        function: str,
        arrays: Sequence[Any],
        *,
        keywords: Mapping[str, Any] = _NOTHING,
        strided: bool = False,
        strided_positions: bool = False,
    ) -> Reply:
        """Call a function of the subject.

        Parameters
        ----------
        function : str
            Its name in the API.
        arrays : sequence
            Positional arguments in order: NumPy arrays, already in the subject's order of axes,
            and plain Python values. Integers that are wider than those of the framework become
            narrower if all values fit, and stay NumPy if they do not.
        keywords : mapping
            Arrays or JSON values, passed as given; see `accepted`.
        strided : bool
            Hand floating arrays over as views that are not contiguous, with the same values.
        strided_positions : bool
            The same for integer arrays.

        Raises
        ------
        SubjectError
            If the subject raised, crashed or did not answer.
        TargetUnusable
            If it cannot be loaded at all.
        """
        asked, sent = request("call", function, arrays, keywords, strided=strided)
        asked["strided_positions"] = strided_positions
        return self._ask(asked, sent)

    def vjp(
        self,
        function: str,
        arrays: Sequence[Any],
        cotangent: np.ndarray,
        *,
        keywords: Mapping[str, Any] = _NOTHING,
        strided: bool = False,
    ) -> Reply:
        """Return the gradient of <cotangent, function(x, ...)> with respect to x = arrays[0].

        By the subject's own `apply_rotary_vjp(cotangent, positions)` if it offers one, otherwise
        by that of the framework. With `strided` x and the cotangent are views that are not
        contiguous.

        Raises
        ------
        NotDifferentiable
            If there is no way to a gradient.
        SubjectError
            As `call`.
        """
        asked, sent = request("vjp", function, arrays, keywords, strided=strided)
        asked["cotangent"] = len(sent)
        return self._ask(asked, [*sent, cotangent])

    def into(
        self,
        function: str,
        arrays: Sequence[Any],
        kind: str,
        *,
        keywords: Mapping[str, Any] = _NOTHING,
        strided: bool = False,
    ) -> Reply:
        """Call a function with memory for its result, `out`.

        Parameters
        ----------
        function, arrays, keywords, strided
            As in `call`; x is `arrays[0]`.
        kind : str
            Which memory, one of `ropespec.conformance.subject.into.KINDS`.

        Raises
        ------
        SubjectError
            As `call`.
        """
        asked, sent = request("into", function, arrays, keywords, strided=strided)
        asked["into"] = kind
        return self._ask(asked, sent)

    def transform(
        self,
        transform: str,
        function: str,
        arrays: Sequence[Any],
        extra: Sequence[np.ndarray] = (),
        *,
        keywords: Mapping[str, Any] = _NOTHING,
        axes: Sequence[int | None] = (),
    ) -> Reply:
        """Call a function under a transform of its framework.

        Parameters
        ----------
        transform : str
            One of `ropespec.conformance.subject.transforms.TRANSFORMS`.
        function, arrays, keywords
            As in `call`.
        extra : sequence of arrays
            Tangents or cotangents, as the transform needs them.
        axes : sequence
            For vmap the axis of each positional argument, None for one that is not mapped.

        Raises
        ------
        NotPossible
            If the framework has no such transform, or anything is raised under it. What raised may
            have left something behind: the next call of another kind runs in a fresh worker.
        SubjectError
            As `call`.
        """
        asked, sent = request("transform", function, arrays, keywords, strided=False)
        asked["transform"], asked["axes"] = transform, list(axes)
        asked["extra"] = list(range(len(sent), len(sent) + len(extra)))
        try:
            return self._ask(asked, [*sent, *extra])
        except NotPossible as refusal:
            if not isinstance(refusal, NotClaimed):
                self._refused = transform
            raise

    def rotate(
        self,
        x: np.ndarray,
        positions: np.ndarray,
        *,
        keywords: Mapping[str, Any] = _NOTHING,
        strided: bool = False,
        strided_positions: bool = False,
        function: str = "apply_rotary",
    ) -> Rotated:
        """Rotate x of shape (B, S, H, D) by positions of shape (B, S), whatever its axes.

        Keywords that the function does not take are left out; those not given come from the
        profile. With `shared_positions` or axes `shd` the rows of positions must be equal, and the
        first one is passed.

        Raises
        ------
        ValueError
            For axes `shd` and more than one row.
        SubjectError
            As `call`.
        """
        sent = to_subject(x, self.profile)
        reply = self.call(
            function,
            [sent, positions_for_subject(positions, self.profile)],
            keywords=self.conventions(function, keywords),
            strided=strided,
            strided_positions=strided_positions,
        )
        return self._rotated(reply, sent)

    def rotate_vjp(
        self,
        x: np.ndarray,
        positions: np.ndarray,
        cotangent: np.ndarray,
        *,
        keywords: Mapping[str, Any] = _NOTHING,
        strided: bool = False,
        function: str = "apply_rotary",
    ) -> Rotated:
        """Return the gradient of <cotangent, rotate(x, positions)> with respect to x.

        Shapes and keywords are those of `rotate`, errors those of `vjp`.
        """
        sent = to_subject(x, self.profile)
        reply = self.vjp(
            function,
            [sent, positions_for_subject(positions, self.profile)],
            to_subject(cotangent, self.profile),
            keywords=self.conventions(function, keywords),
            strided=strided,
        )
        return self._rotated(reply, sent)

    def rotate_refilled(
        self,
        before: tuple[np.ndarray, np.ndarray],
        after: tuple[np.ndarray, np.ndarray],
        *,
        keywords: Mapping[str, Any] = _NOTHING,
    ) -> Rotated:
        """Rotate x by positions, write others into their memory, and rotate again.

        As a loop of generation does that keeps one buffer. What the second call returns comes
        back. Shapes, keywords and errors are those of `rotate`. Some arrays cannot be written to.
        """
        first, second = (
            [to_subject(x, self.profile), positions_for_subject(positions, self.profile)]
            for x, positions in (before, after)
        )
        keywords = self.conventions("apply_rotary", keywords)
        asked, sent = request("refilled", "apply_rotary", first, keywords, strided=False)
        asked["others"] = [len(sent), len(sent) + 1]
        return self._rotated(self._ask(asked, [*sent, *second]), second[0])

    def rotate_unrecorded(
        self, x: np.ndarray, positions: np.ndarray, *, keywords: Mapping[str, Any] = _NOTHING
    ) -> Rotated:
        """Rotate where no gradient is recorded, as in inference.

        Shapes and keywords are those of `rotate`, errors those of `transform`.
        """
        sent = to_subject(x, self.profile)
        reply = self.transform(
            "unrecorded",
            "apply_rotary",
            [sent, positions_for_subject(positions, self.profile)],
            keywords=self.conventions("apply_rotary", keywords),
        )
        return self._rotated(reply, sent)

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

    def under(self, profile: Profile, timeout: float) -> "Session":
        """Return a session of the same worker under other claims, for as long as this is open.

        Parameters
        ----------
        profile : Profile
            The claims; `array`, `device`, `axes` and `shared_positions` are those of this session.
        timeout : float
            Seconds for each call; those of this session at most.
        """
        other = copy(self)
        other.profile = profile
        other.timeout = min(timeout, self.timeout)
        return other

    def refresh(self) -> None:
        """End the worker; the next call starts a fresh one, which remembers nothing.

        On Linux it is forked from a copy that was left when the subject had been imported, unless
        that has started threads or processes, opened anything but files, or shares memory.
        """
        self._refused = ""
        self._workers.retire()

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

    def conventions(self, function: str, keywords: Mapping[str, Any] = _NOTHING) -> dict[str, Any]:
        """Return the keywords of a rotation that a function takes; what is not given is claimed.

        A rotary_dim that nobody claims is left to the function, which may have one of its own.
        """
        claimed = self.profile.convention.keywords
        if claimed["rotary_dim"] is None:
            del claimed["rotary_dim"]
        return self.accepted(function, {**claimed, **keywords})

    def _rotated(self, reply: Reply, sent: np.ndarray) -> Rotated:
        y = reply.values[0]
        fits = len(reply.values) == 1 and y.shape == sent.shape
        return Rotated(from_subject(y, self.profile) if fits else y, fits, reply)

    def _ask(self, asked: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> Reply:
        sizes = require_claimed(self.profile, asked, arrays)
        if self._refused not in ("", asked.get("transform")):
            self.refresh()
        self.head_dims |= {sizes[axis] for axis in sizes if axis == "d"}

        def read(frame: Frame) -> Reply:
            _raise_failure(frame)
            return Reply.of(frame, len(arrays))

        doing, most = f"in {asked['function']}", self.timeout
        return self.spent.asking(
            lambda: self._workers.ready(self.profile).ask(
                asked, arrays, timeout=most, doing=doing, read=read
            )
        )


def _other(then: np.ndarray, now: np.ndarray) -> bool:
    same = (then.dtype, then.shape) == (now.dtype, now.shape)
    return not same or then.tobytes() != now.tobytes()


def _raise_failure(frame: Frame) -> None:
    error = failure(frame.header)
    if error is not None:
        raise error
