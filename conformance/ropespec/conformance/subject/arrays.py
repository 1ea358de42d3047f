"""What became of the arrays of a call: what each is, what it holds, and where it lies."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy import asarray, empty  # bound before a subject can put others in their place

from ropespec.conformance.subject.frames import MOST_BYTES
from ropespec.conformance.subject.frameworks import arrays_of
from ropespec.conformance.subject.frameworks.base import Array, Memory
from ropespec.spec.errors import describe, dtype_name

__all__ = ["Returned", "memory_of", "overlap", "results", "same_place"]

_MOST_RESULTS = 32
_LONGEST = 500  # characters of a description


def overlap(some: Sequence[Memory | None], others: Sequence[Memory | None]) -> bool:
    """Whether one of some pieces of memory has a byte in common with one of others.

    What is not known never has.
    """
    for first in some:
        for second in others:
            if first is None or second is None or first[0] != second[0]:
                continue
            if first[1] < second[2] and second[1] < first[2]:
                return True
    return False


def memory_of(array: Array) -> Memory | None:
    """Return what an array lies in; None if that is not known, or if it is no array."""
    known = arrays_of(array)
    return None if known is None else known.memory(array)


def same_place(first: Array, second: Array) -> bool:
    """Whether two arrays are one: the same elements at the same addresses."""
    known = arrays_of(first)
    if first is second or known is None:
        return first is second
    place = known.place(first)
    return place is not None and known is arrays_of(second) and place == known.place(second)


@dataclass(frozen=True, slots=True)
class Returned:
    """One thing a subject returned.

    Attributes
    ----------
    value : array
        As NumPy; without elements if it is nothing like an array.
    dtype : str
        The bare name of the dtype; for anything but an array the name of its type.
    framework : str
        The framework it belongs to; empty if it is no array.
    device : str
        Where it lies, in the framework's words; empty for NumPy.
    description : str
        Value and type, or shape and dtype, for a message.
    """

    value: np.ndarray
    dtype: str
    framework: str
    device: str
    description: str

    @classmethod
    def of(cls, item: Array, room: int = MOST_BYTES) -> "Returned":
        """Read anything a subject may return; never raises for what it is.

        Parameters
        ----------
        item : object
            What was returned.
        room : int
            The bytes it may hold to be looked at.
        """
        known = arrays_of(item)
        try:
            description = " ".join(describe(item).split())[:_LONGEST]
        except Exception:  # noqa: BLE001  # the __repr__ is the subject's
            description = f"an object of type {_type_name(item)}"
        if known is not None:
            try:
                if not (reason := known.unlike(item) or _too_large(item, room)):
                    name, dtype = known.about.name, dtype_name(item.dtype)[:_LONGEST]
                    return cls(known.read(item), dtype, name, known.where(item), description)
                description = f"{description} ({reason})"
            except Exception as error:  # noqa: BLE001  # each framework has its own
                description = f"{description} that cannot be read: {_type_name(error)}"
        return cls(_as_numbers(item), _type_name(item), "", "", description)

    def described_beside(self, claimed: str) -> str:
        """Return the description, with the framework where another one is claimed."""
        if self.framework in ("", claimed):
            return self.description
        return self.description.replace("an array", f"a {self.framework} array", 1)


def results(value: object) -> list[object]:
    """Take apart what a call returned: a tuple or list that holds arrays counts as several."""
    if isinstance(value, (tuple, list)) and len(value) <= _MOST_RESULTS:
        items = list(value)
        if any(arrays_of(item) is not None for item in items):
            return items
    return [value]


def _too_large(array: Array, room: int) -> str:
    return f"its {array.nbytes} bytes are too many to look at" if array.nbytes > room else ""


def _type_name(item: object) -> str:
    return type(item).__name__[:_LONGEST]


def _as_numbers(item: object) -> np.ndarray:
    if isinstance(item, (bool, int, float, complex, list, tuple)):
        try:
            found = asarray(item)
        except (ValueError, TypeError, OverflowError, RuntimeError):
            found = empty(0)
        if found.dtype.kind in "biufc":
            return found
    return empty(0)
