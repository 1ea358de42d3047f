"""What a call to a subject gives back."""

from dataclasses import dataclass

import numpy as np

from ropespec.conformance.subject.binding import PLAIN, Binding
from ropespec.conformance.subject.checked import flags, mapping, number, rows, text
from ropespec.conformance.subject.frames import DTYPES, Frame, FrameError, dtype_named
from ropespec.conformance.subject.litter import holds_litter

__all__ = ["KEPT", "Offer", "Reply", "Rotated"]

KEPT = 4
"""How many calls ago a result may have been returned and is still looked at."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One function that a subject offers.

    Attributes
    ----------
    name : str
        Its name in the API.
    keywords : frozenset of str
        Those of `interleaved`, `base`, `rotary_dim`, `out` and `device` that it takes.
    binding : Binding
        How it takes x and positions, if it is `apply_rotary`.
    """

    name: str
    keywords: frozenset[str]
    binding: Binding = PLAIN


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
        Whether each result was an array like x: of the declared framework, dense, not masked, in
        the byte order of the machine, and small enough to be looked at.
    devices : tuple of str
        Where each result lies; empty for NumPy.
    descriptions : tuple of str
        Each result in a few words, for a message; for what is no array like x they say why.
    written : tuple of bool
        Whether the call changed each array argument: the positional ones, then the keywords.
    aliases : tuple of bool
        Whether each result shares memory with an argument.
    seconds : float
        Time inside the subject.
    reused : tuple of bool
        Whether each result lies in the memory of a result of the last calls (`KEPT` of them).
    is_out : bool
        Whether the one result is the memory that was given as `out`.
    outside : bool
        Whether the call wrote beside `out`, into the gaps of its buffer.
    number : int
        The number of the question in its worker, by which `Session.changed` asks for it.
    way : int or None
        Which of several ways to call it a style has found; None where that is open.
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
    number: int = 0
    way: int | None = None

    @property
    def littered(self) -> bool:
        """Whether the first result holds what lay in its memory before; see `litter`."""
        return holds_litter(self.values[0])

    @classmethod
    def of(cls, frame: Frame, sent: int) -> "Reply":
        """Read the worker's answer to a call with so many arrays.

        Raises
        ------
        FrameError
            If it is no answer to a call.
        """
        header = frame.header
        table = [mapping(row, "result") for row in rows(header.get("results"), "results", 1)]
        written = flags(header.get("written"), "written")
        if (len(table), len(written)) != (len(frame.arrays), sent):
            raise FrameError(f"{len(table)} results with {len(frame.arrays)} arrays")
        is_out, outside = flags([header.get("is_out"), header.get("outside")], "out")
        dtypes = tuple(text(row.get("dtype"), "dtype") for row in table)
        is_array = flags([row.get("is_array") for row in table], "is_array")
        for name, array, value in zip(dtypes, is_array, frame.arrays, strict=True):
            if array and name in DTYPES and value.dtype != dtype_named(name):
                raise FrameError(f"a result of dtype {value.dtype.name} that it calls {name}")
        return cls(
            values=frame.arrays,
            dtypes=dtypes,
            is_array=is_array,
            devices=tuple(text(row.get("device"), "device") for row in table),
            descriptions=tuple(text(row.get("description"), "description") for row in table),
            written=written,
            aliases=flags([row.get("alias") for row in table], "alias"),
            seconds=number(header.get("seconds"), "seconds"),
            reused=flags([row.get("reused") for row in table], "reused"),
            is_out=is_out,
            outside=outside,
            number=header["seq"],
            way=None if (way := header.get("way")) is None else int(number(way, "way")),
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
