"""One call of a subject as it is recorded: what was asked, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ropespec.conformance.grouped import OtherShapeError
from ropespec.conformance.subject.errors import (
    NotDifferentiable,
    NotPossible,
    SubjectCrashed,
    SubjectError,
    SubjectRaised,
    SubjectTimeout,
)
from ropespec.conformance.subject.reply import Reply, Rotated
from ropespec.conformance.subject.requests import Question

__all__ = ["Asked"]

_FAULTS = (
    (NotPossible, "not asked"),
    (NotDifferentiable, "no gradient"),
    (SubjectCrashed, "crash"),
    (SubjectTimeout, "timeout"),
    (SubjectError, "raises"),
)


@dataclass(slots=True)
class Asked:
    """One call, and whatever the subject does is an answer.

    Attributes
    ----------
    do : str
        `rotate`, `vjp`, `unrecorded`, `refilled`: a rotation, whose arrays and result have the axes
        (B, S, H, D); or `call`, `gradient`, `into` and `transform` with arrays as they were sent;
        or `refresh`, where the subject was started afresh.
    function : str
        The function of the API.
    arrays : tuple
        The positional arguments.
    keywords : mapping
        The keywords as they were passed.
    stated : mapping
        For a rotation, the keywords as they were given by whoever asks.
    extra : tuple
        The cotangent, and other arrays of a transform.
    kind : str
        Which memory, for `into`; the name of a transform.
    strided, strided_positions, strided_cotangent : bool or str
        Which arguments were handed over as views that are not contiguous, or as which.
    question : Question or None
        The same as it was sent.
    reply : Reply or None
        What came back; None if nothing did.
    y : ndarray or None
        For a rotation, its result, if that was one array of the shape of x.
    error : SubjectError or None
        What became of the subject instead.
    """

    do: str
    function: str
    arrays: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    stated: Mapping[str, Any] = field(default_factory=dict)
    extra: tuple[Any, ...] = ()
    kind: str = ""
    strided: bool | str = False
    strided_positions: bool | str = False
    strided_cotangent: bool | str | None = None
    question: Question | None = None
    reply: Reply | None = None
    y: np.ndarray | None = None
    error: SubjectError | None = None

    @property
    def raised(self) -> str:
        """The name of the exception that the subject raised; empty if it raised none."""
        return self.error.type_name if isinstance(self.error, SubjectRaised) else ""

    @property
    def fault(self) -> str:
        """What came instead of one real array like x: empty if nothing is wrong with that.

        `not asked`, `crash`, `timeout`, `no gradient`, `raises`; `no array`, `complex`, `axes` (the
        sizes of x in another order), `shape`, or `dtype`.
        """
        if self.raised == OtherShapeError.__name__:
            return "shape"
        for kind, name in _FAULTS:
            if isinstance(self.error, kind):
                return name
        assert self.reply is not None
        x, got = self.arrays[0], self.reply.values[0]
        if len(self.reply.values) != 1 or not self.reply.is_array[0]:
            return "no array"
        if got.dtype.kind == "c":
            return "complex"
        if self.y is None:
            return "axes" if sorted(got.shape) == sorted(x.shape) else "shape"
        return "" if self.reply.dtypes[0] == x.dtype.name else "dtype"

    @property
    def said(self) -> str:
        """What the subject said of its failure; empty if it answered."""
        if self.error is None:
            return ""
        return f"{self.raised}: {self.error.message}" if self.raised else self.error.message

    def answered(self) -> Reply:
        """Return what came back.

        Raises
        ------
        SubjectError
            If nothing did.
        """
        if self.error is not None:
            raise self.error
        assert self.reply is not None
        return self.reply

    def rotated(self) -> Rotated:
        """Return the rotated x; as `answered`."""
        reply = self.answered()
        fits = self.y is not None
        return Rotated(reply.values[0] if self.y is None else self.y, fits, reply)
