"""The rotation of memory: what the backends of NumPy and torch call with addresses and strides."""

import ctypes
import functools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.backends.cache import Cache
from ropespec.backends.cpu.machine import kernel_of
from ropespec.backends.cpu.plan import Given, Plan, Shape, job, plan_of
from ropespec.backends.cpu.threads import Team, run
from ropespec.backends.phase import turns

__all__ = ["Memory", "Turns", "rotate", "turns_of"]

WIDE = {"float16": "float32", "bfloat16": "float32", "float32": "float32", "float64": "float64"}
"""The dtype of the arithmetic, in which tables are kept (JDG-3)."""

SHORT = 32
"""Tokens whose cos and sin are sooner made than looked up."""

LIMIT = 64 * 2**20
"""Bytes that all tables hold together."""

SHORTEST = 256
"""Positions in the shortest table; longer ones have a power of two."""

SPARSE = 4
"""Positions of a longer table for one that is asked for, at most."""

_read = ctypes.c_int64.from_address

FARTHEST = 2**62
"""Beyond this the ends of a table might not fit in int64."""


class Memory(NamedTuple):
    """An array as a kernel sees it.

    Attributes
    ----------
    address : int
        Of the first element.
    shape : tuple of int
        As of the array.
    strides : tuple of int
        In elements or in bytes, for all arrays of a call alike.
    dtype : str
        Its bare name.
    """

    address: int
    shape: Shape
    strides: Shape
    dtype: str


class Turns:
    """T_i (FREQ-9), and the table of cos and sin that was used with them last.

    Parameters
    ----------
    values : ndarray of int64 or uint64, shape (r/2,)
        In one piece.
    """

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values
        self.address: int = values.ctypes.data
        self.pairs: int = values.size
        self.key = values.tobytes()
        self.latest: dict[str, _Table] = {}


class _Table(NamedTuple):
    """cos and sin of consecutive positions, side by side."""

    first: int
    length: int
    address: int
    values: NDArray[Any]


_tables: Cache[_Table] = Cache(LIMIT, lambda table: table.values.nbytes)


@functools.lru_cache(maxsize=64)
def turns_of(dim: int, base: float) -> Turns:
    """Return T_i of a head of `dim` components that turn."""
    return Turns(turns(dim, base))


def rotate(
    x: Memory,
    out: Memory,
    angles: Memory,
    other: Memory | Turns,
    *,
    interleaved: bool,
    inverse: bool,
    unit: int,
    team: Team,
) -> None:
    """Write R_m x to `out`: the same memory in the same order, or other memory.

    Parameters
    ----------
    x, out : Memory
        (..., S, H, D), of one shape and dtype.
    angles : Memory
        Positions as int64, (..., S), or cos, (..., S, r/2); leading axes broadcast.
    other : Turns or Memory
        T_i for positions, sin for cos.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    inverse : bool
        Turn by the opposite angle.
    unit : int
        0 if strides count elements, 1 if bytes.
    team : Team
        Who may work on it.
    """
    pairs = other.pairs if isinstance(other, Turns) else angles.shape[-1]
    given: Given
    if isinstance(other, Turns):
        given = "int64", angles.shape, angles.strides, ()
    else:
        given = angles.dtype, angles.shape[:-1], angles.strides, other.strides
    plan = plan_of(
        x.dtype, x.shape, x.strides, out.strides, given, unit, pairs, interleaved, inverse
    )
    if not plan.tokens:
        return
    table = None
    if plan.tokens > SHORT and isinstance(other, Turns):
        table = _table(angles, other, WIDE[x.dtype], unit, team)
    _run(plan, x, out, angles, other, table, team)


def _run(
    plan: Plan,
    x: Memory,
    out: Memory,
    angles: Memory,
    other: Memory | Turns,
    table: _Table | None,
    team: Team,
) -> None:
    kernel, address = kernel_of(x.dtype)
    kept = (0, 0, 0) if table is None else (table.address, table.first, table.length)
    for from_x, from_out, from_a, from_b in plan.offsets:
        numbers = job(
            plan, x.address + from_x, out.address + from_out,
            angles.address + from_a, other.address + from_b, *kept,
        )  # fmt: skip
        run(kernel, address, numbers, plan.tokens, plan.step, plan.elements, team)


def _table(positions: Memory, turns: Turns, dtype: str, unit: int, team: Team) -> _Table | None:
    """Return a table for positions that begin and end as these do, if it pays.

    A kernel looks whether a position is in it, so it is no matter if others are not.
    """
    reach = 0
    for length, stride in zip(positions.shape, positions.strides, strict=True):
        reach += (length - 1) * stride
    low = _read(positions.address).value
    high = _read(positions.address + reach * (unit or 8)).value
    low, high = (low, high) if low <= high else (high, low)
    latest = turns.latest.get(dtype)
    if latest is None or low < latest.first or high >= latest.first + latest.length:
        latest = _covering(low, high, math.prod(positions.shape), turns, dtype, team)
        if latest is not None:
            turns.latest[dtype] = latest
    return latest


def _covering(
    low: int, high: int, asked: int, turns: Turns, dtype: str, team: Team
) -> _Table | None:
    """Return the smallest aligned table, of a power of two, that has `low` and `high`."""
    width = max((low ^ high).bit_length(), SHORTEST.bit_length() - 1)
    first, length = low >> width << width, 1 << width
    if (
        low >> width != high >> width
        or max(-low, high) >= FARTHEST
        or length > max(SHORTEST, SPARSE * asked)
        or length * 2 * turns.pairs * np.dtype(dtype).itemsize > LIMIT // 4
    ):
        return None
    return _tables.get(
        (turns.key, dtype, first, length), lambda: _made(first, length, turns, dtype, team)
    )


def _made(first: int, length: int, turns: Turns, dtype: str, team: Team) -> _Table:
    """Turn (1, 0) to all positions: that gives cos and sin, in the bits that a kernel makes."""
    pairs = turns.pairs
    one = np.repeat(np.array([1, 0], dtype), pairs)
    values = np.empty((length, 2 * pairs), dtype)
    m = np.arange(first, first + length, dtype=np.int64)
    shape = (length, 1, 2 * pairs)
    x = Memory(one.ctypes.data, shape, (0, 0, one.itemsize), dtype)
    out = Memory(values.ctypes.data, shape, (values.strides[0], 0, one.itemsize), dtype)
    at = Memory(m.ctypes.data, m.shape, m.strides, "int64")
    given = "int64", at.shape, at.strides, ()
    plan = plan_of(dtype, shape, x.strides, out.strides, given, 1, pairs, False, False)
    _run(plan, x, out, at, turns, None, team)
    return _Table(first, length, values.ctypes.data, values)
