"""Calls for identification: in the subject's own terms, and whatever it does is an answer."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.values import numpy_dtype
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.session import (
    Session,
)

__all__ = ["Lost", "Manner", "Probe", "Seen"]

KEYWORDS = ("interleaved", "base", "rotary_dim")


class Lost(Exception):  # noqa: N818  # as SubjectCrashed
    """The subject crashed or hung; identification ends here."""

    def __init__(self, answer: str, message: str) -> None:
        super().__init__(message)
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Manner:
    """How x and positions are handed over.

    Attributes
    ----------
    axes : str
        Order of the axes of x.
    shared : bool
        Positions as one vector (S,) instead of (B, S).
    """

    axes: str
    shared: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """What one call came to.

    Attributes
    ----------
    y : ndarray or None
        (B, S, H, D) in float64; None if it raised or returned another shape.
    dtype : str
        dtype of the result, or the name of its type.
    shape : tuple of int
        Its shape as it came, in the subject's order.
    error : str
        What it raised.
    sent : tuple of int
        The shape of x as it was sent.
    """

    y: NDArray[np.float64] | None
    dtype: str = ""
    shape: tuple[int, ...] = ()
    error: str = ""
    sent: tuple[int, ...] = ()

    @property
    def fault(self) -> str:
        """What came instead of an array like x; empty if that came, or nothing was asked."""
        if self.y is not None or not (self.error or self.dtype):
            return ""
        if self.error:
            return "raises"
        if not self.shape:
            return "no array"
        if self.shape == self.sent:
            return "complex"
        same = sorted(self.shape) == sorted(self.sent)
        return "axes swapped" if same else "another shape"


@dataclass(slots=True)
class Probe:
    """Calls `apply_rotary` of a session in one manner and keeps what every call shows.

    Attributes
    ----------
    session : Session
        The subject.
    manner : Manner
        How it is called.
    dtype : str
        dtype of x unless a call says otherwise.
    calls : int
        Calls made so far.
    written : set of str
        Arguments that a call has changed.
    aliased : bool
        Whether a result shared memory with an argument.
    seen : Seen
        What the last call came to.
    """

    session: Session
    manner: Manner
    dtype: str = "float32"
    calls: int = 0
    written: set[str] = field(default_factory=set)
    aliased: bool = False
    seen: Seen = Seen(None)

    @property
    def profile(self) -> Profile:
        """The claims with the manner of calling."""
        one_row = self.manner.axes == "shd"
        return replace(
            self.session.profile,
            axes=self.manner.axes,
            shared_positions=self.manner.shared and not one_row,
        )

    @property
    def taken(self) -> frozenset[str]:
        """The keywords that `apply_rotary` takes."""
        offer = self.session.offers.get("apply_rotary")
        return offer.keywords if offer is not None else frozenset()

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of a call, as the profile claims them."""
        claimed = self.session.profile
        values = {
            "interleaved": claimed.layouts[0],
            "base": claimed.base,
            "rotary_dim": claimed.rotary_dim,
        }
        # A function may have a rotary_dim of its own, which None would undo.
        return {
            name: value
            for name, value in values.items()
            if name in self.taken and value is not None
        }

    def rotate(
        self,
        x: NDArray[Any],
        positions: NDArray[np.integer],
        *,
        dtype: str | None = None,
        strided: bool = False,
        **keywords: Any,  # noqa: ANN401  # as the session takes them
    ) -> Seen:
        """Rotate x (B, S, H, D) by positions (B, S); row by row where it takes one vector.

        Raises
        ------
        Lost
            If the subject crashed or hung.
        """
        self.seen = self._rotated(
            x.astype(numpy_dtype(dtype or self.dtype)), positions, strided=strided, **keywords
        )
        return self.seen

    def _rotated(
        self,
        typed: NDArray[Any],
        positions: NDArray[np.integer],
        *,
        strided: bool,
        **keywords: Any,  # noqa: ANN401  # as in rotate
    ) -> Seen:
        given, many = self.keywords() | keywords, len(typed)
        most = self._rows_at_once(positions)
        if not most:
            return Seen(None)
        if many <= most:
            return self._call(typed, positions, given, strided=strided)
        parts = [
            self._call(typed[b : b + most], positions[b : b + most], given, strided=strided)
            for b in range(0, many, most)
        ]
        bad = next((part for part in parts if part.y is None), None)
        if bad is not None:
            return bad
        return replace(parts[0], y=np.concatenate([part.y for part in parts if part.y is not None]))

    def _rows_at_once(self, positions: NDArray[np.integer]) -> int:
        """Return how many rows one call can have; none if a row is longer than is claimed."""
        ragged = len(positions) > 1 and bool(np.any(positions != positions[:1]))
        if self.manner.axes == "shd" or (self.manner.shared and ragged):
            most = min(len(positions), 1)
        else:
            most = max(len(positions), 1)
        tokens = self.session.profile.max_tokens
        return most if tokens is None else min(most, tokens // max(positions.shape[1], 1))

    def _call(
        self,
        x: NDArray[Any],
        positions: NDArray[np.integer],
        keywords: dict[str, Any],
        *,
        strided: bool,
    ) -> Seen:
        self.calls += 1
        where = np.ascontiguousarray(positions)
        asked = self.session.attempt(
            x, where, keywords=keywords, strided=strided, profile=self.profile
        )
        fault, reply = asked.fault, asked.reply
        if fault in ("crash", "timeout"):
            raise Lost(fault, asked.said) from asked.error
        if fault == "not asked" or reply is None:
            return Seen(None, error=asked.said if fault == "raises" else "")
        for name, written in zip(("x", "positions"), reply.written, strict=False):
            if written:
                self.written.add(name)
        self.aliased = self.aliased or any(reply.aliases)
        if fault == "no array":
            return Seen(None, ", ".join(reply.dtypes) or "nothing")
        assert asked.question is not None
        sent, got = asked.question.arguments[0].shape, reply.values[0].shape
        y = None if asked.y is None or fault == "complex" else asked.y.astype(np.float64)
        return Seen(y, reply.dtypes[0], got, sent=sent)
