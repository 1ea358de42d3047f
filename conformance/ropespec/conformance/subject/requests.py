"""What is asked of a worker, and the answers that are no results."""

from collections.abc import Mapping, Sequence
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
from ropespec.conformance.subject.schemes import to_json
from ropespec.spec.scaling import Scaling

__all__ = ["failure", "request"]

_FAILURES = {
    "not differentiable": NotDifferentiable,
    "not possible": NotPossible,
    "refused": SubjectError,
    "unusable": SubjectError,
}


def request(
    do: str,
    function: str,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    *,
    strided: bool,
    **more: Any,  # noqa: ANN401  # JSON values
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Return the header and the arrays of a question about a function."""
    sent: list[np.ndarray] = []

    def plain(value: Any) -> Any:  # noqa: ANN401  # an argument in, JSON out
        if isinstance(value, np.ndarray):
            sent.append(value)
            return {"array": len(sent) - 1}
        if isinstance(value, Scaling):
            return to_json(value)
        return value.item() if isinstance(value, np.generic) else value

    header = {
        "do": do,
        "function": function,
        "arguments": [plain(value) for value in arguments],
        "keywords": {name: plain(value) for name, value in keywords.items()},
        "strided": strided,
        "strided_positions": False,
    }
    return {**header, **more}, sent


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
