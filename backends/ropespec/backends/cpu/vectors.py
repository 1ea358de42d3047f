"""What kernels are made of: memory, and vectors of a length that is said, in the terms of LLVM.

A pointer knows the dtype of its elements. Numba has no half formats, so int16 stands for float16
and uint16 for bfloat16; both are float32 once they are loaded, and rounded to nearest even, ties
to even, when they are stored. A block of `width` pairs is loaded whole before any of it is stored.
"""

import math

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ropespec.backends.cpu.bfloat16 import any_subnormal, fits, paired_at_once

__all__ = [
    "at",
    "get",
    "is_bfloat16",
    "move",
    "narrow",
    "pointer",
    "put",
    "scale",
    "split",
    "spread",
    "turn_half_words",
    "turn_halves",
    "turn_neighbour_words",
    "turn_neighbours",
    "unit_circle",
]

FLOAT16, BFLOAT16 = types.int16, types.uint16
HALF, FLOAT, DOUBLE, WORD, INDEX = (
    ir.HalfType(), ir.FloatType(), ir.DoubleType(), ir.IntType(32), ir.IntType(64)
)  # fmt: skip
ELEMENTS = {
    FLOAT16: ir.IntType(16), BFLOAT16: ir.IntType(16), types.float32: FLOAT, types.float64: DOUBLE,
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
    """

    def __init__(self, builder, lanes):
        self.builder, self.lanes = builder, lanes

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
            value = self.builder.bitcast(halves, self.of(ir.IntType(16)))
        elif kind is BFLOAT16:
            value = self.builder.trunc(self.lower(self.rounded(value)), self.of(ir.IntType(16)))
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

    def rounded(self, value):
        """Round float32 to bfloat16, in the upper halves; a NaN must have nothing below."""
        words = self.builder.bitcast(value, self.of(WORD))
        odd = self.builder.and_(self.lower(words), self.all(WORD, 1))
        return self.builder.add(words, self.builder.add(odd, self.all(WORD, 0x7FFF)))

    def pair(self, first, second):
        """Round the bfloat16 numbers of a word, by an instruction where there is one."""
        if not fits(self.lanes):
            return self.paired(first, second)
        builder = self.builder
        with builder.if_else(any_subnormal(builder, first, second), likely=False) as branches:
            rare, usual = branches
            with rare:
                slowly, after = self.paired(first, second), builder.block
            with usual:
                at_once, end = paired_at_once(builder, first, second), builder.block
        words = builder.phi(self.of(WORD))
        words.add_incoming(slowly, after)
        words.add_incoming(at_once, end)
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


@intrinsic
def is_bfloat16(_, kind):
    """Tell the compiler, which drops the other branch."""
    found = ir.Constant(ir.IntType(1), int(kind.dtype is BFLOAT16))
    return types.boolean(kind), lambda *_: found


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


# --- blocks of tables --------------------------------------------------------------------------


@intrinsic(prefer_literal=True)
def scale(_, source, i, into, factor, width):
    """Write `factor` times as many elements as `width` says, from `i` on."""
    kind, lanes = source.dtype, width.literal_value

    def code(context, builder, signature, arguments):
        source, i, into, factor, _ = arguments
        block = Block(builder, lanes)
        block.store(builder.fmul(block.load(source, i, kind), block.same(factor)), into, i, kind)

    return types.void(source, types.int64, into, kind, width), code


@intrinsic(prefer_literal=True)
def spread(_, source, i, into, first, second, width):
    """Write every element twice, times `first` and times `second`."""
    kind, lanes = source.dtype, width.literal_value

    def code(context, builder, signature, arguments):
        source, i, into, first, second, _ = arguments
        block = Block(builder, lanes)
        loaded = block.load(source, i, kind)
        ones, twos = (builder.fmul(loaded, block.same(by)) for by in (first, second))
        mixed = [k for lane in range(lanes) for k in (lane, lane + lanes)]
        place = builder.add(i, i)
        Block(builder, 2 * lanes).store(block.pick(ones, mixed, twos), into, place, kind)

    return types.void(source, types.int64, into, kind, kind, width), code


@intrinsic(prefer_literal=True)
def split(_, source, i, into, half, factor, width):
    """Write `factor` times the even elements from `i` on, and the odd ones from `half` + `i` on."""
    kind, lanes = source.dtype, width.literal_value

    def code(context, builder, signature, arguments):
        source, i, into, half, factor, _ = arguments
        block, both = Block(builder, lanes), Block(builder, 2 * lanes)
        loaded = builder.fmul(both.load(source, builder.add(i, i), kind), both.same(factor))
        for part, place in ((0, i), (1, builder.add(i, half))):
            block.store(block.pick(loaded, range(part, 2 * lanes, 2)), into, place, kind)

    return types.void(source, types.int64, into, types.int64, kind, width), code


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


@intrinsic(prefer_literal=True)
def turn_halves(_, x1, x2, y1, y2, i, cos, sin, width):
    """Turn pairs whose components lie half a row apart."""
    kind, work, lanes = x1.dtype, cos.dtype, width.literal_value

    def code(context, builder, signature, arguments):
        x1, x2, y1, y2, i, cos, sin, _ = arguments
        block = Block(builder, lanes)
        a, b = block.load(x1, i, kind), block.load(x2, i, kind)
        first, second = block.turn(a, b, block.load(cos, i, work), block.load(sin, i, work))
        block.store(first, y1, i, kind)
        block.store(second, y2, i, kind)

    return types.void(x1, x2, y1, y2, types.int64, cos, sin, width), code


@intrinsic(prefer_literal=True)
def turn_neighbours(_, x, y, i, cos, sin, width):
    """Turn pairs side by side; tables are (c, c) and (-s, s) for each pair."""
    kind, work, lanes = x.dtype, cos.dtype, 2 * width.literal_value

    def code(context, builder, signature, arguments):
        x, y, i, cos, sin, _ = arguments
        block, i = Block(builder, lanes), builder.add(i, i)
        value = block.load(x, i, kind)
        swapped = block.pick(value, [lane ^ 1 for lane in range(lanes)])
        product = builder.fmul(swapped, block.load(sin, i, work))
        block.store(block.fma(value, block.load(cos, i, work), product), y, i, kind)

    return types.void(x, y, types.int64, cos, sin, width), code


def _words(builder, lanes):
    """Return how to load and store words of two bfloat16 numbers."""
    block = Block(builder, lanes)

    def load(start, i):
        return block.bits(builder.bitcast(start, WORD.as_pointer()), i, WORD)

    def store(value, start, i):
        block.put_bits(value, builder.bitcast(start, WORD.as_pointer()), i)

    return block, load, store


def _rows(builder, rows, *starts):
    """Yield, in a loop over rows, where each begins: a start is a pointer, and a step in bytes."""
    with cgutils.for_range(builder, rows, intp=INDEX) as loop:
        found = []
        for start, step in starts:
            byte = builder.bitcast(start, ir.IntType(8).as_pointer())
            place = builder.gep(byte, [builder.mul(loop.index, step)], inbounds=True)
            found.append(builder.bitcast(place, start.type))
        yield found


@intrinsic(prefer_literal=True)
def turn_neighbour_words(_, x, y, i, cos, sin, rows, x_step, y_step, width):
    """Turn pairs of bfloat16 side by side, each in a word, in so many rows."""
    lanes = width.literal_value

    def code(context, builder, signature, arguments):
        x, y, i, cos, sin, rows, x_step, y_step, _ = arguments
        block, load, store = _words(builder, lanes)
        c, s = (block.load(table, i, types.float32) for table in (cos, sin))
        for source, into in _rows(builder, rows, (x, x_step), (y, y_step)):
            words = load(source, i)
            a, b = block.upper(words), builder.bitcast(block.masked(words), block.of(FLOAT))
            store(block.pair(*block.turn(a, b, c, s)), into, i)

    given = types.int64, cos, sin, types.int64, types.int64, types.int64, width
    return types.void(x, y, *given), code


@intrinsic(prefer_literal=True)
def turn_half_words(_, x1, x2, y1, y2, i, cos, sin, half, rows, x_step, y_step, width):
    """Turn pairs of bfloat16 half a row apart, two in a word; tables are even pairs, then odd."""
    lanes = width.literal_value

    def code(context, builder, signature, arguments):
        x1, x2, y1, y2, i, cos, sin, half, rows, x_step, y_step, _ = arguments
        block, load, store = _words(builder, lanes)
        later = builder.add(i, half)
        c, s = (block.load(table, i, types.float32) for table in (cos, sin))
        c_odd, s_odd = (block.load(table, later, types.float32) for table in (cos, sin))
        each = (x1, x_step), (x2, x_step), (y1, y_step), (y2, y_step)
        for first, second, one, other in _rows(builder, rows, *each):
            v, w = load(first, i), load(second, i)
            even = block.turn(block.upper(v), block.upper(w), c, s)
            a, b = (builder.bitcast(block.masked(words), block.of(FLOAT)) for words in (v, w))
            odd = block.turn(a, b, c_odd, s_odd)
            store(block.pair(even[0], odd[0]), one, i)
            store(block.pair(even[1], odd[1]), other, i)

    given = types.int64, cos, sin, types.int64, types.int64, types.int64, types.int64, width
    return types.void(x1, x2, y1, y2, *given), code
