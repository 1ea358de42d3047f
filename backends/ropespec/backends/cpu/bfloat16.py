"""Rounding to bfloat16 by an instruction, where the processor has one: AVX-512 BF16.

It rounds to nearest, ties to even, as integers do in five operations, and makes a NaN a quiet one.
But it takes a number for zero that is subnormal, as float32 and so as bfloat16, and these are kept.

A rotated pair has none if a component of the pair is 2^-63 or more, and cos and sin are 2^-30 or
more. Say |a| is, of a c - b s. Then |a c| is 2^-93 or more, and so is half of it unless the two
cancel. If they do, a c has 32 bits and is a multiple of 2^-125, as is b s when it is rounded alone
to 24 bits; and so is what is left, if anything is. The same holds of b c + a s, and of |b|.
"""

import functools
from collections.abc import Iterable

from llvmlite import binding, ir

__all__ = ["all_ample", "fits", "is_any_of_each_pair_ample", "paired_at_once"]

LANES = 16
"""Of the instructions."""

LLVM = (20, 0, 0)
"""The least version in which the instruction returns numbers of that type."""

WORD = ir.IntType(32)

AMPLE = (127 - 30) << 23
"""The bits of 2^-30."""

HIGH = 0x6000
"""Bits of a bfloat16, of which one is set from 2^-63 on."""


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


def _parts(builder: ir.IRBuilder, value: ir.Value, lanes: int = LANES) -> list[ir.Value]:
    """Cut a vector into those of an instruction."""
    starts = range(0, value.type.count, lanes)
    return [_picked(builder, range(start, start + lanes), value, value) for start in starts]


def _called(builder: ir.IRBuilder, name: str, kind: ir.Type, *arguments: ir.Value) -> ir.Value:
    function = builder.module.globals.get(name)
    if function is None:
        of = ir.FunctionType(kind, [one.type for one in arguments])
        function = ir.Function(builder.module, of, name)
    return builder.call(function, arguments)


def _same(kind: ir.VectorType, value: int) -> ir.Constant:
    return ir.Constant(kind, [ir.Constant(kind.element, value)] * kind.count)


def _all(builder: ir.IRBuilder, found: ir.Value) -> ir.Value:
    bits = builder.bitcast(found, ir.IntType(found.type.count))
    return builder.icmp_unsigned("==", bits, ir.Constant(bits.type, -1))


def all_ample(builder: ir.IRBuilder, tables: list[ir.Value]) -> ir.Value:
    """Tell whether all of cos and sin are 2^-30 or more in magnitude."""
    found = None
    for part in (part for table in tables for part in _parts(builder, table)):
        bits = builder.bitcast(part, ir.VectorType(WORD, LANES))
        magnitude = builder.and_(bits, _same(bits.type, 0x7FFFFFFF))
        ample = builder.icmp_unsigned(">=", magnitude, _same(bits.type, AMPLE))
        found = ample if found is None else builder.and_(found, ample)
    return _all(builder, found)


def is_any_of_each_pair_ample(builder: ir.IRBuilder, also: ir.Value, pairs: ir.Value) -> ir.Value:
    """Tell whether `also`, and of each pair a component is 2^-63 or more in magnitude.

    Pairs are words of two bfloat16, or 16 bits in which all is set that is set in a component.
    """
    size = pairs.type.element.width
    lanes = 512 // size
    asked = HIGH if size == 16 else HIGH << 16 | HIGH
    flag = builder.sext(also, ir.IntType(lanes))
    found = builder.bitcast(flag, ir.VectorType(ir.IntType(1), lanes))
    for part in _parts(builder, pairs, lanes):
        high = builder.and_(part, _same(part.type, asked))
        found = builder.and_(found, builder.icmp_unsigned("!=", high, _same(part.type, 0)))
    return _all(builder, found)


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
