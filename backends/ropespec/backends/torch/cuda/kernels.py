"""The Triton kernels: R_m x in one read and one write of x, from positions or from tables.

A program takes a block of tokens and walks over the heads, so cos and sin of a token are made once
for all of them. A tile is read as rows of components, all tokens of one head, then those of the
next: neighbouring threads read neighbouring bytes, 16 each, and as one head's tokens take all
threads, every thread keeps the cos and sin of its own token and pairs in registers. With only two
axes, of which one is contiguous, no version of Triton has a choice in which order threads take
them; of heads, tokens and components as three axes some give a thread several tokens. Interleaved
rows are read whole and parted in registers.

Importing this module needs Triton, which comes with torch for CUDA.
"""

import math

import triton
import triton.language as tl

__all__ = ["rotate_positions_kernel", "rotate_tables_kernel"]

# A reduced angle a * 2^k + b units is COARSE * a + (FINE * a + UNIT * b) radians, where COARSE has
# so few bits that COARSE * a is exact: 2 pi = 2^n (COARSE + FINE), with n = 64 - k; in float32 a
# unit is 2^-32 turn and k is 17, in float64 it is 2^-64 turn and k is 35.
COARSE_32 = tl.constexpr(float.fromhex("0x1.92p-13"))
FINE_32 = tl.constexpr(float.fromhex("0x1.fb5444p-25"))
UNIT_32 = tl.constexpr(math.ldexp(math.tau, -32))
COARSE_64 = tl.constexpr(float.fromhex("0x1.921fb4p-27"))
FINE_64 = tl.constexpr(float.fromhex("0x1.4442d18469899p-51"))
UNIT_64 = tl.constexpr(math.ldexp(math.tau, -64))


@triton.jit
def circle_32(phase):
    """Return cos and sin in float32 of `phase`, int64 in units of 2^-64 turn (FREQ-9)."""
    high = (phase >> 32).to(tl.int32)
    quarter = (high + (1 << 29)) >> 30  # the nearest quarter turn; at half a turn it wraps to -2
    rest = high - (quarter << 30)  # within an eighth of a turn
    a = (rest + (1 << 16)) >> 17
    b = (rest - (a << 17)).to(tl.float32) + phase.to(tl.uint32).to(tl.float32) * 2.0**-32
    angle = COARSE_32 * a.to(tl.float32) + (FINE_32 * a.to(tl.float32) + UNIT_32 * b)
    # The series (CPLX-5); the first term left out is below a tenth of the last place.
    z = angle * angle
    p = ((z * (1.0 / 362880) - 1.0 / 5040) * z + 1.0 / 120) * z - 1.0 / 6
    sin = angle + angle * z * p
    p = (((z * (-1.0 / 3628800) + 1.0 / 40320) * z - 1.0 / 720) * z + 1.0 / 24) * z
    cos = 1.0 - z * (0.5 - p)
    return turn_quarters(cos, sin, quarter)


@triton.jit
def circle_64(phase):
    """Return cos and sin in float64 of `phase`, int64 in units of 2^-64 turn (FREQ-9)."""
    quarter = ((phase >> 32).to(tl.int32) + (1 << 29)) >> 30
    rest = phase - (quarter.to(tl.int64) << 62)
    a = (rest + (1 << 34)) >> 35
    b = (rest - (a << 35)).to(tl.float64)
    a = a.to(tl.float64)
    angle = COARSE_64 * a + (FINE_64 * a + UNIT_64 * b)
    z = angle * angle
    p = z * (1.0 / 355687428096000) - 1.0 / 1307674368000
    p = ((p * z + 1.0 / 6227020800) * z - 1.0 / 39916800) * z + 1.0 / 362880
    p = ((p * z - 1.0 / 5040) * z + 1.0 / 120) * z - 1.0 / 6
    sin = angle + angle * z * p
    p = z * (1.0 / 20922789888000) - 1.0 / 87178291200
    p = ((p * z + 1.0 / 479001600) * z - 1.0 / 3628800) * z + 1.0 / 40320
    p = ((p * z - 1.0 / 720) * z + 1.0 / 24) * z
    cos = 1.0 - z * (0.5 - p)
    return turn_quarters(cos, sin, quarter)


@triton.jit
def turn_quarters(cos, sin, quarter):
    """Turn (cos, sin) by a number of quarter turns."""
    odd = (quarter & 1) != 0
    c = tl.where(odd, sin, cos)
    s = tl.where(odd, cos, sin)
    c = tl.where(((quarter + 1) & 2) != 0, -c, c)
    s = tl.where((quarter & 2) != 0, -s, s)
    return c, s


@triton.jit
def place(tokens, length, splits, ROWS: tl.constexpr, TOKENS: tl.constexpr, WIDE: tl.constexpr):
    """Return batch, row and validity of this program's tokens, repeated to ROWS of them."""
    block = tl.program_id(0) // splits
    if WIDE:
        block = block.to(tl.int64)
    token = block * TOKENS + tl.arange(0, ROWS) % TOKENS
    batch = token // length
    row = token - batch * length
    return batch.to(tl.int64), row.to(tl.int64), token < tokens


@triton.jit
def turn_heads(
    x, out, cos, sin, tokens, length, heads, tiles, splits,
    x_batch, x_row, x_head, x_component, out_batch, out_row, out_head, out_component,
    PAIRS: tl.constexpr, TAIL: tl.constexpr, INTERLEAVED: tl.constexpr, TOKENS: tl.constexpr,
    HEADS: tl.constexpr, WIDTH: tl.constexpr, TAIL_WIDTH: tl.constexpr, UNIT: tl.constexpr,
    WIDE: tl.constexpr,
):  # fmt: skip  # one group of arguments a line
    """Turn the pairs of every head of a block of tokens, and copy the tails.

    Strides but for those of the components are in units of UNIT elements: so the compiler knows
    how far all addresses are aligned. Columns have 64 bits, for components may lie far apart too.
    """
    ROWS: tl.constexpr = HEADS * TOKENS
    batch, row, valid = place(tokens, length, splits, ROWS, TOKENS, WIDE)
    x += ((batch * x_batch + row * x_row) * UNIT)[:, None]
    out += ((batch * out_batch + row * out_row) * UNIT)[:, None]
    cos = cos[None, :, :]
    sin = sin[None, :, :]
    first_head = (tl.program_id(0) % splits).to(tl.int64) * tiles * HEADS
    first_head += tl.arange(0, ROWS) // TOKENS
    for tile in range(tiles):
        head = first_head + tile * HEADS
        mask = ((head < heads) & valid)[:, None]
        source = x + (head * x_head * UNIT)[:, None]
        target = out + (head * out_head * UNIT)[:, None]
        if INTERLEAVED:
            column = tl.arange(0, 2 * WIDTH).to(tl.int64)[None, :]
            inside = mask & (column < 2 * PAIRS)
            pairs = tl.load(source + column * x_component, inside)
            pairs = tl.reshape(pairs, HEADS, TOKENS, WIDTH, 2)
            first, second = tl.split(pairs.to(cos.dtype))
            turned = tl.join(first * cos - second * sin, second * cos + first * sin)
            turned = tl.reshape(turned.to(out.dtype.element_ty), ROWS, 2 * WIDTH)
            tl.store(target + column * out_component, turned, inside)
        else:
            column = tl.arange(0, WIDTH).to(tl.int64)[None, :]
            inside = mask & (column < PAIRS)
            first = tl.load(source + column * x_component, inside)
            second = tl.load(source + (column + PAIRS) * x_component, inside)
            first = tl.reshape(first, HEADS, TOKENS, WIDTH).to(cos.dtype)
            second = tl.reshape(second, HEADS, TOKENS, WIDTH).to(cos.dtype)
            turned = (first * cos - second * sin).to(out.dtype.element_ty)
            tl.store(target + column * out_component, tl.reshape(turned, ROWS, WIDTH), inside)
            turned = (second * cos + first * sin).to(out.dtype.element_ty)
            turned = tl.reshape(turned, ROWS, WIDTH)
            tl.store(target + (column + PAIRS) * out_component, turned, inside)
        if TAIL_WIDTH > 0:
            column = 2 * PAIRS + tl.arange(0, TAIL_WIDTH).to(tl.int64)[None, :]
            inside = mask & (column < 2 * PAIRS + TAIL)
            kept = tl.load(source + column * x_component, inside)
            tl.store(target + column * out_component, kept, inside)


PLAIN = [
    "tokens", "length", "heads", "tiles", "splits", "a_batch", "a_row",
    "x_batch", "x_row", "x_head", "out_batch", "out_row", "out_head",
]  # fmt: skip  # one group of arguments a line
"""Numbers whose values 1 and multiples of 16 make no kernel of their own."""

SINGLE = ["positions"]
"""Addresses that are read one number at a time: their alignment makes no kernel of its own."""


@triton.jit(do_not_specialize=PLAIN, do_not_specialize_on_alignment=SINGLE)
def rotate_positions_kernel(
    x, out, positions, turns, tokens, length, heads, tiles, splits, a_batch, a_row,
    x_batch, x_row, x_head, x_component, out_batch, out_row, out_head, out_component,
    INVERSE: tl.constexpr, PAIRS: tl.constexpr, TAIL: tl.constexpr,
    INTERLEAVED: tl.constexpr, TOKENS: tl.constexpr, HEADS: tl.constexpr, WIDTH: tl.constexpr,
    TAIL_WIDTH: tl.constexpr, UNIT: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip  # one group of arguments a line
    """R_m x, with cos and sin made from int64 positions and turns by exact phase."""
    batch, row, valid = place(tokens, length, splits, TOKENS, TOKENS, WIDE)
    pair = tl.arange(0, WIDTH)
    m = tl.load(positions + batch * a_batch + row * a_row, valid, other=0)
    turn = tl.load(turns + pair, pair < PAIRS, other=0)
    phase = m[:, None] * turn[None, :]
    if x.dtype.element_ty == tl.float64:
        cos, sin = circle_64(phase)
    else:
        cos, sin = circle_32(phase)
    if INVERSE:
        sin = -sin
    turn_heads(
        x, out, cos, sin, tokens, length, heads, tiles, splits,
        x_batch, x_row, x_head, x_component, out_batch, out_row, out_head, out_component,
        PAIRS, TAIL, INTERLEAVED, TOKENS, HEADS, WIDTH, TAIL_WIDTH, UNIT, WIDE,
    )  # fmt: skip  # as above


@triton.jit(do_not_specialize=PLAIN)
def rotate_tables_kernel(
    x, out, cos, sin, tokens, length, heads, tiles, splits, a_batch, a_row, a_pair,
    x_batch, x_row, x_head, x_component, out_batch, out_row, out_head, out_component,
    INVERSE: tl.constexpr, PAIRS: tl.constexpr, TAIL: tl.constexpr,
    INTERLEAVED: tl.constexpr, TOKENS: tl.constexpr, HEADS: tl.constexpr, WIDTH: tl.constexpr,
    TAIL_WIDTH: tl.constexpr, UNIT: tl.constexpr, WIDE: tl.constexpr, A_UNIT: tl.constexpr,
):  # fmt: skip  # one group of arguments a line
    """R_m x, with cos and sin read from tables of any float dtype.

    Strides of the tables but for that of the pairs are in units of A_UNIT elements.
    """
    batch, row, valid = place(tokens, length, splits, TOKENS, TOKENS, WIDE)
    pair = tl.arange(0, WIDTH)
    at = (batch * a_batch + row * a_row) * A_UNIT
    at = at[:, None] + (pair.to(tl.int64) * a_pair)[None, :]
    inside = valid[:, None] & (pair < PAIRS)[None, :]
    c = tl.load(cos + at, inside, other=0.0)
    s = tl.load(sin + at, inside, other=0.0)
    if x.dtype.element_ty == tl.float64:
        c, s = c.to(tl.float64), s.to(tl.float64)
    else:
        c, s = c.to(tl.float32), s.to(tl.float32)
    if INVERSE:
        s = -s
    turn_heads(
        x, out, c, s, tokens, length, heads, tiles, splits,
        x_batch, x_row, x_head, x_component, out_batch, out_row, out_head, out_component,
        PAIRS, TAIL, INTERLEAVED, TOKENS, HEADS, WIDTH, TAIL_WIDTH, UNIT, WIDE,
    )  # fmt: skip  # as above
