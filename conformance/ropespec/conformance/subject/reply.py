"""What a call to a subject gives back."""

from dataclasses import dataclass

import numpy as np

from ropespec.conformance.subject.frames import Frame

__all__ = ["Offer", "Reply", "Rotated"]


@dataclass(frozen=True, slots=True)
class Offer:
    """One function that a subject offers.

    Attributes
    ----------
    name : str
        Its name in the API.
    keywords : frozenset of str
        Those of `interleaved`, `base`, `rotary_dim` and `out` that it takes.
    """

    name: str
    keywords: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reply:
    """The results of one call; a returned tuple or list of arrays counts as several.

    Attributes
    ----------
    values : tuple of array
        The results as NumPy, `ml_dtypes.bfloat16` for bfloat16 and float64 for dtypes that NumPy
        does not have. What is nothing like an array has no elements here.
    dtypes : tuple of str
        Bare names of the dtypes as the framework reports them; for anything but an array the name
        of its type.
    is_array : tuple of bool
        Whether each result was an array of the declared framework.
    devices : tuple of str
        Where each result lies; empty for NumPy.
    descriptions : tuple of str
        Each result in a few words, for a message.
    written : tuple of bool
        Whether the call changed each array argument: the positional ones, then the keywords.
    aliases : tuple of bool
        Whether each result shares memory with an argument.
    seconds : float
        Time inside the subject.
    reused : tuple of bool
        Whether each result lies in the memory of a result of the call before.
    is_out : bool
        Whether the one result is the memory that was given as `out`.
    outside : bool
        Whether the call wrote beside `out`, into the gaps of its buffer.
    """

    values: tuple[np.ndarray, ...]
    dtypes: tuple[str, ...]
    is_array: tuple[bool, ...]
    devices: tuple[str, ...]
    descriptions: tuple[str, ...]
    written: tuple[bool, ...]
    aliases: tuple[bool, ...]
    seconds: float
    reused: tuple[bool, ...] = ()
    is_out: bool = False
    outside: bool = False

    @classmethod
    def of(cls, frame: Frame) -> "Reply":
        """Read the worker's frame."""
        table = frame.header["results"]
        return cls(
            values=frame.arrays,
            dtypes=tuple(row["dtype"] for row in table),
            is_array=tuple(row["is_array"] for row in table),
            devices=tuple(row["device"] for row in table),
            descriptions=tuple(row["description"] for row in table),
            written=tuple(frame.header["written"]),
            aliases=tuple(row["alias"] for row in table),
            seconds=frame.header["seconds"],
            reused=tuple(row["reused"] for row in table),
            is_out=frame.header.get("is_out", False),
            outside=frame.header.get("outside", False),
        )


@dataclass(frozen=True, slots=True)
class Rotated:
    """A rotated x in canonical order.

    Attributes
    ----------
    y : array
        (B, S, H, D); if the result has another shape than x, the result as it came.
    shape_ok : bool
        Whether there was one result, of the shape of x.
    reply : Reply
        The call.
    """

    y: np.ndarray
    shape_ok: bool
    reply: Reply
