"""What was asked of a subject while one case was judged, call by call."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from ropespec.conformance.subject.session import (
    Reply,
    Rotated,
    Session,
    SubjectRaised,
)

__all__ = ["Asked", "Recorder"]

Answer = TypeVar("Answer")

_NOTHING: Mapping[str, Any] = {}


@dataclass(slots=True)
class Asked:
    """One call.

    Attributes
    ----------
    do : str
        `rotate`, `vjp`, `unrecorded`, `refilled`: a rotation, whose arrays and result have the axes
        (B, S, H, D); or `call`, `gradient`, `into` and `transform` with arrays as they were sent.
    function : str
        The function of the API.
    arrays : tuple
        The positional arguments.
    keywords : mapping
        The keywords as they were passed.
    stated : mapping
        For a rotation, the keywords as the check gave them.
    extra : tuple
        The cotangent, and other arrays of a transform.
    kind : str
        Which memory, for `into`; the name of a transform.
    strided, strided_positions : bool
        Which arguments were handed over as views that are not contiguous.
    reply : Reply or None
        What came back; None if nothing did.
    y : ndarray or None
        For a rotation, its result.
    error : str
        The name of the exception that the subject raised.
    """

    do: str
    function: str
    arrays: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    stated: Mapping[str, Any] = field(default_factory=dict)
    extra: tuple[Any, ...] = ()
    kind: str = ""
    strided: bool = False
    strided_positions: bool = False
    reply: Reply | None = None
    y: np.ndarray | None = None
    error: str = ""


class Recorder:
    """Stands for a session, passes every call on, and keeps it.

    Parameters
    ----------
    session : Session
        What answers.

    Attributes
    ----------
    tape : list of Asked
        The calls, in order; one that does `refresh` stands where the subject was started afresh.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.tape: list[Asked] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever a session has
        return getattr(self._session, name)

    def refresh(self) -> None:
        """End the worker; the mark on the tape says that what was asked before is forgotten."""
        self._session.refresh()
        self.tape.append(Asked("refresh", "", ()))

    def call(self, function: str, arrays: Sequence[Any], **options: Any) -> Reply:  # noqa: ANN401
        """Call a function; as `Session.call`, and the same of the methods below."""
        asked = _raw("call", function, arrays, options)
        return self._answered(asked, lambda: self._session.call(function, arrays, **options))

    def vjp(
        self,
        function: str,
        arrays: Sequence[Any],
        cotangent: np.ndarray,
        **options: Any,  # noqa: ANN401
    ) -> Reply:
        """Take a gradient."""
        asked = _raw("gradient", function, arrays, options, extra=(cotangent,))
        return self._answered(
            asked, lambda: self._session.vjp(function, arrays, cotangent, **options)
        )

    def into(
        self,
        function: str,
        arrays: Sequence[Any],
        kind: str,
        **options: Any,  # noqa: ANN401
    ) -> Reply:
        """Call with memory for the result."""
        asked = _raw("into", function, arrays, options, kind=kind)
        return self._answered(asked, lambda: self._session.into(function, arrays, kind, **options))

    def transform(
        self,
        transform: str,
        function: str,
        arrays: Sequence[Any],
        extra: Sequence[np.ndarray] = (),
        **options: Any,  # noqa: ANN401
    ) -> Reply:
        """Call under a transform."""
        asked = _raw("transform", function, arrays, options, extra=tuple(extra), kind=transform)
        return self._answered(
            asked, lambda: self._session.transform(transform, function, arrays, extra, **options)
        )

    def rotate(self, x: np.ndarray, positions: np.ndarray, **options: Any) -> Rotated:  # noqa: ANN401
        """Rotate."""
        asked = self._rotation("rotate", (x, positions), options)
        return self._turned(asked, lambda: self._session.rotate(x, positions, **options))

    def rotate_vjp(
        self,
        x: np.ndarray,
        positions: np.ndarray,
        cotangent: np.ndarray,
        **options: Any,  # noqa: ANN401
    ) -> Rotated:
        """Take the gradient of a rotation."""
        asked = self._rotation("vjp", (x, positions), options)
        asked.extra = (cotangent,)
        return self._turned(
            asked, lambda: self._session.rotate_vjp(x, positions, cotangent, **options)
        )

    def rotate_refilled(
        self,
        before: tuple[np.ndarray, np.ndarray],
        after: tuple[np.ndarray, np.ndarray],
        **options: Any,  # noqa: ANN401
    ) -> Rotated:
        """Rotate twice in one memory."""
        asked = self._rotation("refilled", after, options)
        asked.extra = before
        return self._turned(asked, lambda: self._session.rotate_refilled(before, after, **options))

    def rotate_unrecorded(self, x: np.ndarray, positions: np.ndarray, **options: Any) -> Rotated:  # noqa: ANN401
        """Rotate where no gradient is recorded."""
        asked = self._rotation("unrecorded", (x, positions), options)
        return self._turned(asked, lambda: self._session.rotate_unrecorded(x, positions, **options))

    def _rotation(
        self, do: str, arrays: tuple[np.ndarray, np.ndarray], options: Mapping[str, Any]
    ) -> Asked:
        function = options.get("function", "apply_rotary")
        asked = _raw(do, function, arrays, options)
        asked.stated = options.get("keywords", _NOTHING)
        asked.keywords = self._session.conventions(function, asked.stated)
        return asked

    def _turned(self, asked: Asked, ask: Callable[[], Rotated]) -> Rotated:
        self.tape.append(asked)
        rotated = _kept(asked, ask)
        asked.reply = rotated.reply
        asked.y = rotated.y if rotated.shape_ok else None
        return rotated

    def _answered(self, asked: Asked, ask: Callable[[], Reply]) -> Reply:
        self.tape.append(asked)
        asked.reply = _kept(asked, ask)
        return asked.reply


def _raw(
    do: str,
    function: str,
    arrays: Sequence[Any],
    options: Mapping[str, Any],
    *,
    extra: tuple[Any, ...] = (),
    kind: str = "",
) -> Asked:
    return Asked(
        do,
        function,
        tuple(arrays),
        keywords=options.get("keywords", _NOTHING),
        extra=extra,
        kind=kind,
        strided=options.get("strided", False),
        strided_positions=options.get("strided_positions", False),
    )


def _kept(asked: Asked, ask: Callable[[], Answer]) -> Answer:
    try:
        return ask()
    except SubjectRaised as error:
        asked.error = error.type_name
        raise
