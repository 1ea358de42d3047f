"""Memory for a subject to write into: the argument `out` of clause ROT-23, in every position."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ropespec.conformance.subject.errors import NotPossible
from ropespec.conformance.subject.frameworks.base import Argument, Arrays
from ropespec.conformance.subject.views import GAPS

__all__ = ["KINDS", "Place", "place"]

KINDS = ("new", "strided", "self", "shifted", "folded")
"""Other memory, other memory with gaps, x itself, x moved by a part of itself, one head for all."""


@dataclass(frozen=True, slots=True)
class Place:
    """An x, and the memory its turned form is to be written to.

    Attributes
    ----------
    x : array
        What is passed as x.
    out : array
        What is passed as `out`.
    watched : Argument or None
        The argument whose gaps must not be written to; None where there are none.
    """

    x: Any
    out: Any
    watched: Argument | None = None

    def outside(self) -> bool:
        """Whether the call wrote into the gaps."""
        return self.watched is not None and self.watched.outside()


def place(framework: Arrays, x: Argument, values: np.ndarray, kind: str) -> Place:
    """Make the `out` of a call.

    Parameters
    ----------
    framework : Arrays
        Makes the arrays.
    x : Argument
        The x of the call, which `shifted` replaces.
    values : ndarray
        The values of x.
    kind : str
        One of `KINDS`.

    Raises
    ------
    ValueError
        For a kind that is not known.
    NotPossible
        For one that a framework cannot make whose arrays share no memory.
    """
    if kind == "self":
        return Place(x.array, x.array, x)
    if kind in ("new", "strided"):
        view = GAPS if kind == "strided" else ""
        made = framework.argument(np.full_like(values, np.nan), view)
        return Place(x.array, made.array, made)
    if kind == "shifted":
        if not framework.about.has_places:
            raise NotPossible(f"{framework.about.title} arrays share no memory")
        step = values.shape[-1] if values.size > values.shape[-1] else values.shape[-1] // 2
        flat = np.concatenate([values.reshape(-1), np.full(step, np.nan, values.dtype)])
        buffer = framework.array(flat)
        first = buffer[: values.size].reshape(values.shape)
        return Place(first, buffer[step:].reshape(values.shape))
    if kind == "folded":
        *lead, _, dim = values.shape
        buffer = framework.array(np.full((*lead, 1, dim), np.nan, values.dtype))
        return Place(x.array, framework.repeated(buffer, values.shape))
    raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
