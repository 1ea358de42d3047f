"""The sparse form by the kernel for CPUs, which sees arrays by their addresses and strides."""

import contextlib
import ctypes
import functools
import os
import sys

import numpy as np

from ropespec.backends.cpu.plan import Given, plan_of
from ropespec.backends.cpu.rotate import Turns, rotate, turns_of
from ropespec.backends.cpu.threads import Team
from ropespec.backends.numpy.arrays import Array

__all__ = ["rotate_positions", "rotate_tables"]

HEAD = object.__basicsize__
"""Bytes of an array before the address of its elements, which comes first (`PyArrayObject`)."""

_pointer = ctypes.c_size_t.from_address


def rotate_positions(
    x: Array,
    out: Array,
    positions: Array,
    dim: int,
    base: float,
    *,
    interleaved: bool,
    dtype: str,
    reused: bool,
) -> None:
    """As in `plain`; `dtype` is the bare name of that of x, in the machine's byte order."""
    if positions.dtype != np.int64:
        positions = positions.astype(np.int64)
    given = "int64", positions.shape, positions.strides, ()
    turns = turns_of(dim, base)
    angles = _address(positions), turns, turns.pairs
    _rotate(x, out, dtype, given, *angles, interleaved, reused)


def rotate_tables(
    x: Array,
    out: Array,
    cos: Array,
    sin: Array,
    *,
    interleaved: bool,
    dtypes: tuple[str, str],
    reused: bool,
) -> None:
    """As in `plain`; `dtypes` are the bare names of those of x and of the tables."""
    *rows, pairs = cos.shape
    given = dtypes[1], tuple(rows), cos.strides, sin.strides
    angles = _address(cos), _address(sin), pairs
    _rotate(x, out, dtypes[0], given, *angles, interleaved, reused)


def _rotate(
    x: Array,
    out: Array,
    dtype: str,
    given: Given,
    angles: int,
    other: Turns | int,
    pairs: int,
    interleaved: bool,
    reused: bool,
) -> None:
    look = dtype, x.shape, x.strides, out.strides, given, 1, pairs
    plan = plan_of(*look, interleaved, False, reused)
    rotate(plan, _address(x), _address(out), angles, other, _team)


def _address(array: Array) -> int:
    """Return where the first element lies.

    `__array_interface__` tells it as well, and takes as long as all else here together.
    """
    address: int = _pointer(id(array) + HEAD).value
    return address


def _team() -> Team:
    """Return as many threads as Numba is set to, or would be, without making it start any."""
    started = sys.modules.get("numba.np.ufunc.parallel")
    if started is not None and started._is_initialized:  # noqa: SLF001  # asking would start them
        return Team(started.get_num_threads())
    numba = sys.modules.get("numba")
    return Team(_threads() if numba is None else numba.config.NUMBA_NUM_THREADS)


@functools.cache
def _threads() -> int:
    """Return how many threads Numba would start, from what it would read."""
    told = os.environ.get("NUMBA_NUM_THREADS", "")
    if told.isdecimal() and int(told) > 0:
        return int(told)
    with contextlib.suppress(AttributeError):  # not everywhere
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
