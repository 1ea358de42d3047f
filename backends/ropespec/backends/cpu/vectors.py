"""What kernels are made of: memory, and vectors of a length that is said, in the terms of LLVM.

A pointer knows the dtype of its elements. Numba has no half formats, so int16 stands for float16
and uint16 for bfloat16; both are float32 once they are loaded, and rounded to nearest even, ties
to even, when they are stored. A vector of pairs is loaded whole before any of it is stored.
"""

import functools
import math

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ropespec.backends.cpu.bfloat16 import (
    LANES,
    all_ample,
    fits,
    is_any_of_each_pair_ample,
    paired_at_once,
)
from ropespec.backends.cpu.plan import ALIGNED

__all__ = [
    "at",
    "get",
    "move",
    "narrow",
    "pointer",
    "put",
    "settle",
    "turn",
    "unit_circle",
]

FLOAT16, BFLOAT16 = types.int16, types.uint16
HALF, FLOAT, DOUBLE, SHORT, WORD, INDEX = (
    ir.HalfType(), ir.FloatType(), ir.DoubleType(), *map(ir.IntType, (16, 32, 64))
)  # fmt: skip
ELEMENTS = {
    FLOAT16: SHORT, BFLOAT16: SHORT, types.float32: FLOAT, types.float64: DOUBLE,
    types.int64: INDEX,
}  # fmt: skip


def wide(kind):
    """Return the type in which elements of `kind` are calculated with."""
    return types.float32 if kind in (FLOAT16, BFLOAT16) else kind


class Block:
    """Writes the instructions of one block: a builder, and the number of lanes.

    Parameters
    ----------
    builder : llvmlite.ir.IRBuilder
        Where the instructions go.
    lanes : int
        Elements of every vector; 0 for plain numbers.
    streams : bool
        Whether stores go past the cache, to addresses that are multiples of `ALIGNED`.
    """

    def __init__(self, builder, lanes, streams=False):
        self.builder, self.lanes, self.streams = builder, lanes, streams

    def cut(self, lanes):
        """Return a block of so many lanes, or of as many as this has."""
        return Block(self.builder, min(self.lanes, lanes), self.streams)

    def twice(self):
        """Return a block of twice as many lanes."""
        return Block(self.builder, 2 * self.lanes, self.streams)

    def of(self, element):
        """Return the type of a vector of `element`."""
        return ir.VectorType(element, self.lanes) if self.lanes else element

    def all(self, element, value):
        """Return a vector of one constant."""
        one = ir.Constant(element, value)
        return ir.Constant(self.of(element), [one] * self.lanes) if self.lanes else one

    def address(self, pointer, index, element):
        """Return the address of the vector that begins with element `index`."""
        place = self.builder.gep(pointer, [index], inbounds=True)
        return self.builder.bitcast(place, self.of(element).as_pointer())

    def bits(self, pointer, index, element):
        """Load a vector as it is, from any address."""
        loaded = self.builder.load(self.address(pointer, index, element))
        loaded.align = 1
        return loaded

    def put_bits(self, value, pointer, index):
        """Store a vector as it is."""
        stored = self.builder.store(
            value, self.address(pointer, index, getattr(value.type, "element", value.type))
        )
        stored.align = 1
        if self.streams:
            stored.align = ALIGNED
            module = self.builder.module
            stored.set_metadata("nontemporal", module.add_metadata([ir.Constant(WORD, 1)]))

    def load(self, pointer, index, kind):
        """Load elements of `kind`, widened."""
        loaded = self.bits(pointer, index, ELEMENTS[kind])
        if kind is FLOAT16:
            halves = self.builder.bitcast(loaded, self.of(HALF))
            return self.builder.fpext(halves, self.of(FLOAT))
        if kind is BFLOAT16:
            return self.upper(self.builder.zext(loaded, self.of(WORD)))
        return loaded

    def store(self, value, pointer, index, kind):
        """Store elements of `kind`, rounded."""
        if kind is FLOAT16:
            halves = self.builder.fptrunc(value, self.of(HALF))
            value = self.builder.bitcast(halves, self.of(SHORT))
        elif kind is BFLOAT16:
            value = self.builder.trunc(self.lower(self.rounded(value)), self.of(SHORT))
        self.put_bits(value, pointer, index)

    def upper(self, words):
        """Return the bfloat16 in the lower halves of words as float32."""
        return self.builder.bitcast(self.builder.shl(words, self.all(WORD, 16)), self.of(FLOAT))

    def lower(self, words):
        """Return the upper halves of words."""
        return self.builder.lshr(words, self.all(WORD, 16))

    def masked(self, words):
        """Return words without their lower halves."""
        return self.builder.and_(words, self.all(WORD, 0xFFFF0000))

    def over(self, words):
        """Return the bfloat16 in the upper halves of words as float32."""
        return self.builder.bitcast(self.masked(words), self.of(FLOAT))

    def rounded(self, value):
        """Round float32 to bfloat16, in the upper halves; a NaN must have nothing below."""
        words = self.builder.bitcast(value, self.of(WORD))
        odd = self.builder.and_(self.lower(words), self.all(WORD, 1))
        return self.builder.add(words, self.builder.add(odd, self.all(WORD, 0x7FFF)))

    def pair(self, first, second, is_normal):
        """Round the bfloat16 numbers of a word: at once if there can be nothing subnormal."""
        if is_normal is None:
            return self.paired(first, second)
        with self.builder.if_else(is_normal, likely=True) as (usual, rare):
            with usual:
                at_once = paired_at_once(self.builder, first, second), self.builder.block
            with rare:
                slowly = self.paired(first, second), self.builder.block
        words = self.builder.phi(self.of(WORD))
        words.add_incoming(*at_once)
        words.add_incoming(*slowly)
        return words

    def paired(self, first, second):
        """Round the bfloat16 numbers of a word, by integers."""
        low = self.lower(self.rounded(first))
        return self.builder.or_(low, self.masked(self.rounded(second)))

    def turn(self, a, b, c, s):
        """Return a c - b s and b c + a s, both with one product rounded alone."""
        builder = self.builder
        first = self.fma(a, c, builder.fneg(builder.fmul(b, s)))
        return first, self.fma(b, c, builder.fmul(a, s))

    def fma(self, a, b, c):
        """Return a * b + c, rounded once."""
        name = f"llvm.fma.v{self.lanes}{'f64' if a.type.element == DOUBLE else 'f32'}"
        kind = ir.FunctionType(a.type, [a.type] * 3)
        function = self.builder.module.globals.get(name)
        if function is None:
            function = ir.Function(self.builder.module, kind, name)
        return self.builder.call(function, [a, b, c])

    def small_angle(self, a):
        """Return cos and sin of an angle within an eighth of a turn, to an ulp."""
        builder = self.builder

        def polynomial(coefficients, z):
            value = self.all(DOUBLE, coefficients[-1])
            for coefficient in coefficients[-2::-1]:
                value = self.fma(value, z, self.all(DOUBLE, coefficient))
            return value

        z = builder.fmul(a, a)
        sin = self.fma(builder.fmul(polynomial(SINE, z), z), a, a)
        half = builder.fmul(z, self.all(DOUBLE, 0.5))
        one = self.all(DOUBLE, 1.0)
        near = builder.fsub(one, half)
        lost = builder.fsub(builder.fsub(one, near), half)
        cos = builder.fadd(near, self.fma(builder.fmul(z, z), polynomial(COSINE, z), lost))
        return cos, sin

    def same(self, number):
        """Return a vector of one number."""
        kind = self.of(number.type)
        one = self.builder.insert_element(ir.Constant(kind, ir.Undefined), number, WORD(0))
        return self.pick(one, [0] * self.lanes)

    def pick(self, vector, lanes, other=None):
        """Return these lanes of one vector, or of two joined."""
        other = ir.Constant(vector.type, ir.Undefined) if other is None else other
        order = ir.Constant(ir.VectorType(WORD, len(lanes)), [ir.Constant(WORD, i) for i in lanes])
        return self.builder.shuffle_vector(vector, other, order)


# --- one element -------------------------------------------------------------------------------


@intrinsic
def pointer(_, address, kind):
    """Return a pointer to elements of `kind` at `address`."""

    def code(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.CPointer(kind.dtype)(types.int64, kind), code


@intrinsic
def at(_, start, index):
    """Return the pointer to element `index`."""

    def code(context, builder, signature, arguments):
        return builder.gep(arguments[0], [arguments[1]], inbounds=True)

    return start(start, types.int64), code


@intrinsic
def get(_, start, index):
    """Load element `index`, widened."""
    kind = start.dtype

    def code(context, builder, signature, arguments):
        return Block(builder, 0).load(*arguments, kind)

    return wide(kind)(start, types.int64), code


@intrinsic
def put(_, start, index, value):
    """Store element `index`, rounded."""
    kind = start.dtype

    def code(context, builder, signature, arguments):
        target, place, number = arguments
        Block(builder, 0).store(number, target, place, kind)

    return types.void(start, types.int64, wide(kind)), code


@intrinsic
def narrow(_, value, start):
    """Return `value` as what the pointer `start` holds, rounded once or exact."""
    kind = start.dtype

    def code(context, builder, signature, arguments):
        return context.cast(builder, arguments[0], value, kind)

    return kind(value, start), code


# --- cos and sin -------------------------------------------------------------------------------

RADIANS = math.ldexp(math.tau, -64)
SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip
"""fdlibm's polynomials in z = a^2: of (sin a - a) / a^3 and of (cos a - 1 + z/2) / z^2."""


@intrinsic(prefer_literal=True)
def unit_circle(_, m, turns, i, cos, sin, width):
    """Write cos and sin of m * T_i, an angle that int64 keeps within a turn (FREQ-9).

    It is brought within an eighth of a turn without any rounding.
    """
    work, lanes = cos.dtype, width.literal_value

    def code(context, builder, signature, arguments):
        m, turns, i, cos, sin, _ = arguments
        block = Block(builder, lanes)
        phase = builder.mul(block.load(turns, i, types.int64), block.same(m))
        quarter = builder.ashr(builder.add(phase, block.all(INDEX, 2**61)), block.all(INDEX, 62))
        rest = builder.sub(phase, builder.shl(quarter, block.all(INDEX, 62)))
        angle = builder.fmul(builder.sitofp(rest, block.of(DOUBLE)), block.all(DOUBLE, RADIANS))
        values = block.small_angle(angle)
        odd = builder.trunc(quarter, block.of(ir.IntType(1)))
        for into, (even, other), shift in ((cos, values, 1), (sin, values[::-1], 0)):
            value = builder.bitcast(builder.select(odd, other, even), block.of(INDEX))
            turned = builder.add(quarter, block.all(INDEX, shift))
            half = builder.and_(turned, block.all(INDEX, 2))  # set beyond half a turn
            sign = builder.shl(half, block.all(INDEX, 62))
            value = builder.bitcast(builder.xor(value, sign), block.of(DOUBLE))
            if work is types.float32:
                value = builder.fptrunc(value, block.of(FLOAT))
            block.store(value, into, i, work)

    return types.void(types.int64, turns, types.int64, cos, sin, width), code


# --- blocks of rows ----------------------------------------------------------------------------


@intrinsic(prefer_literal=True)
def move(_, source, i, into, j, width):
    """Copy elements bit for bit."""
    kind, lanes = source.dtype, width.literal_value

    def code(context, builder, signature, arguments):
        source, i, into, j, _ = arguments
        block = Block(builder, lanes)
        block.put_bits(block.bits(source, i, ELEMENTS[kind]), into, j)

    return types.void(source, types.int64, into, types.int64, width), code


@intrinsic
def settle(_):
    """Let other threads see all that was stored before, past the cache too."""

    def code(context, builder, signature, arguments):
        builder.fence("seq_cst")

    return types.void(), code


def _rows(builder, rows, *starts):
    """Yield, in a loop over rows, where each begins: a start is a pointer, and a step in bytes."""
    with cgutils.for_range(builder, rows, intp=INDEX) as loop:
        found = []
        for start, step in starts:
            byte = builder.bitcast(start, ir.IntType(8).as_pointer())
            place = builder.gep(byte, [builder.mul(loop.index, step)], inbounds=True)
            found.append(builder.bitcast(place, start.type))
        yield found


def _pieces(block, width, *, i, cos, sin, sign, work):
    """Return, for every vector of a block, where it begins and its cos and sin, times `sign`."""
    builder, found = block.builder, []
    for start in range(0, width, block.lanes):
        at = builder.add(i, INDEX(start))
        s = builder.fmul(block.load(sin, at, work), block.same(sign))
        found.append((at, block.load(cos, at, work), s))
    return found


@intrinsic(prefer_literal=True)
def turn(
    _, x, y, i, pairs, interleaved, cos, sin, sign, rows, x_step, y_step, width, streams
):  # fmt: skip
    """Turn `width` pairs from pair `i` on in so many rows; tables are loaded once for all rows."""
    kind, work, lanes = x.dtype, cos.dtype, width.literal_value

    def code(context, builder, signature, arguments):
        x, y, i, pairs, interleaved, cos, sin, sign, rows, x_step, y_step, *_ = arguments
        block = Block(builder, lanes, streams.literal_value)
        tables = functools.partial(_pieces, i=i, cos=cos, sin=sin, sign=sign, work=work)
        with builder.if_else(interleaved) as (side_by_side, apart):
            with side_by_side:
                each = _rows(builder, rows, (x, x_step), (y, y_step))
                (_turn_words if kind is BFLOAT16 else _turn_neighbours)(block, each, tables, kind)
            with apart:
                x2, y2 = (builder.gep(start, [pairs], inbounds=True) for start in (x, y))
                each = _rows(builder, rows, (x, x_step), (x2, x_step), (y, y_step), (y2, y_step))
                by_two = kind is BFLOAT16 and lanes > 1
                (_turn_half_words if by_two else _turn_halves)(block, each, tables, kind)

    steps = types.int64, types.int64, types.int64
    given = types.int64, types.int64, types.boolean, cos, sin, work, *steps, width, streams
    return types.void(x, y, *given), code


def _turn_halves(whole, rows, tables, kind):
    """Turn pairs half a row apart."""
    block = whole.cut(LANES)
    pieces = tables(block, whole.lanes)
    for first, second, one, other in rows:
        for at, c, s in pieces:
            a, b = block.load(first, at, kind), block.load(second, at, kind)
            for turned, into in zip(block.turn(a, b, c, s), (one, other), strict=True):
                block.store(turned, into, at, kind)


def _turn_neighbours(whole, rows, tables, kind):
    """Turn pairs side by side."""
    builder, block, both = whole.builder, whole.cut(LANES // 2), whole.twice().cut(LANES)
    twice = [lane // 2 for lane in range(both.lanes)]
    signed = [lane // 2 + block.lanes * (lane % 2) for lane in range(both.lanes)]
    pieces = [
        (builder.add(at, at), block.pick(c, twice), block.pick(builder.fneg(s), signed, s))
        for at, c, s in tables(block, whole.lanes)
    ]
    for source, into in rows:
        for at, c, s in pieces:
            value = both.load(source, at, kind)
            swapped = both.pick(value, [lane ^ 1 for lane in range(both.lanes)])
            both.store(both.fma(value, c, builder.fmul(swapped, s)), into, at, kind)


def _are_ample(block, pieces):
    """Tell whether cos and sin are large enough to round at once; None if this cannot be done."""
    if not fits(block.lanes):
        return None
    return all_ample(block.builder, [table for _, *tables in pieces for table in tables])


def _turn_half_words(whole, rows, tables, _):
    """Turn pairs of bfloat16 half a row apart, an even and an odd one in a word."""
    builder, both = whole.builder, whole.cut(2 * LANES)
    block, pieces = both.cut(both.lanes // 2), tables(both, whole.lanes)
    able = _are_ample(block, pieces)
    parted = [
        (at, [[both.pick(table, range(odd, both.lanes, 2)) for table in given] for odd in (0, 1)])
        for at, *given in pieces
    ]
    for first, second, one, other in rows:
        for at, (even, odd) in parted:
            v, w = block.bits(first, at, WORD), block.bits(second, at, WORD)
            is_normal = able
            if able is not None:
                pairs = builder.bitcast(builder.or_(v, w), both.of(SHORT))
                is_normal = is_any_of_each_pair_ample(builder, able, pairs)
            low = block.turn(block.upper(v), block.upper(w), *even)
            high = block.turn(block.over(v), block.over(w), *odd)
            for of_two, into in zip(zip(low, high, strict=True), (one, other), strict=True):
                block.put_bits(block.pair(*of_two, is_normal), into, at)


def _turn_words(whole, rows, tables, _):
    """Turn pairs of bfloat16 side by side, each of them a word."""
    builder, block = whole.builder, whole.cut(LANES)
    pieces = tables(block, whole.lanes)
    able = _are_ample(block, pieces)
    pieces = [(builder.add(at, at), c, s) for at, c, s in pieces]
    for source, into in rows:
        for at, c, s in pieces:
            words = block.bits(source, at, WORD)
            is_normal = able and is_any_of_each_pair_ample(builder, able, words)
            turned = block.turn(block.upper(words), block.over(words), c, s)
            block.put_bits(block.pair(*turned, is_normal), into, at)
