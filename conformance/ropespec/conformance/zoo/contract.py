"""Broken promises: dtype, shape, in-place writes, NaN, empty input, linearity, gradients."""

import os
import time
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import rope

__all__ = [
    "OneBuffer",
    "aborts",
    "clipped",
    "gain",
    "hangs",
    "nan_spreads",
    "normalised",
    "not_an_array",
    "overwrites_positions",
    "overwrites_x",
    "promoted",
    "raises",
    "refuses_empty",
    "returns_x_at_zero",
    "strides_ignored",
    "strides_of_positions_ignored",
    "swapped_axes",
]

Array = NDArray[Any]


@wrong("M1", "x is overwritten.", "ROT-17.unwritten")
def overwrites_x(x: Array, positions: Array) -> Array:
    """Rotate in place."""
    y = rope(x, positions)
    x[...] = y
    return y


@wrong("positions overwritten", "positions are overwritten.", "ROT-17.unwritten")
def overwrites_positions(x: Array, positions: Array) -> Array:
    """Count on in the caller's array."""
    y = rope(x, positions)
    positions += 1
    return y


@wrong(
    "result shares memory with x",
    "The result is x itself when all positions are zero.",
    "ROT-17.unwritten",
)
def returns_x_at_zero(x: Array, positions: Array) -> Array:
    """Save a copy."""
    return rope(x, positions) if positions.any() else x


@wrong("D10", "The result of half-precision x is float32.", "ROT-17.dtype", dtypes=("bfloat16",))
def promoted(x: Array, positions: Array) -> Array:
    """Forget to cast back."""
    return rope(x.astype(np.float32), positions)


@wrong("no array", "The result is a list.", "ROT-17.dtype")
def not_an_array(x: Array, positions: Array) -> Any:  # noqa: ANN401  # the mistake itself
    """Return nested lists."""
    return rope(x, positions).tolist()


@wrong("X4", "A single token comes back with sequence and heads swapped.", "ROT-17.dtype")
def swapped_axes(x: Array, positions: Array) -> Array:
    """Return (B, H, 1, D) where a step of decoding has one token."""
    y = rope(x, positions)
    return np.ascontiguousarray(y.transpose(0, 2, 1, 3)) if x.shape[1] == 1 else y


@wrong(
    "NaN spreads", "NaN reaches other pairs: a dense product adds 0 * NaN.", "ROT-16.not-a-number"
)
def nan_spreads(x: Array, positions: Array) -> Array:
    """Add zero times everything."""
    with np.errstate(invalid="ignore"):
        y: Array = rope(x, positions) + 0 * x.sum(axis=-1, keepdims=True)
        return y.astype(x.dtype)


@wrong("empty input refused", "A zero-length axis raises.", "ROT-18.empty")
def refuses_empty(x: Array, positions: Array) -> Array:
    """Ask for the largest position of an empty array."""
    positions.max()
    if x.size == 0:
        raise ValueError("zero-size array")
    return rope(x, positions)


@wrong(
    "strided positions misread",
    "Strided positions are read as contiguous memory.",
    "ROT-19.strides",
)
def strides_of_positions_ignored(x: Array, positions: Array) -> Array:
    """Read the positions one after the other from the first on, whatever their strides."""
    steps = (positions.shape[-1] * positions.itemsize, positions.itemsize)
    return rope(x, as_strided(positions, positions.shape, steps[-positions.ndim :]))


@wrong("M3", "A strided x is read as contiguous memory.", "ROT-19.strides")
def strides_ignored(x: Array, positions: Array) -> Array:
    """Read the buffer from the first element on, whatever the strides."""
    base = x
    while isinstance(base.base, np.ndarray):
        base = base.base
    flat = base.reshape(-1)
    start = (x.ctypes.data - base.ctypes.data) // x.itemsize
    taken = flat[start : start + x.size]
    return rope(taken.reshape(x.shape) if taken.size == x.size else x, positions)


@wrong("K13", "A gain multiplies cos and sin.", "ROT-11.norm", "ROT-10.identity")
def gain(x: Array, positions: Array) -> Array:
    """Apply an attention factor that nobody asked for."""
    return (rope(x, positions) * np.float32(1.1386)).astype(x.dtype)


@wrong("x normalised", "x is normalised to its own length.", "ROT-15.linear")
def normalised(x: Array, positions: Array) -> Array:
    """Divide by the norm."""
    y = rope(x, positions)
    length = np.linalg.norm(y, axis=-1, keepdims=True)
    return (y / np.where(length == 0, 1, length)).astype(x.dtype)


@wrong(
    "large components clipped",
    "Large components are clipped.",
    "ROT-15.linear",
    "ROT-10.identity",
    "PROJ-4.folded",
)
def clipped(x: Array, positions: Array) -> Array:
    """Saturate at 3."""
    with np.errstate(invalid="ignore"):
        return np.clip(rope(x, positions), -3, 3)


@wrong("it raises", "It raises where there is one token.", "ROT-17.dtype")
def raises(x: Array, positions: Array) -> Array:
    """Give up on a step of decoding."""
    if x.shape[1] == 1:
        raise RuntimeError(f"no kernel for {x.shape} at {positions.shape}")
    return rope(x, positions)


@wrong("it hangs", "It never returns.", "FREQ-2.read-off")
def hangs(x: Array, positions: Array) -> Array:
    """Wait."""
    while True:
        time.sleep(3600)
    return rope(x, positions)


@wrong("it crashes", "It aborts its process.", "FREQ-2.read-off")
def aborts(x: Array, positions: Array) -> Array:
    """Call abort."""
    os.abort()
    return rope(x, positions)


@wrong(
    "result overwritten by the next",
    "One buffer holds the results of all calls of a shape.",
    "ROT-17.unwritten",
)
class OneBuffer:
    """A result that the next call overwrites."""

    def __init__(self) -> None:
        self.buffers: dict[tuple[object, ...], Array] = {}

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Write into the buffer of the shape."""
        y = self.buffers.setdefault((x.shape, x.dtype), np.empty_like(x))
        y[...] = rope(x, positions)
        return y
