"""Right implementations that do not do everything, and say so: each needs one claim of CON-10."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import right
from ropespec.conformance.zoo.parts import rope

__all__ = [
    "at_most_64_tokens",
    "contiguous_arrays_alone",
    "flushed_to_zero",
    "no_empty_arrays",
    "vectors_of_16",
]

Array = NDArray[Any]
FLOAT32 = {"float32": "float32-angles"}
WIDTH = 16
TOKENS = 64


@right("Memory is read in one run.", FLOAT32, strided=False)
def contiguous_arrays_alone(x: Array, positions: Array) -> Array:
    """Refuse views with gaps."""
    if not (x.flags.c_contiguous and positions.flags.c_contiguous):
        raise ValueError("x and positions must be contiguous")
    return rope(x, positions)


@right("The largest position is looked for, and there has to be one.", FLOAT32, empty=False)
def no_empty_arrays(x: Array, positions: Array) -> Array:
    """Make a table as long as it must be."""
    x[..., :1].max()
    largest = int(np.abs(positions).max())
    return rope(x, positions) if largest >= 0 else x


@right("Numbers below the normal range become zero, before and after.", FLOAT32, subnormals=False)
def flushed_to_zero(x: Array, positions: Array) -> Array:
    """Do as a processor does that was told to be fast."""
    return _normal(rope(_normal(x), positions))


def _normal(x: Array) -> Array:
    tiny = np.abs(x) < np.finfo(np.float32).tiny
    return np.where(tiny, np.copysign(np.float32(0), x), x)


@right("There is room for 64 tokens.", FLOAT32, max_tokens=TOKENS)
def at_most_64_tokens(x: Array, positions: Array) -> Array:
    """Use a buffer that was made once."""
    if positions.size > TOKENS:
        raise ValueError(f"{positions.size} tokens, and there is room for {TOKENS}")
    return rope(x, positions)


@right("Components are read in vectors of 16.", FLOAT32, min_head_dim=WIDTH)
def vectors_of_16(x: Array, positions: Array) -> Array:
    """Leave no room for less than one vector."""
    if x.shape[-1] < WIDTH:
        raise ValueError(f"head_dim must be at least {WIDTH}; got {x.shape[-1]}")
    return rope(x, positions)
