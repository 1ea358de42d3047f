"""The arrays of one file: what goes in, what comes out, and between which numbers it must lie."""

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.judge.budget import Machine
from ropespec.conformance.judge.precision import legitimate
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.judge.values import numpy_dtype
from ropespec.conformance.vectors.chosen import Vector, values
from ropespec.conformance.vectors.exact import next_to_quarter_turns, rotated, thetas

__all__ = ["LIMIT", "classes", "tensors"]

LIMIT = 2**31
"""Positions are below it."""

_USUAL = (0, 1, 4095, 2**20, LIMIT - 1)
_HEADS = 2

Arrays = dict[str, NDArray[np.generic]]


def classes(dtype: str) -> tuple[str, ...]:
    """Return the precision classes that have an interval, from best to worst."""
    return tuple(item.name for item in legitimate(dtype))


def tensors(vector: Vector, dtype: str) -> Arrays:
    """Make the arrays of a vector in one dtype.

    Parameters
    ----------
    vector : Vector
        What is rotated, and how.
    dtype : str
        Of x and y.

    Returns
    -------
    dict of ndarray
        `x` and `y` of shape (1, S, 2, D); `positions` of shape (S,), or (S, n) for n numbers a
        token; `first`, `second`, `axis` and `theta` of shape (r/2,): the components of each pair,
        the number it follows, and its radians per position; `gain`, on cos and sin; `low.CLASS` and
        `high.CLASS` of the shape of y, the smallest and largest numbers that a class allows.
    """
    by = vector.convention
    positions = _positions(vector)
    x = values((1, len(positions), _HEADS, vector.head_dim), dtype)
    y, near = rotated(x, positions[None], by, (dtype, "float64"))
    first, second, _ = by.places(vector.head_dim)
    component = np.arange(vector.head_dim)
    made: Arrays = {
        "x": x,
        "positions": positions,
        "y": y,
        "first": component[first],
        "second": component[second],
        "axis": np.array(by.axes or (0,) * (vector.dim // 2), dtype=np.int64),
        "theta": np.array([float(one) for one in thetas(by, vector.dim)]),
        "gain": np.array(float(by.frequencies.gain)),
    }
    return made | _intervals(Rotation.of(x, positions[None], by), near.astype(np.float64))


def _intervals(judged: Rotation, middle: NDArray[np.float64]) -> Arrays:
    """Return the smallest and the largest numbers that each class allows."""
    made: Arrays = {}
    for precision in legitimate(judged.dtype):
        allowed = judged.allowed(precision, Machine())
        made[f"low.{precision.name}"] = _inside(middle - allowed, judged.dtype, up=True)
        made[f"high.{precision.name}"] = _inside(middle + allowed, judged.dtype, up=False)
    return made


def _positions(vector: Vector) -> NDArray[np.int64]:
    """Return the usual positions, and those at which some pair is next to a quarter turn."""
    theta = thetas(vector.convention, vector.dim)
    pairs = sorted({0, 1, len(theta) // 2})
    hard = [found[-1] for i in pairs if (found := next_to_quarter_turns(theta[i], LIMIT))]
    every = np.array(sorted({*_USUAL, *hard}), dtype=np.int64)
    if not vector.sections:
        return every
    shifted = [np.roll(every, axis) for axis in range(len(vector.sections))]
    equal = np.repeat(every[:, None], len(shifted), 1)
    return np.concatenate([np.stack(shifted, -1), equal[1:3]])


def _inside(ends: NDArray[np.float64], dtype: str, *, up: bool) -> NDArray[np.generic]:
    """Round ends of intervals to numbers of the dtype that lie inside."""
    kind = numpy_dtype(dtype)
    near = ends.astype(kind)
    out = near.astype(np.float64) < ends if up else near.astype(np.float64) > ends
    towards = np.asarray(np.inf if up else -np.inf, dtype=kind)
    inner: NDArray[np.generic] = np.where(out, np.nextafter(near, towards), near)
    return inner
