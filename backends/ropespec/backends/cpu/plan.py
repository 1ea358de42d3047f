"""How a rotation is cut: what follows from shapes, strides and options, kept for all calls."""

import functools
import itertools
import math
import struct
from typing import NamedTuple

__all__ = ["FIELDS", "Given", "Plan", "Shape", "job", "plan_of"]

FIELDS = (  # noqa: SIM905  # a line for each array
    # What is the same for all calls with arguments of one look:
    "length heads pairs tail interleaved inverse streams source "
    "x_batch x_token x_head x_component "
    "out_batch out_token out_head out_component "
    "a_batch a_token a_pair b_batch b_token b_pair "
    # And what is not:
    "x out a b table first rows"
).split()
"""Numbers of a job, int64 each; strides are in bytes, and the last seven but two are addresses.

`source` tells what a and b are: 0 for positions and turns, else cos and sin of float16, bfloat16,
float32 and float64, in this order from 1. `table` holds `rows` rows of cos and sin, of the dtype of
the arithmetic, for positions from `first` on; positions outside are given theirs by exact phase.
"""


TABLES = ("float16", "bfloat16", "float32", "float64")
"""The dtypes that tables may have, as `source` counts them from 1."""

SIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}

CHUNK = 2**15
"""Elements that a thread takes at a time, at least, and so stay in its cache."""

SHARE = 2**16
"""Elements for which it pays to have one more thread."""

BLOCK, ALIGNED = 16, 16
"""Pairs and bytes of which rows that go past the cache have whole multiples."""

LARGE = 2**25
"""Bytes of a result that no cache is likely to keep until it is read."""

PER_CALL = FIELDS.index("x")
ADDRESSES = struct.Struct(f"={len(FIELDS) - PER_CALL}q")
STATIC = struct.Struct(f"={PER_CALL}q")

Shape = tuple[int, ...]
Given = tuple[str, Shape, Shape, Shape]


class Plan(NamedTuple):
    """What is the same for all calls with arguments of one look.

    Attributes
    ----------
    dtype : str
        Of x and out.
    static : bytes
        The first fields of a job.
    tokens : int
        Tokens of one job; 0 if there is nothing to do.
    step : int
        Tokens that a thread takes at a time.
    threads : int
        How many it pays to have for one job.
    offsets : tuple of tuples of int
        Fours of bytes to add to the addresses of x, out, a and b: one job for each.
    given : int
        How many positions there are, or rows of tables.
    reach : int
        Bytes from the first of them to the last.
    """

    dtype: str
    static: bytes
    tokens: int
    step: int
    threads: int
    offsets: tuple[tuple[int, ...], ...]
    given: int
    reach: int


def job(plan: Plan, *addresses: int) -> bytes:
    """Return the numbers of a job: the plan's, and those of `FIELDS` from "x" on."""
    return plan.static + ADDRESSES.pack(*addresses)


@functools.lru_cache(maxsize=1024)
def plan_of(
    dtype: str,
    shape: Shape,
    x: Shape,
    out: Shape,
    given: Given,
    unit: int,
    pairs: int,
    interleaved: bool,
    inverse: bool,
    reused: bool = False,
) -> Plan:
    """Cut a rotation.

    Parameters
    ----------
    dtype : str
        Of x and out.
    shape : tuple of int
        Of x and out: (..., S, H, D).
    x, out : tuple of int
        Their strides.
    given : tuple
        The dtype of positions or tables, "int64" for positions; their shape without the axis of
        pairs; the strides of positions, or those of cos and of sin with the axis of pairs.
    unit : int
        0 if strides count elements, 1 if bytes.
    pairs : int
        r/2.
    interleaved, inverse : bool
        The layout, and whether to turn back.
    reused : bool
        Whether out has been written to before. What is fresh from the system is in the cache, where
        it was filled with zeros.

    Returns
    -------
    Plan
        Kept, so that a call that looks like another costs a look-up.
    """
    kind, rows, first, second = given
    size = unit or SIZES[dtype]
    step = unit or SIZES.get(kind, 8)
    *lead, length, heads, dim = shape
    x, out = (tuple(s * size for s in strides) for strides in (x, out))
    first, second = (tuple(s * step for s in strides) for strides in (first, second))
    a, a_pair = (first, 0) if kind == "int64" else (first[:-1], first[-1])
    b, b_pair = ((0,) * len(a), 0) if kind == "int64" else (second[:-1], second[-1])
    a, b = (_broadcast(strides, rows, len(lead) + 1) for strides in (a, b))
    reach = sum((n - 1) * stride for n, stride in zip(rows, first, strict=False))
    axes = _merged(lead, [strides[: len(lead)] for strides in (x, out, a, b)])
    batch, *strides = axes.pop() if axes else (1, 0, 0, 0, 0)
    static = STATIC.pack(
        length, heads, pairs, dim - 2 * pairs, interleaved, inverse,
        reused and _streams(shape, SIZES[dtype], x, out, pairs),
        TABLES.index(kind) + 1 if kind in TABLES else 0,
        strides[0], *x[-3:], strides[1], *out[-3:],
        strides[2], a[-1], a_pair, strides[3], b[-1], b_pair,
    )  # fmt: skip
    offsets = tuple(
        tuple(sum(i * axis[k + 1] for i, axis in zip(index, axes, strict=True)) for k in range(4))
        for index in itertools.product(*(range(axis[0]) for axis in axes))
    )
    row = max(1, heads * dim)
    tokens = batch * length if math.prod(shape) else 0
    chunk = max(1, CHUNK // row)
    threads = min(tokens * row // SHARE, -(-tokens // chunk))
    return Plan(dtype, static, tokens, chunk, threads, offsets, math.prod(rows), reach)


def _streams(shape: Shape, size: int, x: Shape, out: Shape, pairs: int) -> bool:
    """Tell whether a result is to go past the cache: whole rows, too many to stay there."""
    *_, heads, dim = shape
    return (
        math.prod(shape) * size >= LARGE
        and dim == 2 * pairs
        and pairs % BLOCK == 0
        and x[-1] == out[-1] == size
        and (heads == 1 or out[-2] == dim * size)
        and all(step % ALIGNED == 0 for step in out[:-1])
    )


def _broadcast(strides: Shape, shape: Shape, axes: int) -> Shape:
    """Return strides over `axes` axes: 0 where there is no axis, or one of length 1."""
    own = tuple(0 if n == 1 else s for n, s in zip(shape, strides, strict=True))
    return (0,) * (axes - len(own)) + own


def _merged(lead: list[int], strides: list[Shape]) -> list[tuple[int, ...]]:
    """Join neighbouring axes that all arrays step through alike: (length, strides of each)."""
    axes: list[tuple[int, ...]] = []
    for length, *steps in zip(lead, *strides, strict=True):
        if length == 1:
            continue
        if axes and all(s == length * t for s, t in zip(axes[-1][1:], steps, strict=True)):
            axes[-1] = (axes[-1][0] * length, *steps)
        else:
            axes.append((length, *steps))
    return axes
