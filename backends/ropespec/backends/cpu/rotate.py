"""The rotation of memory: what the backends of NumPy and torch call with addresses and strides."""

import ctypes
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.backends.cache import Cache
from ropespec.backends.cpu.machine import kernel_of
from ropespec.backends.cpu.plan import Plan, job, plan_of
from ropespec.backends.cpu.threads import Team, run
from ropespec.backends.phase import turns

__all__ = ["Turns", "rotate", "turns_of"]

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

Addresses = tuple[int, int, int, int]
"""Of x, out, positions or cos, and T_i or sin."""

_read = ctypes.c_int64.from_address

FARTHEST = 2**62
"""Beyond this the ends of a table might not fit in int64."""


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
    plan: Plan, x: int, out: int, angles: int, other: Turns | int, team: Callable[[], Team]
) -> None:
    """Write R_m x to `out`: the same memory in the same order, or other memory.

    Parameters
    ----------
    plan : Plan
        Of arguments that look like these.
    x, out, angles : int
        The addresses of x, of out, and of positions as int64 or of cos.
    other : Turns or int
        T_i for positions, the address of sin for cos.
    team : callable
        Tells who may work on it, where that takes more than one.
    """
    if not plan.tokens:
        return
    table, second = None, other
    if isinstance(second, Turns):
        if plan.tokens > SHORT:
            table = _table(plan, angles, second, team)
        second = second.address
    _run(plan, (x, out, angles, second), table, team)


def _run(plan: Plan, addresses: Addresses, table: _Table | None, team: Callable[[], Team]) -> None:
    """Do all jobs of a plan."""
    kernel, address = kernel_of(plan.dtype)
    kept = (0, 0, 0) if table is None else (table.address, table.first, table.length)
    x, out, a, b = addresses
    threads, parallel = 1, 0
    if plan.threads > 1:
        size, parallel = team()
        threads = min(plan.threads, size)
    for from_x, from_out, from_a, from_b in plan.offsets:
        numbers = job(plan, x + from_x, out + from_out, a + from_a, b + from_b, *kept)
        if threads < 2:
            kernel(numbers, 0, plan.tokens)
        else:
            run(kernel, address, numbers, plan.tokens, plan.step, threads, parallel)


def _table(plan: Plan, positions: int, turns: Turns, team: Callable[[], Team]) -> _Table | None:
    """Return a table for positions that begin and end as these do, if it pays.

    A kernel looks whether a position is in it, so it is no matter if others are not.
    """
    dtype = WIDE[plan.dtype]
    low, high = _read(positions).value, _read(positions + plan.reach).value
    low, high = (low, high) if low <= high else (high, low)
    latest = turns.latest.get(dtype)
    if latest is None or low < latest.first or high >= latest.first + latest.length:
        latest = _covering(low, high, plan.given, turns, dtype, team)
        if latest is not None:
            turns.latest[dtype] = latest
    return latest


def _covering(
    low: int, high: int, asked: int, turns: Turns, dtype: str, team: Callable[[], Team]
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


def _made(first: int, length: int, turns: Turns, dtype: str, team: Callable[[], Team]) -> _Table:
    """Turn (1, 0) to all positions: that gives cos and sin, in the bits that a kernel makes."""
    pairs = turns.pairs
    one = np.repeat(np.array([1, 0], dtype), pairs)
    values = np.empty((length, 2 * pairs), dtype)
    m = np.arange(first, first + length, dtype=np.int64)
    shape = (length, 1, 2 * pairs)
    x, out = (0, 0, one.itemsize), (values.strides[0], 0, one.itemsize)
    given = "int64", m.shape, m.strides, ()
    plan = plan_of(dtype, shape, x, out, given, 1, pairs, False, False)
    addresses = one.ctypes.data, values.ctypes.data, m.ctypes.data, turns.address
    _run(plan, addresses, None, team)
    return _Table(first, length, values.ctypes.data, values)
