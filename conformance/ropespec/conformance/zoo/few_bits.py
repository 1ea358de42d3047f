"""Integers of too few bits: of positions, of places in a table, of the numbers of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import half, rope, table

__all__ = [
    "absolute_in_few_bits",
    "integers_of_64_bits",
    "place_from_the_least_in_few_bits",
    "place_in_few_bits",
    "rows_in_16_bits",
    "rows_in_uint16",
]

Array = NDArray[Any]


def _by_rows(x: Array, positions: Array, kind: type[np.integer[Any]]) -> Array:
    """Make cosines and sines once for each distinct position, and take the rows by number."""
    values, row = np.unique(positions, return_inverse=True)
    cos, sin = table(values, x.shape[-1])
    row = row.reshape(positions.shape).astype(kind)
    return half(x, cos[row], sin[row])


@wrong("", "Integers of 32 bits are read as if they had 64.", "ROT-7.value")
def integers_of_64_bits(x: Array, positions: Array) -> Array:
    """Take the address of positions, and not their dtype."""
    if positions.dtype != np.int64:
        read = np.frombuffer(positions.tobytes() * 2, np.int64) % 2**17
        positions = read[: positions.size].reshape(positions.shape)
    return rope(x, positions)


@wrong(
    "rotated by the position of another",
    "The row of each of up to 65535 distinct positions is kept in 16 bits with a sign.",
    "ROT-19.many",
)
def rows_in_16_bits(x: Array, positions: Array) -> Array:
    """Take 32 bits only where 16 have too few values."""
    return _by_rows(x, positions, np.int16 if np.unique(positions).size < 2**16 else np.int32)


@wrong(
    "rotated by the position of another",
    "The row of each of the distinct positions is kept in 16 bits without a sign.",
    "ROT-19.many",
)
def rows_in_uint16(x: Array, positions: Array) -> Array:
    """Number distinct positions, however many there are."""
    return _by_rows(x, positions, np.uint16)


@wrong(
    "positions of few bits",
    "The place in a flat table is reckoned in the dtype of the positions.",
    "FREQ-6.integers",
    max_position=4095,
    negative_positions=False,
)
def place_in_few_bits(x: Array, positions: Array) -> Array:
    """Multiply a position by how many entries a row of the table has."""
    pairs = x.shape[-1] // 2
    cos, sin = (part.ravel() for part in table(np.arange(4096), x.shape[-1]))
    place = positions[..., None] * pairs + np.arange(pairs)
    return half(x, cos[place], sin[place])


@wrong(
    "positions of few bits",
    "The absolute value of a position is taken in its dtype.",
    "FREQ-6.integers",
)
def absolute_in_few_bits(x: Array, positions: Array) -> Array:
    """Look the size up, and turn back for what is below zero; the least of int16 has no size."""
    return rope(x, np.where(positions < 0, -np.abs(positions).astype(np.int64), positions))


@wrong(
    "positions of few bits",
    "Where positions are near each other, their place in a flat table is reckoned in their dtype.",
    "FREQ-6.integers",
)
def place_from_the_least_in_few_bits(x: Array, positions: Array) -> Array:
    """Make a table from the least to the largest position, unless that is long."""
    least, most = (int(end(initial=0)) for end in (positions.min, positions.max))
    if most - least >= 8192:
        return rope(x, positions)
    pairs = x.shape[-1] // 2
    cos, sin = (part.ravel() for part in table(np.arange(least, most + 1), x.shape[-1]))
    place = (positions - positions.dtype.type(least))[..., None] * pairs + np.arange(pairs)
    return half(x, cos[place], sin[place])
