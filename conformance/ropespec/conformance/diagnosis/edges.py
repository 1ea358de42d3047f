"""Calls that fill a table to its last row, and calls whose ends alone are those of a run."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ropespec.conformance.mistakes.given import Given

if TYPE_CHECKING:
    from ropespec.conformance.diagnosis.battery import Maker

__all__ = ["edge", "edges", "farthest", "no_runs", "powers"]


def edge(maker: "Maker", power: int, dim: int, dtype: str) -> Given:
    """Make a call whose largest position is a power of two, and the one before it."""
    two = maker.given((1, 2, 2), "arange", 600 + power, dim=dim, dtype=dtype)
    positions = np.array([[2**power - 1, 2**power]])
    return replace(two, positions=np.minimum(positions, maker.profile.max_position))


def powers(maker: "Maker") -> range:
    """Return the powers of two at which tables may end."""
    return range(4, min(max(maker.profile.max_position, 16).bit_length(), 15))


def edges(maker: "Maker") -> Iterator[Given]:
    """Make calls that fill a table to its last row and beyond, the shortest first."""
    return (edge(maker, one, maker.dims[0], maker.profile.dtypes[0]) for one in powers(maker))


def farthest(maker: "Maker") -> Iterator[Given]:
    """Make calls of the widest heads at the farthest positions, where small errors are largest."""
    most = maker.profile.max_position
    far = np.linspace(most // 2, most, 8).astype(np.int64)[None]
    for dim in sorted(maker.dims)[-3:]:
        yield maker.given((1, 8, 1), far, 700 + dim, dim=dim)


def no_runs(maker: "Maker", seed: int) -> Iterator[Given]:
    """Make rows whose ends are as far apart as a run's, and which are none."""
    for k, shape in enumerate(((2, 5, 2), (1, 7, 3))):
        made = maker.given(shape, "from", seed + 30 + k)
        positions = made.positions.copy()
        positions[:, 1:3] = positions[:, 2:0:-1]
        yield replace(made, positions=positions)
