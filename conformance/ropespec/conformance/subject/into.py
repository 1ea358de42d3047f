"""Memory for a subject to write into: the argument `out` of clause ROT-23, in every position."""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ropespec.conformance.subject.arrays import read
from ropespec.conformance.subject.frameworks import Argument, Framework

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
        if self.watched is None or self.watched.backing is self.watched.array:
            return False
        after, before = read(self.watched.backing), self.watched.before
        return after[..., 1::2].tobytes() != before[..., 1::2].tobytes()


def place(framework: Framework, x: Argument, values: np.ndarray, kind: str) -> Place:
    """Make the `out` of a call.

    Parameters
    ----------
    framework : Framework
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
        For a kind that is not known, or that a framework without strides cannot make.
    """
    if kind == "self":
        return Place(x.array, x.array, x)
    if kind in ("new", "strided"):
        made = framework.argument(np.full_like(values, np.nan), strided=kind == "strided")
        return Place(x.array, made.array, made)
    if not framework.has_strides:
        raise ValueError(f"{framework.name} arrays have no strides")
    if kind == "shifted":
        step = values.shape[-1] if values.size > values.shape[-1] else values.shape[-1] // 2
        flat = np.concatenate([values.reshape(-1), np.full(step, np.nan, values.dtype)])
        buffer = framework.array(flat)
        first = buffer[: values.size].reshape(values.shape)
        return Place(first, buffer[step:].reshape(values.shape))
    if kind == "folded":
        *lead, heads, dim = values.shape
        buffer = framework.array(np.full((*lead, 1, dim), np.nan, values.dtype))
        if isinstance(buffer, np.ndarray):
            strides = (*buffer.strides[:-2], 0, buffer.strides[-1])
            return Place(x.array, as_strided(buffer, values.shape, strides))
        if framework.name == "torch":
            return Place(x.array, buffer.expand(*lead, heads, dim))
        return Place(x.array, sys.modules["cupy"].broadcast_to(buffer, values.shape))
    raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
