"""Launching the kernel: one for each block of batch axes that can be read as one axis."""

import functools
from typing import NamedTuple

import cupy

from ropespec.backends.cupy.arrays import Array, name_of_dtype
from ropespec.backends.cupy.kernels import kernel

__all__ = ["Turn", "launch"]

BLOCK = 128
"""Threads in a block, as kernels.cu tells the compiler."""

RESIDENT = 1024
"""Threads of these kernels that a multiprocessor holds at once: they take up to 64 registers."""

WAVES = 8
"""Times the grid may fill the card; every thread goes on in strides of the grid."""

HEADS = 8
"""Heads that share the cos and sin of a thread, if there is work enough for all threads."""

WORD = 16
"""Bytes of the widest access."""


class Turn(NamedTuple):
    """What the kernel does to every head.

    Attributes
    ----------
    pairs : int
        r/2; the components after 2 `pairs` are copied.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    inverse : bool
        Turn by the opposite angle.
    turns : cupy.ndarray of uint64 or None
        T_i, (r/2,), where cos and sin are made in the kernel; None where they are given.
    """

    pairs: int
    interleaved: bool
    inverse: bool
    turns: Array | None


def launch(x: Array, out: Array, angles: tuple[Array, ...], turn: Turn) -> None:
    """Turn `x` (..., S, H, D), not empty, into `out`, on the current stream.

    Parameters
    ----------
    x, out : cupy.ndarray
        Any strides; the same memory or apart.
    angles : tuple of cupy.ndarray
        Positions (..., S), or cos and sin (..., S, r/2) of the same strides in the dtype of the
        arithmetic, contiguous along the last axis; leading axes as those of `x`.
    turn : Turn
        What to do.
    """
    if x.ndim == 4:
        _launch(x, out, angles, turn)
    elif x.ndim < 4:
        launch(x[None], out[None], tuple(array[None] for array in angles), turn)
    elif all(_merges(array) for array in (x, out, *angles)):
        # Every one of these is a view.
        x, out, *angles_left = (array.reshape(-1, *array.shape[2:]) for array in (x, out, *angles))
        launch(x, out, tuple(angles_left), turn)
    else:
        for i in range(x.shape[0]):
            launch(x[i], out[i], tuple(array[i] for array in angles), turn)


def _merges(array: Array) -> bool:
    """Say whether the first two axes can be read as one."""
    first, second = array.strides[:2]
    return 1 in array.shape[:2] or bool(first == second * array.shape[1])


def _launch(x: Array, out: Array, angles: tuple[Array, ...], turn: Turn) -> None:
    batches, rows, heads, dim = x.shape
    itself = x.data.ptr == out.data.ptr and x.strides == out.strides
    tail = 0 if itself else dim - 2 * turn.pairs
    vector = _in_words(x, out, turn, tail)
    lanes = WORD // x.itemsize if vector else 1
    units = turn.pairs // (lanes // 2 if vector and turn.interleaved else lanes) + tail // lanes
    groups = _groups(batches * rows * units, heads, x.device.id)
    count = batches * rows * units * groups
    given = turn.turns is None
    m = angles[0]
    kind = 0 if given else m.itemsize if m.dtype.kind == "u" else -m.itemsize
    cos, sin = angles if given else (m, m)  # a pointer that is not looked at
    pointers = (x, out, m, m if given else turn.turns, cos, sin)
    numbers = (kind, int(turn.inverse), rows, heads, turn.pairs, tail, groups)
    strides = (*x.strides, *out.strides, *m.strides[:2])
    blocks = min(-(-count // BLOCK), _multiprocessors(x.device.id) * WAVES * RESIDENT // BLOCK)
    run = kernel(name_of_dtype(x.dtype), interleaved=turn.interleaved, vector=vector)
    run((blocks,), (BLOCK,), (*pointers, *numbers, *strides, batches))


def _in_words(x: Array, out: Array, turn: Turn, tail: int) -> bool:
    """Say whether all units of x and out are whole words at addresses that are multiples of one."""
    lanes = WORD // x.itemsize
    row = 2 * turn.pairs if turn.interleaved else turn.pairs
    if row % lanes or tail % lanes:
        return False
    return all(
        array.strides[-1] == array.itemsize
        and array.data.ptr % WORD == 0
        and all(
            n == 1 or stride % WORD == 0
            for n, stride in zip(array.shape[:-1], array.strides, strict=False)
        )
        for array in (x, out)
    )


def _groups(units: int, heads: int, device: int) -> int:
    """Return among how many threads the heads of a token are shared, to keep the card busy."""
    wanted = -(-_multiprocessors(device) * RESIDENT // units)
    return min(heads, max(-(-heads // HEADS), wanted))


@functools.cache
def _multiprocessors(device: int) -> int:
    return int(cupy.cuda.Device(device).attributes["MultiProcessorCount"])
