"""Mistakes that show only in large blocks, at the ends of a dtype's range, or below its steps."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import angles, half, interleaved, inv_freq, rope

__all__ = [
    "batches_of_8_by_row_0",
    "clipped_at_float16",
    "flushes_subnormals",
    "gain_below_a_bfloat16_step",
    "heads_beyond_8_by_the_next_token",
    "heads_beyond_64_unturned",
    "last_pairs_backwards_at_192",
    "last_pairs_turned_twice",
    "nan_replaced",
    "padded_at_112",
    "pairs_beyond_64_unturned",
    "rest_of_heads_unturned",
    "rows_beyond_4_in_float16",
    "scaled_within_float16",
    "tokens_beyond_64_by_row_0",
]

Array = NDArray[Any]
PACK = 4
KEY_HEADS = 8
ROWS = 4
BLOCK = 64
LARGEST_FLOAT16 = 65504.0


@wrong(
    "beyond a block",
    "Heads are rotated in packs of 4; the rest after a pack is not.",
    "ROT-19.many",
)
def rest_of_heads_unturned(x: Array, positions: Array) -> Array:
    """Unroll by four and forget the remainder."""
    y, heads = rope(x, positions), x.shape[2]
    if heads > PACK and heads % PACK:
        rest = heads - heads % PACK
        y[:, :, rest:] = x[:, :, rest:]
    return y


@wrong("beyond a block", "Heads from 8 on are rotated by the next position.", "ROT-19.many")
def heads_beyond_8_by_the_next_token(x: Array, positions: Array) -> Array:
    """Run over into the next token."""
    turned = [rope(x[:, :, :KEY_HEADS], positions), rope(x[:, :, KEY_HEADS:], positions + 1)]
    return np.concatenate(turned, axis=2)


@wrong("beyond a block", "Heads from 64 on are not rotated.", "ROT-19.many")
def heads_beyond_64_unturned(x: Array, positions: Array) -> Array:
    """Launch a fixed number of heads."""
    return np.concatenate([rope(x[:, :, :BLOCK], positions), x[:, :, BLOCK:]], axis=2)


@wrong(
    "special width",
    "Pairs go by eights, and the last eight overlap: some rotate twice.",
    "ROT-7.value",
    "ROT-7.sizes",
)
def last_pairs_turned_twice(x: Array, positions: Array) -> Array:
    """Begin the last vector so that it ends where the row does, in the memory of the result."""
    y, n, angle = x.copy(), x.shape[-1] // 2, angles(positions, x.shape[-1])[..., None, :]
    for begin in range(0, n, KEY_HEADS):
        start = min(begin, max(n - KEY_HEADS, 0))
        one, two = (np.s_[..., at : at + min(KEY_HEADS, n)] for at in (start, n + start))
        c, s = (f(angle[..., start : start + KEY_HEADS]) for f in (np.cos, np.sin))
        y[one], y[two] = y[one] * c - y[two] * s, y[two] * c + y[one] * s
    return y


@wrong("beyond a block", "Rows from 4 on have their positions in float16.", "ROT-19.many")
def rows_beyond_4_in_float16(x: Array, positions: Array) -> Array:
    """Take another kernel for larger batches."""
    where = positions.astype(np.float64)
    where[ROWS:] = np.minimum(where[ROWS:], LARGEST_FLOAT16).astype(np.float16)
    return rope(x, where)


@wrong("B5", "Batches of 8 rows or more are rotated by the positions of row 0.", "ROT-19.many")
def batches_of_8_by_row_0(x: Array, positions: Array) -> Array:
    """Take a path for large batches that knows one row."""
    return rope(x, positions[:1] if len(positions) >= KEY_HEADS else positions)


@wrong("beyond a block", "Tokens from 64 on are rotated by the positions of row 0.", "ROT-19.many")
def tokens_beyond_64_by_row_0(x: Array, positions: Array) -> Array:
    """Forget the row in the second block."""
    where = positions.copy()
    where[:, BLOCK:] = positions[:1, BLOCK:]
    return rope(x, where)


@wrong(
    "special width",
    "Pairs from 64 on are not rotated.",
    "ROT-7.sizes",
    "JDG-3.precision",
)
def pairs_beyond_64_unturned(x: Array, positions: Array) -> Array:
    """Allow for a head_dim of 128 and no more."""
    theta = inv_freq(x.shape[-1])
    theta[BLOCK:] = 0.0
    angle = positions.astype(np.float32)[..., None] * theta
    return half(x, np.cos(angle), np.sin(angle))


@wrong(
    "special width",
    "At head_dim 112 the frequencies are those of 128, to which it is padded.",
    "ROT-6.sizes",
    interleaved=True,
)
def padded_at_112(x: Array, positions: Array) -> Array:
    """Round the width up to what a kernel was written for."""
    width = 128 if x.shape[-1] == 112 else x.shape[-1]
    angle = angles(positions, width)[..., : x.shape[-1] // 2]
    return interleaved(x, np.cos(angle), np.sin(angle))


@wrong("special width", "At head_dim 192 pairs from 64 on rotate by -m.", "ROT-7.sizes")
def last_pairs_backwards_at_192(x: Array, positions: Array) -> Array:
    """Run over the end of a block of 64 pairs into sines of another sign."""
    angle = angles(positions, x.shape[-1])
    if x.shape[-1] == 192:
        angle[..., BLOCK:] *= -1
    return half(x, np.cos(angle), np.sin(angle))


@wrong("", "Values are clipped to the range of float16.", "ROT-10.identity", "ROT-11.norm")
def clipped_at_float16(x: Array, positions: Array) -> Array:
    """Guard against an overflow that float32 does not have."""
    return np.clip(rope(x, positions), -LARGEST_FLOAT16, LARGEST_FLOAT16)


@wrong(
    "",
    "x is scaled by sqrt(head_dim) in float16 and overflows.",
    "ROT-10.identity",
    "ROT-11.norm",
    dtypes=("float16",),
)
def scaled_within_float16(x: Array, positions: Array) -> Array:
    """Fold a factor of the attention into x, and take it out again."""
    scale = np.float16(x.shape[-1] ** 0.5)
    with np.errstate(over="ignore", invalid="ignore"):
        y: Array = rope(x * scale, positions) / scale
    return y.astype(x.dtype)


@wrong(
    "", "A gain of 1.003 hides below a step of bfloat16.", "ROT-10.identity", dtypes=("bfloat16",)
)
def gain_below_a_bfloat16_step(x: Array, positions: Array) -> Array:
    """Leave the factor of a longer context in the tables."""
    gain, angle = np.float32(1.003), angles(positions, x.shape[-1])
    return half(x, gain * np.cos(angle), gain * np.sin(angle))


@wrong("infinity lost", "NaN and infinity become numbers.", "ROT-16.not-a-number")
def nan_replaced(x: Array, positions: Array) -> Array:
    """Tidy up."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(rope(x, positions))


@wrong("", "Subnormal numbers become zero.", "ROT-10.identity")
def flushes_subnormals(x: Array, positions: Array) -> Array:
    """Do as a processor does that was told to be fast."""
    y = rope(x, positions)
    return np.where(np.abs(y) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), y), y)
