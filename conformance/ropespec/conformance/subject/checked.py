"""Reading what a worker says: each value is of its type and its size, or the answer is refused."""

import math
import sys
from typing import Any

from ropespec.conformance.subject.frames import FrameError

__all__ = ["flags", "mapping", "number", "plain", "rows", "text", "texts"]

LONGEST = 4096
"""The longest text in an answer; the worker cuts its own."""
_MOST_ITEMS = 4096
_DEEPEST = 3


def mapping(value: object, what: str) -> dict[str, Any]:
    """Return a JSON object as it is, or refuse it; `what` names it in the message.

    Raises
    ------
    FrameError
        If it is anything else; so do all functions here.
    """
    if isinstance(value, dict):
        return value
    raise _wrong(value, what, "an object")


def rows(value: object, what: str, least: int = 0, most: int = _MOST_ITEMS) -> list[Any]:
    """Return a list of so many items."""
    if isinstance(value, list) and least <= len(value) <= most:
        return value
    raise _wrong(value, what, f"a list of {least} to {most} items")


def text(value: object, what: str) -> str:
    """Return a text that is not too long."""
    if isinstance(value, str) and len(value) <= LONGEST:
        return value
    raise _wrong(value, what, "a text")


def texts(value: object, what: str, least: int = 0) -> tuple[str, ...]:
    """Return several texts."""
    return tuple(text(item, what) for item in rows(value, what, least))


def flags(value: object, what: str) -> tuple[bool, ...]:
    """Return several truth values."""
    found = rows(value, what)
    if set(map(type, found)) <= {bool}:
        return tuple(found)
    raise _wrong(value, what, "truth values")


def number(value: object, what: str) -> float:
    """Return a finite number that is not negative."""
    if type(value) in (int, float) and 0 <= value < math.inf:  # type: ignore[operator]  # a number
        try:
            return float(value)  # type: ignore[arg-type]  # as above
        except OverflowError:
            pass
    raise _wrong(value, what, "a number")


def plain(value: object, what: str, depth: int = 0) -> Any:  # noqa: ANN401  # JSON values
    """Return JSON of few items, short texts, little depth and numbers that floats can hold."""
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        if abs(value) > sys.float_info.max:
            raise FrameError(f"`{what}`, an integer of {value.bit_length()} bits")
        return value
    if isinstance(value, str):
        return text(value, what)
    if isinstance(value, list) and depth < _DEEPEST:
        return [plain(item, what, depth + 1) for item in rows(value, what)]
    if isinstance(value, dict) and depth < _DEEPEST and len(value) <= _MOST_ITEMS:
        return {text(k, what): plain(item, what, depth + 1) for k, item in value.items()}
    raise _wrong(value, what, "a small plain value")


def _wrong(value: object, what: str, wanted: str) -> FrameError:
    size = f" and size {len(value)}" if isinstance(value, (str, list, dict)) else ""
    return FrameError(f"`{what}` of type {type(value).__name__}{size} where {wanted} belongs")
