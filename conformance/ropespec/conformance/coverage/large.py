"""Calls that are large in two sizes at once, made of a block that is repeated.

Copies of a block are judged whole for the price of one: of all copies of an element the worst is.
No length is a multiple of anything, so what a kernel takes from elsewhere is another part of the
block.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case
from ropespec.conformance.profile import Profile

__all__ = ["Block", "large_cases"]

TOKENS, HEADS = (509, 251, 127, 61, 31), 127
"""How many a block may have: all are primes."""

_ELEMENTS = 2**16  # of a block: few enough to lie near the processor

_CROWDS = ((17, 131, 9), (2, 3, 129))
_PAIRS = ((1031, 1033, 1), (1, 1033, 1031), (1031, 1, 1033))
_LONG = (
    *((65543, 1, 3), (1, 65539, 5), (3, 65537, 1), (1, 3, 65539)),
    *((4099, 263, 1), (1, 4099, 257), (263, 1, 4099)),
)
"""Rows, tokens, heads: beyond blocks of 8, 16, 128; beyond 1024 in pairs; beyond 65536, 4096."""

_BLOCKS = 2**8 * 3 * 5 * 7
_SEAMS = ((1, _BLOCKS + 1, 1), (1, _BLOCKS - 1, 1), (_BLOCKS + 1, 1, 1), (1, 1, _BLOCKS + 1))
"""One more and one less than whole blocks of every usual size: the last one is odd."""

_SPREAD = "spread"
_DISTINCT = ((40961, "arange", 0), (65551, "shuffled", 9))
"""Tokens that are all at other positions, the order of these, and the first.

They are more than 15 bits number, and more than 16; then neither tokens nor positions in so many
bits are what distinct positions are when these are counted in 16.
"""

_ROWS, _TOKENS, _MOST = 3, 4099, 2**24
"""Of the largest calls, and how many elements these have more than."""

_AXIS, _SOME, _FEW = 2**16, 263, 11
_USUAL_WIDTH = 128


@dataclass(frozen=True, slots=True)
class Block:
    """A part of x and of its positions, of which the whole is made, or all where they differ.

    Attributes
    ----------
    case : Case
        The case of the block.
    x, positions : ndarray
        (1, tokens, heads, head_dim) and (1, tokens).
    shape : tuple of int
        Of the whole: rows, tokens, heads, head_dim.
    alike : bool
        Whether all rows are, because they share their positions.
    """

    case: Case
    x: NDArray[Any]
    positions: NDArray[np.int64]
    shape: tuple[int, int, int, int]
    alike: bool

    @classmethod
    def of(cls, case: Case, profile: Profile) -> "Block":
        """Make the block of a case; positions are spread over all that are claimed."""
        alike = profile.shared_positions or profile.axes == "shd"
        heads = min(case.heads, HEADS)
        fits = [n for n in TOKENS if n * heads * case.head_dim <= _ELEMENTS] or TOKENS[-1:]
        tokens = min(case.seq if alike else case.batch * case.seq, fits[0])
        part = replace(case, batch=1, heads=heads)
        if case.positions == _SPREAD:
            part = replace(part, seq=tokens)
        positions = part.make_positions()
        return cls(part, part.make_x(positions), positions, case.shape, alike)

    def whole(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return x and positions of the whole."""
        rows, tokens, heads, dim = self.shape
        count = tokens if self.alike else rows * tokens
        wide = np.take(self.x[0], np.arange(heads) % self.x.shape[2], axis=1)
        x = np.resize(wide, (count, heads, dim))
        positions = np.resize(self.positions[0], count)
        if self.alike:
            return (
                np.broadcast_to(x, self.shape).copy(),
                np.broadcast_to(positions, self.shape[:2]).copy(),
            )
        return x.reshape(self.shape), positions.reshape(self.shape[:2])

    def worst(
        self, y: NDArray[Any], exact: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return of every element of the block the copy that is furthest off, and which token.

        Parameters
        ----------
        y : ndarray
            The whole that came back.
        exact : ndarray
            What the block must be, (1, tokens, heads, head_dim).
        """
        tokens, heads = exact.shape[1:3]
        rows = y if self.alike else y.reshape(1, -1, *y.shape[2:])
        found = rows[:1, :tokens, :heads].copy()
        most = _off(found, exact)
        at = np.zeros(found.shape, dtype=np.intp)
        for begin in range(0, rows.shape[1], tokens):
            for head in range(0, rows.shape[2], heads):
                part = rows[:, begin : begin + tokens, head : head + heads]
                place = np.s_[:, : part.shape[1], : part.shape[2]]
                off = _off(part, exact[place])
                row = np.zeros((1, *off.shape[1:]), dtype=np.intp)
                if len(rows) > 1:
                    row = off.argmax(axis=0)[None]
                    off, part = (np.take_along_axis(one, row, axis=0) for one in (off, part))
                worse = off > most[place]
                if worse.any():
                    found[place][worse], most[place][worse] = part[worse], off[worse]
                    origin = (row * rows.shape[1] + begin) * self.shape[2] + head
                    at[place][worse] = origin[worse]
        return found, at


def _off(y: NDArray[Any], exact: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each is off; what is no number is further off than any."""
    off = np.abs(y.astype(np.float64) - exact)
    off[np.isnan(off)] = np.inf
    return np.asarray(off)


def large_cases(
    profile: Profile, usual: Case, *, some: bool = False, full: bool = False
) -> list[Case]:
    """Return the large calls that a profile allows, every one in the first dtype.

    Parameters
    ----------
    profile : Profile
        The claims.
    usual : Case
        What is not said otherwise.
    some : bool
        Whether fewer will do, for a call that is dear.
    full : bool
        Whether the largest of all are made in every dtype.
    """
    usual = replace(usual, positions=_SPREAD)
    widths = list(profile.head_dims)
    narrow = min(widths)
    wide = max([dim for dim in widths if dim <= _USUAL_WIDTH], default=narrow)
    huge = (_ROWS, _TOKENS, _MOST // (_ROWS * _TOKENS * wide) + 1)
    first, *others = profile.dtypes
    asked = [(shape, narrow, first) for shape in (*_CROWDS, *_PAIRS, *_LONG, *_SEAMS)]
    asked += [(huge, wide, first)]
    for dtype in others:
        asked += [(shape, narrow, dtype) for shape in (_CROWDS[0], _PAIRS[0], _LONG[1], _SEAMS[0])]
        asked += [(huge, wide, dtype)] * full
    if some or profile.compiles:
        few = {_CROWDS[0], *_PAIRS, _LONG[1], *_SEAMS[:2], huge}
        if some and profile.compiles:
            few = {_PAIRS[0], huge}
        asked = [one for one in asked if one[0] in (few if one[2] == first else _PAIRS[:1])]
    cases = _distinct(profile, replace(usual, head_dim=narrow, dtype=first))
    for (most_rows, most_tokens, most_heads), dim, dtype in dict.fromkeys(asked):
        sizes = _within(most_rows, most_tokens, most_heads, dim=dim)
        rows, tokens = _allowed(profile, *sizes[:2])
        heads = sizes[2]
        cases.append(replace(usual, batch=rows, seq=tokens, heads=heads, head_dim=dim, dtype=dtype))
    return sorted(dict.fromkeys(cases), key=lambda case: math.prod(case.shape))


def _distinct(profile: Profile, usual: Case) -> list[Case]:
    """Return calls with more positions than 15 and 16 bits number, of those that are claimed."""
    tokens = profile.max_tokens or _DISTINCT[-1][0]
    return [
        replace(usual, batch=1, seq=length, heads=1, positions=order, start=start)
        for length, order, start in _DISTINCT
        if length <= tokens and start + length <= profile.max_position + 1
    ]


def _within(*sizes: int, dim: int) -> tuple[int, ...]:
    """Make sizes smaller where even the narrowest head has many components."""
    if math.prod(sizes) * dim <= 2 * _MOST:
        return sizes
    return tuple(n if n > _AXIS else min(n, _SOME) if n > _FEW else 1 for n in sizes)


def _allowed(profile: Profile, rows: int, tokens: int) -> tuple[int, int]:
    rows = 1 if profile.axes == "shd" else rows
    most = profile.max_tokens
    if most is None:
        return rows, tokens
    tokens = min(tokens, most)
    return max(min(rows, most // tokens), 1), tokens
