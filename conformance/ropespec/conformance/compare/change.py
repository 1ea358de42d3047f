"""What has to be changed for two conventions to agree, and the channels it moves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.compare.turn import Turn

__all__ = ["Change", "change_between", "channel_list", "into_a", "into_b"]


@dataclass(frozen=True, slots=True)
class Change:
    """What makes B do what A does.

    Attributes
    ----------
    layout, direction : bool
        Whether the pairing, and whether the sense of rotation differ: both are mended by
        permuting channels, for turning (x1, x2) clockwise is turning (x2, x1) counter-clockwise.
    offset : int
        Added to the positions that B is given.
    base : tuple of float or None
        The bases of A and B where they differ; B then has to be given that of A.
    rotary_dim : int or None
        What B has to be given to turn as many components as A.
    """

    layout: bool = False
    direction: bool = False
    offset: int = 0
    base: tuple[float, float] | None = None
    rotary_dim: int | None = None

    @property
    def permutes(self) -> bool:
        """Whether channels have to be permuted."""
        return self.layout or self.direction

    @property
    def needed(self) -> bool:
        """Whether anything has to be changed."""
        others = self.offset != 0 or self.base is not None or self.rotary_dim is not None
        return self.permutes or others


def change_between(a: Turn, b: Turn, head_dim: int, *, b_takes_rotary_dim: bool) -> Change | None:
    """Return what makes B do what A does, or None if no change of these kinds can."""
    rotary_dim = None
    if a.rotary_dim(head_dim) != b.rotary_dim(head_dim):
        if not b_takes_rotary_dim:
            return None
        rotary_dim = a.rotary_dim(head_dim)
    if a.of_head != b.of_head:
        return None
    placed = [(one.pairing, one.last) for one in (a, b)]
    return Change(
        layout=placed[0] != placed[1],
        direction=a.clockwise != b.clockwise,
        offset=a.offset - b.offset,
        base=None if a.base == b.base else (a.base, b.base),
        rotary_dim=rotary_dim,
    )


def channel_list(a: Turn, b: Turn, head_dim: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return for each channel of B the channel of A that belongs there, before and after turning.

    The first list orders the rows of W_q and W_k within each head: W_B = W_A[list]. The second
    orders the results; it is the same but where a side does not put pairs back where they were.
    """
    swapped = a.clockwise != b.clockwise
    before = _matched(a.inputs(head_dim), b.inputs(head_dim), head_dim, swapped=swapped)
    after = _matched(a.outputs(head_dim), b.outputs(head_dim), head_dim, swapped=swapped)
    return before, after


def _matched(
    a: NDArray[np.intp], b: NDArray[np.intp], head_dim: int, *, swapped: bool
) -> tuple[int, ...]:
    source = a[:, ::-1] if swapped else a
    order = np.empty(head_dim, dtype=np.intp)
    order[b.ravel()] = source.ravel()
    every = np.arange(head_dim)
    order[np.setdiff1d(every, b)] = np.setdiff1d(every, a)
    return tuple(int(i) for i in order)


def into_b(x: NDArray[Any], before: Sequence[int]) -> NDArray[Any]:
    """Put the channels of A's x in the order of B."""
    return np.ascontiguousarray(x[..., list(before)])


def into_a(y: NDArray[Any], after: Sequence[int]) -> NDArray[Any]:
    """Put the channels of B's y in the order of A."""
    ordered = np.empty_like(y)
    ordered[..., list(after)] = y
    return ordered
