"""Launching the Triton kernels: how the work is cut, and which strides they see.

Loading this module does not load Triton; the first launch does.
"""

import functools
import importlib.util
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["OPTIONS", "Geometry", "has_triton", "launch_positions", "launch_tables"]

WARPS = 4
OPTIONS = {"num_warps": WARPS, "num_stages": 1, "enable_fp_fusion": True}
"""How both kernels are compiled. Fused multiply-add, said aloud because its default differs
between versions, halves the arithmetic and stays within the budget (JDG-2)."""

FULL_GRID = 2048
"""Programs that fill a large card: 132 processors with about 12 programs of four warps each."""


@functools.cache
def has_triton() -> bool:
    """Tell whether Triton is installed, without loading it."""
    return importlib.util.find_spec("triton") is not None


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
    def of(
        cls, x: torch.Tensor, out: torch.Tensor, pairs: int, *, interleaved: bool, tail: int
    ) -> "Geometry":
        """Cut the work on x and out, both (B, S, H, D), for r = 2 * pairs."""
        vector = 16 // x.element_size()
        width = _cover(pairs)
        threads = max(1, (2 * width if interleaved else width) // vector)
        return cls(
            PAIRS=pairs,
            TAIL=tail,
            INTERLEAVED=interleaved,
            TOKENS=max(1, 32 * WARPS // threads),
            HEADS=min(4 if interleaved else 2, _cover(x.shape[2])),
            WIDTH=width,
            TAIL_WIDTH=_cover(tail) if tail else 0,
            UNIT=_unit(*x.stride()[:3], *out.stride()[:3]),
            WIDE=x.shape[0] * x.shape[1] + 32 * WARPS >= 2**31,
        )

    def constants(self) -> dict[str, int]:
        """Return the kernel's constants by name."""
        return {name: getattr(self, name) for name in self.__slots__}


def launch_positions(
    x: torch.Tensor,
    positions: torch.Tensor,
    turns: torch.Tensor,
    out: torch.Tensor,
    *,
    interleaved: bool,
    inverse: bool,
) -> None:
    """Write R_m x to `out`, cos and sin by exact phase (FREQ-9).

    Parameters
    ----------
    x, out : torch.Tensor of float, shape (..., S, H, D)
        Any strides; the same memory, or none in common.
    positions : torch.Tensor of int64
        Broadcasts to x.shape[:-2].
    turns : torch.Tensor of int64, shape (r/2,)
        T_i, contiguous.
    interleaved : bool
        The layout.
    inverse : bool
        Turn by the opposite angle.
    """
    from ropespec.backends.torch.cuda import kernels  # noqa: PLC0415  # loads Triton, if at all

    if x.numel() == 0:
        return
    m = positions.expand(x.shape[:-2])
    m = m if m.ndim == 2 else m.reshape(-1, m.shape[-1])
    flags = {"interleaved": interleaved, "inverse": inverse}
    arguments, kernel = (m, turns.contiguous()), kernels.rotate_positions_kernel
    _launch(kernel, x, out, arguments, m.stride(), turns.shape[0], **flags)


def launch_tables(
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    out: torch.Tensor,
    *,
    interleaved: bool,
    inverse: bool,
) -> None:
    """Write R_m x to `out`, cos and sin as they are given (ROT-22).

    Parameters
    ----------
    cos, sin : torch.Tensor of float32 or float64
        Broadcast to x.shape[:-2] + (r/2,).
    x, out, interleaved, inverse
        As in `launch_positions`.
    """
    from ropespec.backends.torch.cuda import kernels  # noqa: PLC0415  # loads Triton, if at all

    if x.numel() == 0:
        return
    pairs = cos.shape[-1]
    shape = (*x.shape[:-2], pairs)
    cos, sin = cos.expand(shape), sin.expand(shape)
    if cos.ndim != 3:
        cos, sin = cos.reshape(-1, *shape[-2:]), sin.reshape(-1, *shape[-2:])
    if cos.stride() != sin.stride():
        cos, sin = cos.contiguous(), sin.contiguous()
    flags = {"interleaved": interleaved, "inverse": inverse}
    _launch(kernels.rotate_tables_kernel, x, out, (cos, sin), cos.stride(), pairs, **flags)


def _launch(
    kernel: Any,  # noqa: ANN401  # Triton is not typed
    x: torch.Tensor,
    out: torch.Tensor,
    arguments: tuple[torch.Tensor, ...],
    strides: tuple[int, ...],
    pairs: int,
    *,
    interleaved: bool,
    inverse: bool,
) -> None:
    inside = x.data_ptr() == out.data_ptr() and x.stride() == out.stride()
    source, target = _batches(x), _batches(out)
    batch, length, heads, dim = source.shape
    cut = Geometry.of(
        source, target, pairs, interleaved=interleaved, tail=0 if inside else dim - 2 * pairs
    )
    blocks, tiles = -(-batch * length // cut.TOKENS), -(-heads // cut.HEADS)
    tiles = min(tiles, max(1, min(8 // cut.HEADS, blocks * tiles // FULL_GRID)))
    splits = -(-heads // (cut.HEADS * tiles))
    numbers = (batch * length, length, heads, tiles, splits, *strides)
    numbers += (*_strides(source, cut.UNIT), *_strides(target, cut.UNIT))
    with torch.cuda.device(x.device) if x.is_cuda else nullcontext():  # where Triton launches
        kernel[blocks * splits, 1, 1](
            source, target, *arguments, *numbers, INVERSE=inverse, **cut.constants(), **OPTIONS
        )
    if target.data_ptr() != out.data_ptr():
        out.copy_(target.view(out.shape))


def _batches(x: torch.Tensor) -> torch.Tensor:
    """Merge the leading axes of (..., S, H, D) into one: a view, or a copy where none exists."""
    return x if x.ndim == 4 else x.reshape(-1, *x.shape[-3:])


def _strides(x: torch.Tensor, unit: int) -> tuple[int, ...]:
    batch, row, head, component = x.stride()
    return batch // unit, row // unit, head // unit, component


def _unit(*strides: int) -> int:
    """Return the largest power of two that divides all strides, up to 16 elements."""
    bits = 16
    for stride in strides:
        bits |= stride
    return bits & -bits


def _cover(count: int) -> int:
    """Return the smallest power of two that is at least `count`."""
    return 1 << (count - 1).bit_length()
