"""Rotations that take `out`: wrong and right ones."""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import right, wrong
from ropespec.conformance.zoo.parts import angles, rope

__all__ = [
    "fills_the_gaps",
    "first_half_overwritten",
    "ignores_out",
    "one_token_overwritten",
    "out_by_tokens",
    "writes_into_out",
    "writes_into_x",
]

Array = NDArray[Any]


@wrong(
    "overwritten operand in place",
    "The second half is made from the first already rotated.",
    "ROT-23.in-place",
)
def first_half_overwritten(x: Array, positions: Array, out: Array | None = None) -> Array:
    """Write one half before the other is made: right unless out is x."""
    y = np.empty_like(x) if out is None else out
    n = x.shape[-1] // 2
    a, b, angle = x[..., :n], x[..., n:], angles(positions, 2 * n)[..., None, :]
    y[..., :n], turned = a * np.cos(angle) - b * np.sin(angle), y[..., n:]
    turned[...] = b * np.cos(angle) + a * np.sin(angle)
    return y


@wrong(
    "overwritten operand in place",
    "In place, the halves of a single token are made one by one.",
    "ROT-23.in-place",
)
def one_token_overwritten(x: Array, positions: Array, out: Array | None = None) -> Array:
    """Take the way that is wrong in place for single tokens only."""
    single = x.shape[1] == 1
    y: Array = (first_half_overwritten if single else writes_into_out)(x, positions, out)
    return y


@wrong("out not written as asked", "out is taken and ignored.", "ROT-23.out")
def ignores_out(x: Array, positions: Array, out: Array | None = None) -> Array:
    """Return a new array."""
    del out
    return rope(x, positions)


@wrong("out not written as asked", "out is written as if it were contiguous.", "ROT-23.out")
def fills_the_gaps(x: Array, positions: Array, out: Array | None = None) -> Array:
    """Write to the address of out in the order of a new array."""
    y = rope(x, positions)
    if out is None:
        return y
    as_strided(out, y.shape, y.strides)[...] = y
    return out


@wrong("", "In other memory the result is right, but x is rotated as well.", "ROT-23.out")
def writes_into_x(x: Array, positions: Array, out: Array | None = None) -> Array:
    """Turn x in place and copy it to out."""
    y = rope(x, positions)
    if out is None:
        return y
    x[...] = y
    out[...] = x
    return out


@wrong(
    "unfit out accepted",
    "An out that overlaps x in part is written token by token.",
    "ROT-23.refused",
)
def out_by_tokens(x: Array, positions: Array, out: Array | None = None) -> Array:
    """Turn one token after the other: right unless out lies one head further."""
    y = np.empty_like(x) if out is None else out
    for token in range(x.shape[1]):
        y[:, token] = rope(x[:, token : token + 1], positions[:, token : token + 1])[:, 0]
    return y


@right(
    "Writes into memory that is given.",
    {"float32": "float32-angles", "float16": "float32-angles"},
)
def writes_into_out(x: Array, positions: Array, out: Array | None = None) -> Array:
    """Turn everything before anything is written, as NumPy does with overlapping memory."""
    y = rope(x, positions)
    if out is None:
        return y
    if out.shape != x.shape:
        raise ValueError("out does not fit x")
    out[...] = y
    return out
