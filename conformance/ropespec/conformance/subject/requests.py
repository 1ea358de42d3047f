"""What is asked of a function of a subject, and the answers that are no results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ropespec.conformance.subject.checked import text, texts
from ropespec.conformance.subject.errors import (
    NotDifferentiable,
    NotPossible,
    SubjectError,
    SubjectRaised,
)
from ropespec.conformance.subject.frames import FrameError
from ropespec.conformance.subject.schemes import Value, from_json, to_json

__all__ = ["Question", "failure"]

_PLAIN = frozenset((bool, int, float, str))
"""Types of what goes over as it is: most of what is passed."""

_FAILURES = {
    "not differentiable": NotDifferentiable,
    "not possible": NotPossible,
    "refused": SubjectError,
    "unusable": SubjectError,
}


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a function: in the session with NumPy arrays, in the worker with others.

    Attributes
    ----------
    do : str
        `call`; `vjp`, `into`, `transform`; or `refilled`: call, write other values into the memory
        of the arguments, and call again.
    function : str
        Its name in the API.
    arguments : tuple
        Positional ones, arrays and plain values, in the subject's order of axes.
    keywords : mapping
        As they are passed.
    extra : tuple of arrays
        The cotangent, what a transform needs, or the other values.
    kind : str
        Which memory, for `into`; the name of a transform.
    axes : tuple
        For vmap the axis of each positional argument, None for one that is not mapped.
    strided, strided_positions : bool or str
        Whether floating, and integer arrays are handed over as views that are not contiguous, or as
        the view of that name; see `views`.
    strided_cotangent : bool, str or None
        The same of the cotangent of `vjp`; None if it is as the others.
    """

    do: str
    function: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    extra: tuple[Any, ...] = ()
    kind: str = ""
    axes: tuple[int | None, ...] = ()
    strided: bool | str = False
    strided_positions: bool | str = False
    strided_cotangent: bool | str | None = None

    def packed(self) -> tuple[dict[str, Any], list[np.ndarray]]:
        """Return the header and the arrays of a frame: those of the arguments come first."""
        sent: list[np.ndarray] = []

        def plain(value: Any) -> Any:  # noqa: ANN401  # an argument in, JSON out
            if value is None or type(value) in _PLAIN:
                return value
            if isinstance(value, np.ndarray):
                sent.append(value)
                return {"array": len(sent) - 1}
            if isinstance(value, Value):
                return to_json(value)
            if isinstance(value, np.integer) and value.dtype != np.int64:
                return {"integer": int(value), "dtype": value.dtype.name}
            return value.item() if isinstance(value, np.generic) else value

        header = {
            "do": self.do,
            "function": self.function,
            "arguments": [plain(value) for value in self.arguments],
            "keywords": {name: plain(value) for name, value in self.keywords.items()},
            "extra": [plain(value) for value in self.extra],
            "kind": self.kind,
            "axes": self.axes,
            "strided": self.strided,
            "strided_positions": self.strided_positions,
            "strided_cotangent": self.strided_cotangent,
        }
        return header, sent

    @classmethod
    def unpacked(cls, header: Mapping[str, Any], made: Sequence[Any]) -> "Question":
        """Read what `packed` wrote, with these arrays in the places of those that were sent."""

        def filled(item: Any) -> Any:  # noqa: ANN401  # JSON in, an argument out
            if isinstance(item, dict) and "value" in item:
                return from_json(item)
            if isinstance(item, dict) and "integer" in item:
                return np.dtype(item["dtype"]).type(item["integer"])
            return made[item["array"]] if isinstance(item, dict) and "array" in item else item

        return cls(
            do=header["do"],
            function=header["function"],
            arguments=tuple(filled(item) for item in header["arguments"]),
            keywords={name: filled(item) for name, item in header["keywords"].items()},
            extra=tuple(filled(item) for item in header["extra"]),
            kind=header["kind"],
            axes=tuple(header["axes"]),
            strided=header["strided"],
            strided_positions=header["strided_positions"],
            strided_cotangent=header["strided_cotangent"],
        )


def failure(answer: Mapping[str, Any]) -> SubjectError | None:
    """Return what an answer says that is no result; None if it is one.

    Raises
    ------
    FrameError
        If it says neither.
    """
    if "failed" not in answer:
        return None
    kind, message = answer["failed"], text(answer.get("message"), "message")
    if kind == "raised":
        types = texts(answer.get("types"), "types", 1)
        return SubjectRaised(types, message, text(answer.get("detail"), "detail"))
    if not isinstance(kind, str) or kind not in _FAILURES:
        raise FrameError("a failure of no known kind")
    return _FAILURES[kind](message)
