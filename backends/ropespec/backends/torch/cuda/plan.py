"""How the work of a launch is cut, and which strides the kernel sees: of sizes alone."""

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

__all__ = ["WARPS", "Geometry", "Plan", "Shapes", "plan"]

WARPS = 4

FULL_GRID = 2048
"""Programs that fill a large card: 132 processors with about 12 programs of four warps each."""

KEPT = 1024
"""Plans that are kept: a model asks for a few, and to make one takes longer than a launch."""

Sizes = tuple[int, ...]


class Shapes(NamedTuple):
    """All of a call but its memory.

    Attributes
    ----------
    x : tuple of int
        (..., S, H, D).
    strides, out_strides : tuple of int
        Of x and out, in elements.
    itemsize : int
        Of x and out, in bytes.
    angles, angle_strides : tuple of int
        Shape and strides of the positions, which broadcast to x.shape[:-2], or of each table, which
        has one axis more.
    tables : bool
        Whether they are tables.
    pairs : int
        r/2.
    interleaved : bool
        The layout.
    in_place : bool
        out is x.
    """

    x: Sizes
    strides: Sizes
    out_strides: Sizes
    itemsize: int
    angles: Sizes
    angle_strides: Sizes
    tables: bool
    pairs: int
    interleaved: bool
    in_place: bool


@dataclass(frozen=True, slots=True)
class Geometry:
    """The sizes that a kernel is compiled for: all of them are constants to it.

    A thread moves 16 bytes at a time, and takes four vectors in flight before it stores: four heads
    of an interleaved row, or two heads of two halves. Four warps hold as many tokens as fit, so
    that every thread has one token and one group of pairs, whose cos and sin stay in registers
    over all heads: some 50 instructions for a pair's cos and sin, against the 50 or so that a
    processor has time for while a pair of half-precision numbers comes and goes, are then shared
    by the heads of a program, eight where there are enough tokens to fill the card without.

    Attributes
    ----------
    PAIRS : int
        r/2, the number of pairs that turn.
    TAIL : int
        Components to copy behind them: D - r, or 0 where they are in place already.
    INTERLEAVED : bool
        The layout.
    TOKENS, HEADS : int
        Tokens and heads of a tile, powers of two.
    WIDTH, TAIL_WIDTH : int
        Powers of two that cover PAIRS and TAIL; 0 for no tail.
    UNIT : int
        All strides of x and out but the innermost are multiples of it.
    WIDE : bool
        True where the number of tokens does not fit in int32.
    """

    PAIRS: int
    TAIL: int
    INTERLEAVED: bool
    TOKENS: int
    HEADS: int
    WIDTH: int
    TAIL_WIDTH: int
    UNIT: int
    WIDE: bool

    @classmethod
    def of(cls, shapes: Shapes, batch: int, unit: int) -> "Geometry":
        """Cut the work on `batch` times (S, H, D), whose strides are multiples of `unit`."""
        length, heads, dim = shapes.x[-3:]
        tail = 0 if shapes.in_place else dim - 2 * shapes.pairs
        vector = 16 // shapes.itemsize
        width = _cover(shapes.pairs)
        threads = max(1, (2 * width if shapes.interleaved else width) // vector)
        return cls(
            PAIRS=shapes.pairs,
            TAIL=tail,
            INTERLEAVED=shapes.interleaved,
            TOKENS=max(1, 32 * WARPS // threads),
            HEADS=min(4 if shapes.interleaved else 2, _cover(heads)),
            WIDTH=width,
            TAIL_WIDTH=_cover(tail) if tail else 0,
            UNIT=unit,
            WIDE=batch * length + 32 * WARPS >= 2**31,
        )

    def constants(self) -> dict[str, int]:
        """Return the kernel's constants by name."""
        return {name: getattr(self, name) for name in self.__slots__}


class Plan(NamedTuple):
    """A launch but for its addresses.

    Attributes
    ----------
    grid : tuple of int
        Programs along three axes.
    numbers : tuple of int
        The kernel's numbers in their order.
    constants : dict of str to int
        Its constants by name, in their order.
    compiled : dict
        What starts what was compiled for it, and what that is given behind the addresses, by all
        that a kernel depends on beside sizes.
    """

    grid: Sizes
    numbers: Sizes
    constants: dict[str, int]
    compiled: dict[Hashable, tuple[Callable[..., None], Sizes]]


@functools.lru_cache(KEPT)
def plan(shapes: Shapes) -> Plan | None:
    """Return how to launch, or None where the leading axes of an array are no single one."""
    lead = shapes.x[:-3]
    angle = _angle_strides(shapes)
    batches = [
        _merged(lead, strides[: len(lead)])
        for strides in (angle, shapes.strides, shapes.out_strides)
    ]
    if None in batches:
        return None
    batch = functools.reduce(int.__mul__, lead, 1)
    sizes = batch, *shapes.x[-3:]
    angle, source, target = (
        (first or 0, *strides[len(lead) :])
        for first, strides in zip(batches, (angle, shapes.strides, shapes.out_strides), strict=True)
    )
    unit = _unit(zip((*sizes[:3], *sizes[:3]), (*source[:3], *target[:3]), strict=True))
    cut = Geometry.of(shapes, batch, unit)
    constants = cut.constants()
    if shapes.tables:
        constants["A_UNIT"] = _unit(zip(sizes[:2], angle[:2], strict=True))
        angle = *(stride // constants["A_UNIT"] for stride in angle[:2]), angle[2]
    _, length, heads, _ = sizes
    blocks, tiles = -(-batch * length // cut.TOKENS), -(-heads // cut.HEADS)
    tiles = min(tiles, max(1, min(8 // cut.HEADS, blocks * tiles // FULL_GRID)))
    splits = -(-heads // (cut.HEADS * tiles))
    numbers = (batch * length, length, heads, tiles, splits, *angle)
    for *outer, component in (source, target):
        numbers += (*(stride // unit for stride in outer), component)
    return Plan((blocks * splits, 1, 1), numbers, constants, {})


def _angle_strides(shapes: Shapes) -> Sizes:
    """Return the strides of the angles broadcast to x.shape[:-2], and of the pairs if any."""
    end = len(shapes.angles) - shapes.tables
    given = zip(shapes.angles[:end], shapes.angle_strides, strict=False)
    rows = tuple(0 if n == 1 else stride for n, stride in given)
    return (*[0] * (len(shapes.x) - 2 - end), *rows, *shapes.angle_strides[end:])


def _merged(lengths: Sequence[int], strides: Sequence[int]) -> int | None:
    """Return the stride of these axes read as one, or None where they cannot be."""
    axes = [(n, stride) for n, stride in zip(lengths, strides, strict=True) if n > 1]
    if any(outer != n * inner for (_, outer), (n, inner) in pairwise(axes)):
        return None
    return axes[-1][1] if axes else 0


def _unit(axes: Iterable[tuple[int, int]]) -> int:
    """Return the largest power of two, up to 16, that divides the strides of all (length, stride).

    That of a single index is never taken.
    """
    bits = 16
    for length, stride in axes:
        bits |= stride if length > 1 else 0
    return bits & -bits


def _cover(count: int) -> int:
    """Return the smallest power of two that is at least `count`."""
    return 1 << (count - 1).bit_length()
