"""The rotation as machine code: one loop over tokens, for every dtype, layout and stride.

A kernel is called as `kernel(job, start, stop)`: the address of the numbers that `FIELDS` names,
and the tokens that it is to turn. It loads all that it needs of a few pairs before it stores any of
them, so x and out may be the same memory; it allocates no more than a few rows of cos and sin.

Vectors are spelled out, so nothing depends on what a compiler makes of a loop: of any pair the
same operations are done in the same order, wherever it stands.
"""

from typing import Any

import numpy as np
from numba import njit, types

from ropespec.backends.cpu.plan import ALIGNED, FIELDS
from ropespec.backends.cpu.vectors import (
    at,
    get,
    move,
    narrow,
    pointer,
    put,
    settle,
    turn,
    unit_circle,
)

__all__ = ["FUNCTIONS"]

(
    LENGTH, HEADS, PAIRS, TAIL, INTERLEAVED, INVERSE, STREAMS, SOURCE,
    X_BATCH, X_TOKEN, X_HEAD, X_COMPONENT,
    OUT_BATCH, OUT_TOKEN, OUT_HEAD, OUT_COMPONENT,
    A_BATCH, A_TOKEN, A_PAIR, B_BATCH, B_TOKEN, B_PAIR,
    X, OUT, A, B, TABLE, FIRST, ROWS,
) = range(len(FIELDS))  # fmt: skip

FLOAT16, BFLOAT16, FLOAT32, FLOAT64, INT64 = np.int16, np.uint16, np.float32, np.float64, np.int64
"""What stands for a dtype; 16 bits are loaded as float32."""

LINE = 64
"""Bytes of a cache line: tables begin with one, so that none of their vectors lies in two."""

inline = njit(forceinline=True, error_model="numpy")

allocate: Any = types.ExternalFunction("malloc", types.int64(types.int64))
release: Any = types.ExternalFunction("free", types.void(types.int64))
give_up: Any = types.ExternalFunction("abort", types.void())


@inline
def phase_to(m, turns, cos, sin, pairs):
    """Write cos and sin of m * T_i (FREQ-9)."""
    i = 0
    while i + 8 <= pairs:
        unit_circle(m, turns, i, cos, sin, 8)
        i += 8
    while i < pairs:
        unit_circle(m, turns, i, cos, sin, 1)
        i += 1


@inline
def copy_given(kind, address, stride, into, pairs):
    """Copy a row of a table in the dtype of the arithmetic; a NaN becomes the usual one."""
    for i in range(pairs):
        value = narrow(get(pointer(address + i * stride, kind), 0), into)
        put(into, i, narrow(np.nan, into) if np.isnan(value) else value)


@inline
def read_given(source, address, stride, into, pairs):
    """Copy a row of cos or sin of any dtype."""
    if source == 1:
        copy_given(FLOAT16, address, stride, into, pairs)
    elif source == 2:
        copy_given(BFLOAT16, address, stride, into, pairs)
    elif source == 3 and stride == 4:
        copy_given(FLOAT32, address, 4, into, pairs)
    elif source == 3:
        copy_given(FLOAT32, address, stride, into, pairs)
    elif stride == 8:
        copy_given(FLOAT64, address, 8, into, pairs)
    else:
        copy_given(FLOAT64, address, stride, into, pairs)


@inline
def turn_blocks(kind, x, y, cos, sin, sign, pairs, interleaved, rows, x_step, y_step):
    """Turn the pairs of rows, the first of them at address `x`, into those at `y`.

    All rows of a block of pairs are turned before the next block: its tables are loaded once.
    """
    i, x1, y1 = 0, pointer(x, kind), pointer(y, kind)
    while i + 128 <= pairs:
        turn(x1, y1, i, pairs, interleaved, cos, sin, sign, rows, x_step, y_step, 128, 0)
        i += 128
    while i + 64 <= pairs:
        turn(x1, y1, i, pairs, interleaved, cos, sin, sign, rows, x_step, y_step, 64, 0)
        i += 64
    while i + 32 <= pairs:
        turn(x1, y1, i, pairs, interleaved, cos, sin, sign, rows, x_step, y_step, 32, 0)
        i += 32
    while i + 16 <= pairs:
        turn(x1, y1, i, pairs, interleaved, cos, sin, sign, rows, x_step, y_step, 16, 0)
        i += 16
    while i + 8 <= pairs:
        turn(x1, y1, i, pairs, interleaved, cos, sin, sign, rows, x_step, y_step, 8, 0)
        i += 8
    while i + 4 <= pairs:
        turn(x1, y1, i, pairs, interleaved, cos, sin, sign, rows, x_step, y_step, 4, 0)
        i += 4
    while i < pairs:
        turn(x1, y1, i, pairs, interleaved, cos, sin, sign, rows, x_step, y_step, 1, 0)
        i += 1


@inline
def turn_rows(kind, x, y, cos, sin, sign, pairs, interleaved, rows, x_step, y_step):
    """Turn rows of one block as blocks, but others one after another, as they lie in memory.

    That loads tables for each, which takes no longer where words of two need no arranging.
    """
    if pairs in (32, 64, 128):
        turn_blocks(kind, x, y, cos, sin, sign, pairs, interleaved, rows, x_step, y_step)
        return
    for row in range(rows):
        i, x1, y1 = 0, pointer(x + row * x_step, kind), pointer(y + row * y_step, kind)
        while i + 16 <= pairs:
            turn(x1, y1, i, pairs, interleaved, cos, sin, sign, 1, 0, 0, 16, 0)
            i += 16
        while i + 4 <= pairs:
            turn(x1, y1, i, pairs, interleaved, cos, sin, sign, 1, 0, 0, 4, 0)
            i += 4
        while i < pairs:
            turn(x1, y1, i, pairs, interleaved, cos, sin, sign, 1, 0, 0, 1, 0)
            i += 1


@inline
def stream_rows(kind, x, y, cos, sin, sign, pairs, interleaved, rows, x_step, y_step):
    """Turn rows of whole blocks into memory past the cache, one after another."""
    for row in range(rows):
        i, x1, y1 = 0, pointer(x + row * x_step, kind), pointer(y + row * y_step, kind)
        while i + 64 <= pairs:
            turn(x1, y1, i, pairs, interleaved, cos, sin, sign, 1, 0, 0, 64, 1)
            i += 64
        while i + 32 <= pairs:
            turn(x1, y1, i, pairs, interleaved, cos, sin, sign, 1, 0, 0, 32, 1)
            i += 32
        while i + 16 <= pairs:
            turn(x1, y1, i, pairs, interleaved, cos, sin, sign, 1, 0, 0, 16, 1)
            i += 16


@inline
def move_row(kind, size, x, x_step, y, y_step, count):
    """Copy `count` elements bit for bit, with any steps in bytes."""
    i = 0
    if x_step == size and y_step == size:
        while i + 16 <= count:
            move(pointer(x, kind), i, pointer(y, kind), i, 16)
            i += 16
    while i < count:
        move(pointer(x + i * x_step, kind), 0, pointer(y + i * y_step, kind), 0, 1)
        i += 1


@inline
def turn_heads(
    kind, size, turn_all, x, y, cos, sin, sign, lengths, steps, interleaved, streams, spare
):
    """Turn all heads of a token, its first at address `x`, and copy what does not turn."""
    heads, pairs, tail = lengths
    x_head, y_head, x_step, y_step = steps
    dense = x_step == size and y_step == size
    done, rows = 0, heads if dense else 1
    while done < heads:
        here, there = x + done * x_head, y + done * y_head
        if not dense:
            move_row(kind, size, here, x_step, spare, size, 2 * pairs)
        read, written = (here, there) if dense else (spare, spare)
        how = kind, read, written, cos, sin, sign, pairs, interleaved, rows, x_head, y_head
        if streams:
            stream_rows(*how)
        else:
            turn_all(*how)
        if not dense:
            move_row(kind, size, spare, size, there, y_step, 2 * pairs)
        done += rows
    for head in range(heads if tail and x != y else 0):
        here = x + head * x_head + 2 * pairs * x_step
        there = y + head * y_head + 2 * pairs * y_step
        move_row(kind, size, here, x_step, there, y_step, tail)


@inline
def turn_tokens(job, start, stop, kind, size, work, wide, turn_all):
    """Turn the tokens from `start` to `stop`, rows by `turn_all`."""
    field = pointer(job, INT64)
    length, pairs, source = get(field, LENGTH), get(field, PAIRS), get(field, SOURCE)
    lengths = get(field, HEADS), pairs, get(field, TAIL)
    interleaved = get(field, INTERLEAVED) != 0
    steps = (
        get(field, X_HEAD),
        get(field, OUT_HEAD),
        get(field, X_COMPONENT),
        get(field, OUT_COMPONENT),
    )
    streams = get(field, STREAMS) != 0 and get(field, OUT) % ALIGNED == 0
    streams = streams and get(field, X) != get(field, OUT)
    sign = work(1) - 2 * work(get(field, INVERSE))
    memory = allocate(4 * pairs * wide + LINE)
    if memory == 0:
        give_up()
    base = (memory + LINE - 1) // LINE * LINE
    cos, sin = pointer(base, work), pointer(base + pairs * wide, work)
    spare = base + 2 * pairs * wide
    for token in range(start, stop):
        batch = token // length
        place = token - batch * length
        a = get(field, A) + batch * get(field, A_BATCH) + place * get(field, A_TOKEN)
        b = get(field, B) + batch * get(field, B_BATCH) + place * get(field, B_TOKEN)
        c, s = cos, sin
        if source == 0:
            m = get(pointer(a, INT64), 0)
            row = m - get(field, FIRST)
            if 0 <= row < get(field, ROWS):
                c = pointer(get(field, TABLE) + row * 2 * pairs * wide, work)
                s = at(c, pairs)
            else:
                phase_to(m, pointer(b, INT64), cos, sin, pairs)
        else:
            for into, address, pair in ((cos, a, A_PAIR), (sin, b, B_PAIR)):
                read_given(source, address, get(field, pair), into, pairs)
        x = get(field, X) + batch * get(field, X_BATCH) + place * get(field, X_TOKEN)
        y = get(field, OUT) + batch * get(field, OUT_BATCH) + place * get(field, OUT_TOKEN)
        turn_heads(
            kind, size, turn_all, x, y, c, s, sign, lengths, steps, interleaved, streams, spare
        )
    release(memory)
    if streams:
        settle()


def turn_float16(job, start, stop):
    turn_tokens(job, start, stop, FLOAT16, 2, np.float32, 4, turn_rows)


def turn_bfloat16(job, start, stop):
    turn_tokens(job, start, stop, BFLOAT16, 2, np.float32, 4, turn_blocks)


def turn_float32(job, start, stop):
    turn_tokens(job, start, stop, FLOAT32, 4, np.float32, 4, turn_rows)


def turn_float64(job, start, stop):
    turn_tokens(job, start, stop, FLOAT64, 8, np.float64, 8, turn_rows)


SIGNATURE = "void(int64, int64, int64)"
FUNCTIONS: dict[str, tuple[Any, str]] = {
    "float16": (turn_float16, SIGNATURE),
    "bfloat16": (turn_bfloat16, SIGNATURE),
    "float32": (turn_float32, SIGNATURE),
    "float64": (turn_float64, SIGNATURE),
}
"""The kernels by dtype, and how they are compiled."""
