"""Every position of a range: the calls, and a test that settles most elements at once."""

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.judge.budget import Machine, angle_error, table_error
from ropespec.conformance.judge.precision import Precision, arithmetic_dtype
from ropespec.conformance.judge.rotation import Rotation, pairs_of, rest_of
from ropespec.conformance.profile import Profile

__all__ = ["LAST", "Units", "blocks", "units_of", "unsettled"]

LAST = 2**17 - 1
"""The last position that is visited where more are claimed."""

_TOKENS = 2**14
_USUAL_WIDTH = 64
_NARROW = 8


def blocks(profile: Profile, usual: Case) -> Iterator[Case]:
    """Cut the range of all positions into calls of equal length, in every dtype.

    Positions below zero are visited in the first dtype, with fewer pairs.

    Parameters
    ----------
    profile : Profile
        The claims.
    usual : Case
        What is not said otherwise.
    """
    most = min(profile.max_position, LAST)
    tokens = min(_TOKENS, most + 1, profile.max_tokens or _TOKENS)
    widths = list(profile.head_dims)
    wide = max([dim for dim in widths if dim <= _USUAL_WIDTH], default=min(widths))
    narrow = max([dim for dim in widths if dim <= _NARROW], default=min(widths))
    starts = sorted({*range(0, most + 2 - tokens, tokens), most + 1 - tokens})
    one = replace(usual, batch=1, seq=tokens, heads=1, values="ones", positions="arange")
    for start in starts:
        for dtype in profile.dtypes:
            yield replace(one, head_dim=wide, dtype=dtype, start=start)
    if profile.negative_positions:
        for start in starts:
            yield replace(one, head_dim=narrow, positions="negative", start=start)


class Units(NamedTuple):
    """x of which every pair is (1, 0) or (0, 1), in turn, and R_m x: cos and sin are seen."""

    x: NDArray[np.float64]
    positions: NDArray[np.int64]
    exact: Rotation


def units_of(case: Case) -> Units:
    """Make the unit pairs of a case; dtypes of one block share them."""
    return _units(replace(case, dtype="float64", seed=0))


@functools.lru_cache(maxsize=1)
def _units(case: Case) -> Units:
    positions = case.make_positions()
    x = np.ones(case.shape)
    first, second = pairs_of(x, case.convention)
    first[:, 1::2, :, ::2] = first[:, ::2, :, 1::2] = 0.0
    second[:, ::2, :, ::2] = second[:, 1::2, :, 1::2] = 0.0
    return Units(x, positions, Rotation.of(x, positions, case.convention))


def unsettled(
    y: NDArray[np.floating], units: Units, precision: Precision, machine: Machine
) -> NDArray[np.intp]:
    """Return the tokens of unit pairs of which this does not show that they hold a class.

    The budget of an element is at least what is compared with here, which leaves out most of its
    terms: of the angle that of first order is kept, of the table the relative one.
    """
    exact = units.exact
    working = arithmetic_dtype(y.dtype.name)
    off = angle_error(
        precision.angle,
        exact.pairs.position,
        exact.pairs.theta,
        arithmetic=working,
        machine=machine,
    )
    relative, _ = table_error(precision, working, {y.dtype.name}, machine)
    # 2 sin(D/2) and D + D^2/2 are both at least 0.95 D up to D = 1.
    least = 0.95 * np.minimum(off, 1.0)
    wanted, got = (pairs_of(one, exact.by) for one in (exact.y, y))
    own, other = np.abs(wanted[0]), np.abs(wanted[1])
    lost = np.zeros(y.shape[1], dtype=bool)
    for part, value, here, there in (
        (got[0], wanted[0], own, other),
        (got[1], wanted[1], other, own),
    ):
        settled = np.abs(part - value) <= least * there + relative * here
        lost |= ~settled.all(axis=(0, 2, 3))
    same = rest_of(y, exact.by).astype(np.float64) == exact.tail
    return np.flatnonzero(lost | ~same.all(axis=(0, 2, 3)))
