"""Rounding to bfloat16 by an instruction, where the processor has one: AVX-512 BF16.

It rounds to nearest, ties to even, as integers do in five operations, and makes a NaN a quiet one.
But it takes a number for zero that is subnormal, as float32 and so as bfloat16, and these are kept.
"""

import functools
from collections.abc import Iterable

from llvmlite import binding, ir

__all__ = ["any_subnormal", "fits", "paired_at_once"]

LANES = 16
"""Of the instructions."""

SUBNORMAL = 0x20
"""The class of these numbers in `vfpclassps`."""

LLVM = (20, 0, 0)
"""The least version in which the instruction returns numbers of that type."""

WORD = ir.IntType(32)


class _BFloat16(ir.Type):  # type: ignore[misc]  # llvmlite has no types
    """The type of LLVM, which llvmlite has no name for."""

    def _to_string(self) -> str:
        return "bfloat"


_JOINED = ir.VectorType(_BFloat16(), 2 * LANES)


@functools.cache
def _is_able() -> bool:
    """Tell whether the processor has the instruction, and LLVM a name for it."""
    features = binding.get_host_cpu_features()
    able = all(features.get(name) for name in ("avx512bf16", "avx512bw", "avx512dq"))
    return able and bool(binding.llvm_version_info >= LLVM)


def fits(lanes: int) -> bool:
    """Tell whether vectors of so many float32 are rounded by instructions here."""
    return lanes in (LANES, 2 * LANES, 4 * LANES) and _is_able()


def _picked(builder: ir.IRBuilder, lanes: Iterable[int], one: ir.Value, two: ir.Value) -> ir.Value:
    order = [ir.Constant(WORD, lane) for lane in lanes]
    mask = ir.Constant(ir.VectorType(WORD, len(order)), order)
    return builder.shuffle_vector(one, two, mask)


def _parts(builder: ir.IRBuilder, value: ir.Value) -> list[ir.Value]:
    """Cut a vector into those of an instruction."""
    starts = range(0, value.type.count, LANES)
    return [_picked(builder, range(start, start + LANES), value, value) for start in starts]


def _called(builder: ir.IRBuilder, name: str, kind: ir.Type, *arguments: ir.Value) -> ir.Value:
    function = builder.module.globals.get(name)
    if function is None:
        of = ir.FunctionType(kind, [one.type for one in arguments])
        function = ir.Function(builder.module, of, name)
    return builder.call(function, arguments)


def any_subnormal(builder: ir.IRBuilder, *values: ir.Value) -> ir.Value:
    """Tell whether there is a number in these vectors that the instruction takes for zero."""
    found = ir.Constant(ir.IntType(LANES), 0)
    asked, classes = ir.Constant(WORD, SUBNORMAL), ir.VectorType(ir.IntType(1), LANES)
    for value in values:
        for part in _parts(builder, value):
            some = _called(builder, "llvm.x86.avx512.fpclass.ps.512", classes, part, asked)
            found = builder.or_(found, builder.bitcast(some, found.type))
    return builder.icmp_unsigned("!=", found, ir.Constant(found.type, 0))


def paired_at_once(builder: ir.IRBuilder, first: ir.Value, second: ir.Value) -> ir.Value:
    """Round two vectors of float32, and put each number of the second above that of the first."""
    name = "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
    words = []
    for low, high in zip(_parts(builder, first), _parts(builder, second), strict=True):
        joined = _called(builder, name, _JOINED, high, low)  # the first of the two comes behind
        bits = builder.bitcast(joined, ir.VectorType(ir.IntType(16), 2 * LANES))
        mixed = [half for lane in range(LANES) for half in (lane, lane + LANES)]
        apart = _picked(builder, mixed, bits, bits)
        words.append(builder.bitcast(apart, ir.VectorType(WORD, LANES)))
    while len(words) > 1:
        pairs = zip(words[::2], words[1::2], strict=True)
        words = [_picked(builder, range(2 * one.type.count), one, two) for one, two in pairs]
    return words[0]
