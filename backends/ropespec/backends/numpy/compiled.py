"""The sparse form by the kernel for CPUs, which sees arrays by their addresses and strides."""

import sys
from typing import Any

import numpy as np

from ropespec.backends.cpu.rotate import Memory, rotate, turns_of
from ropespec.backends.cpu.threads import Team
from ropespec.backends.numpy.arrays import Array

__all__ = ["rotate_positions", "rotate_tables"]


def rotate_positions(
    x: Array, out: Array, positions: Array, dim: int, base: float, *, interleaved: bool, dtype: str
) -> None:
    """As in `plain`; `dtype` is the bare name of that of x, in the machine's byte order."""
    if positions.dtype != np.int64:
        positions = positions.astype(np.int64)
    _rotate(x, out, positions, turns_of(dim, base), interleaved, (dtype, "int64"))


def rotate_tables(
    x: Array, out: Array, cos: Array, sin: Array, *, interleaved: bool, dtypes: tuple[str, str]
) -> None:
    """As in `plain`; `dtypes` are the bare names of those of x and of the tables."""
    table = _memory(sin, dtypes[1])
    _rotate(x, out, cos, table, interleaved, dtypes)


def _rotate(
    x: Array,
    out: Array,
    angles: Array,
    other: Any,  # noqa: ANN401  # what `rotate` takes
    interleaved: bool,
    dtypes: tuple[str, str],
) -> None:
    rotate(
        _memory(x, dtypes[0]),
        _memory(out, dtypes[0]),
        _memory(angles, dtypes[1]),
        other,
        interleaved=interleaved,
        inverse=False,
        unit=1,
        team=_team(),
    )


def _memory(array: Array, dtype: str) -> Memory:
    return Memory(array.__array_interface__["data"][0], array.shape, array.strides, dtype)


def _team() -> Team:
    """Return as many threads as Numba is set to, without making it start any."""
    started = sys.modules.get("numba.np.ufunc.parallel")
    if started is not None and started._is_initialized:  # noqa: SLF001  # asking would start them
        return Team(started.get_num_threads())
    return Team(sys.modules["numba"].config.NUMBA_NUM_THREADS)
