"""A session with a subject: the parent's side, and all that the checks need to know.

A call either returns a `Reply` or raises a `SubjectError`. After a crash or a timeout the next
call runs in a fresh worker.
"""

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

import numpy as np

from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.errors import (
    NotDifferentiable,
    NotPossible,
    SubjectCrashed,
    SubjectError,
    SubjectRaised,
    SubjectTimeout,
    TargetUnusable,
)
from ropespec.conformance.subject.layout import from_subject, positions_for_subject, to_subject
from ropespec.conformance.subject.loaded import LOAD_TIMEOUT, Loaded, load, require_done
from ropespec.conformance.subject.process import WorkerProcess
from ropespec.conformance.subject.reply import Offer, Reply, Rotated

__all__ = [
    "Loaded",
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


def default_memory_limit() -> int:
    """Return 8 GiB, or half of the memory of the machine if that is less.

    No check needs a tenth of it; a subject that takes more does not end.
    """
    with contextlib.suppress(ValueError, OSError):
        return min(8 * 2**30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    return 8 * 2**30


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
        Bytes of data the subject may take beyond what it holds once it is imported; None for no
        limit, `default_memory_limit()` if not given. Kept by Linux only (RLIMIT_DATA).

    Attributes
    ----------
    target : str
        The subject as given.
    profile : Profile
        As given.
    restarts : int
        How many workers have been lost and replaced.
    """

    def __init__(
        self,
        target: str | Loaded,
        profile: Profile,
        *,
        timeout: float = CALL_TIMEOUT,
        load_timeout: float = LOAD_TIMEOUT,
        memory_limit: int | None = -1,
    ) -> None:
        self.target = target if isinstance(target, str) else target.target
        self.profile = profile
        self.timeout = timeout
        self.restarts = 0
        self._load_timeout = load_timeout
        self._memory_limit = default_memory_limit() if memory_limit == -1 else memory_limit
        self._loaded = None if isinstance(target, str) else target
        self._folder = Path.cwd() if self._loaded is None else self._loaded.folder
        self._worker: WorkerProcess | None = None
        self._environment: Mapping[str, str] | None = None

    @property
    def offers(self) -> Mapping[str, Offer]:
        """The functions the subject offers, by name."""
        if self._loaded is None:
            self._loaded = load(self.target, self._load_timeout, folder=self._folder)
        return self._loaded.offers

    @property
    def environment(self) -> Mapping[str, str]:
        """Versions in the worker, and under `device` where arguments lie (empty for NumPy)."""
        if self._environment is None:
            self._ready()
        assert self._environment is not None
        return self._environment

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
            and plain Python values. 64-bit integers become 32-bit ones for JAX without x64 if all
            values fit, and stay NumPy if they do not.
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
        request, sent = _request("call", function, arrays, keywords, strided=strided)
        request["strided_positions"] = strided_positions
        return self._ask(request, sent)

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
        by torch autograd or `jax.vjp`. With `strided` x and the cotangent are views that are not
        contiguous.

        Raises
        ------
        NotDifferentiable
            If there is no way to a gradient.
        SubjectError
            As `call`.
        """
        request, sent = _request("vjp", function, arrays, keywords, strided=strided)
        request["cotangent"] = len(sent)
        return self._ask(request, [*sent, cotangent])

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
        request, sent = _request("into", function, arrays, keywords, strided=strided)
        request["into"] = kind
        return self._ask(request, sent)

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
            If the framework has no such transform, or anything is raised under it.
        SubjectError
            As `call`.
        """
        request, sent = _request("transform", function, arrays, keywords, strided=False)
        request["transform"], request["axes"] = transform, list(axes)
        request["extra"] = list(range(len(sent), len(sent) + len(extra)))
        return self._ask(request, [*sent, *extra])

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
        back. Shapes, keywords and errors are those of `rotate`. JAX arrays cannot be written to.
        """
        first, second = (
            [to_subject(x, self.profile), positions_for_subject(positions, self.profile)]
            for x, positions in (before, after)
        )
        keywords = self.conventions("apply_rotary", keywords)
        request, sent = _request("refilled", "apply_rotary", first, keywords, strided=False)
        request["others"] = [len(sent), len(sent) + 1]
        return self._rotated(self._ask(request, [*sent, *second]), second[0])

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

    def refresh(self) -> None:
        """End the worker; the next call starts a fresh one, which remembers nothing."""
        if self._worker is not None:
            self._worker.close()

    def close(self) -> None:
        """End the worker; may be called again."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()
        if self._loaded is not None:
            self._loaded.close()

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
        claimed: dict[str, Any] = {
            "interleaved": self.profile.layouts[0],
            "base": self.profile.base,
        }
        if self.profile.rotary_dim is not None:
            claimed["rotary_dim"] = self.profile.rotary_dim
        return self.accepted(function, {**claimed, **keywords})

    def _rotated(self, reply: Reply, sent: np.ndarray) -> Rotated:
        y = reply.values[0]
        fits = len(reply.values) == 1 and y.shape == sent.shape
        return Rotated(from_subject(y, self.profile) if fits else y, fits, reply)

    def _ask(self, request: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> Reply:
        doing = f"in {request['function']}"
        worker = self._ready()
        frame = worker.ask(request, arrays, timeout=self.timeout, doing=doing)
        _raise_failure(frame.header)
        return Reply.of(frame)

    def _ready(self) -> WorkerProcess:
        """Return a worker that is alive and knows the subject and its framework."""
        if self._worker is not None and self._worker.alive:
            return self._worker
        if self._environment is None:
            self._worker = self._start()
            return self._worker
        if self._worker is not None:
            self._worker.close()
            self._worker = None
        self.restarts += 1
        try:
            self._worker = self._start()
        except TargetUnusable as error:
            # It could be loaded before, so this is a finding and not a mistake of the user.
            raise SubjectError(f"could not be loaded again: {error}") from error
        return self._worker

    def _start(self) -> WorkerProcess:
        loaded = self._loaded
        worker = loaded.take_worker() if loaded is not None else None
        if worker is None:
            fresh = load(self.target, self._load_timeout, folder=self._folder)
            worker = fresh.take_worker()
            self._loaded = loaded or fresh
        assert worker is not None
        request = {
            "do": "configure",
            "array": self.profile.array,
            "device": self.profile.device,
            "memory_limit": self._memory_limit,
        }
        doing = f"while {self.profile.array} was imported"
        try:
            answer = worker.ask(request, timeout=self._load_timeout, doing=doing).header
            require_done(self.target, answer)
        except SubjectError as error:
            raise TargetUnusable(f"{self.target} cannot be used: {error.message}") from error
        except TargetUnusable:
            worker.close(kill=True)
            raise
        self._environment = MappingProxyType(answer["environment"])
        return worker


def _request(
    do: str,
    function: str,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    *,
    strided: bool,
) -> tuple[dict[str, Any], list[np.ndarray]]:
    sent: list[np.ndarray] = []

    def plain(value: Any) -> Any:  # noqa: ANN401  # an argument in, JSON out
        if isinstance(value, np.ndarray):
            sent.append(value)
            return {"array": len(sent) - 1}
        return value.item() if isinstance(value, np.generic) else value

    request = {
        "do": do,
        "function": function,
        "arguments": [plain(value) for value in arguments],
        "keywords": {name: plain(value) for name, value in keywords.items()},
        "strided": strided,
        "strided_positions": False,
    }
    return request, sent


def _raise_failure(answer: Mapping[str, Any]) -> None:
    kind = answer.get("failed")
    if kind == "raised":
        raise SubjectRaised(tuple(answer["types"]), answer["message"], answer["detail"])
    if kind == "not differentiable":
        raise NotDifferentiable(answer["message"])
    if kind == "not possible":
        raise NotPossible(answer["message"])
    if kind is not None:
        raise SubjectError(answer["message"])
