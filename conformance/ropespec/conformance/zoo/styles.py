"""Right implementations, in the ways people write them."""

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import right
from ropespec.conformance.zoo.parts import angles, half, interleaved, inv_freq, rope, table

__all__ = [
    "bhsd_order",
    "complex_product",
    "contiguous_positions",
    "contracted",
    "dense_product",
    "exact_phase",
    "exp_log_frequencies",
    "float16_table",
    "float64_angles",
    "growing_table",
    "partial_rotary",
    "power_frequencies",
    "products_in_bfloat16",
    "products_in_float16",
    "recurrence",
    "rotate_half_form",
    "sbhd_order",
    "shared_vector",
    "shd_order",
    "table_filled_beyond_its_end",
    "table_in_dtype_of_x",
    "table_that_ends",
    "usual_half",
    "usual_interleaved",
]

Array = NDArray[Any]
ROWS = 256
USUAL = {
    "float32": "float32-angles",
    "bfloat16": "float32-angles",
    "float16": "float32-angles",
}


@right("Half-split with float32 angles, as most libraries write it.", USUAL)
def usual_half(x: Array, positions: Array) -> Array:
    """float32(position) * float32(inv_freq)."""
    return rope(x, positions)


@right(
    "A table of 256 rows; positions beyond it raise.",
    {"float32": "float64-angles"},
    max_position=255,
    negative_positions=False,
)
def table_that_ends(x: Array, positions: Array) -> Array:
    """Refuse what the table does not hold."""
    if positions.size and not 0 <= positions.min() <= positions.max() < ROWS:
        raise IndexError(f"positions must be in 0..{ROWS - 1}")
    return half(x, *(part[positions] for part in table(np.arange(ROWS), x.shape[-1])))


@right(
    "A table of 256 rows, filled with NaN beyond it.",
    {"float32": "float64-angles"},
    max_position=255,
    negative_positions=False,
)
def table_filled_beyond_its_end(x: Array, positions: Array) -> Array:
    """Return no number for what the table does not hold."""
    rows = np.where((positions >= 0) & (positions < ROWS), positions, ROWS)
    parts = table(np.arange(ROWS), x.shape[-1])
    return half(x, *(np.pad(t, ((0, 1), (0, 0)), constant_values=np.nan)[rows] for t in parts))


@right("Takes no positions that are not contiguous.", USUAL)
def contiguous_positions(x: Array, positions: Array) -> Array:
    """Refuse strided positions, as a kernel may."""
    if not positions.flags.c_contiguous:
        raise ValueError("positions must be contiguous")
    return rope(x, positions)


@right("Interleaved with float32 angles.", USUAL, interleaved=True)
def usual_interleaved(x: Array, positions: Array) -> Array:
    """float32(position) * float32(inv_freq)."""
    return rope(x, positions, pairs=True)


@right(
    "Angles and table in float64.",
    {
        "float64": "float64-angles",
        "float32": "float64-angles",
        "bfloat16": "float64-angles",
        "float16": "float64-angles",
    },
    precision="float64-angles",
)
def float64_angles(x: Array, positions: Array) -> Array:
    """Everything in float64 but x and the result."""
    d = x.shape[-1]
    angle = positions.astype(np.float64)[..., None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    return half(x, np.cos(angle), np.sin(angle))


@right("Frequencies as exp of a logarithm, base 500000.", USUAL, base=500000.0)
def exp_log_frequencies(x: Array, positions: Array) -> Array:
    """exp(-2i/d ln base) in float32."""
    d = x.shape[-1]
    step = np.float32(np.log(500000.0) / d)
    theta = np.exp(-np.arange(0, d, 2, dtype=np.float32) * step)
    angle = positions.astype(np.float32)[..., None] * theta
    return half(x, np.cos(angle), np.sin(angle))


@right(
    "Each frequency from the one before.",
    {"float32": "float32-recurrence", "float16": "float32-recurrence"},
    interleaved=True,
    head_dims=(128, 192, 256),
    dtypes=("float32", "float16"),
)
def recurrence(x: Array, positions: Array) -> Array:
    """theta *= ratio, in float32."""
    d = x.shape[-1]
    ratio = np.float32(10000.0 ** (-2.0 / d))
    theta = np.ones(d // 2, np.float32)
    for i in range(1, d // 2):
        theta[i] = theta[i - 1] * ratio
    angle = positions.astype(np.float32)[..., None] * theta
    return interleaved(x, np.cos(angle), np.sin(angle))


@right("A product of complex64 numbers.", USUAL, interleaved=True)
def complex_product(x: Array, positions: Array) -> Array:
    """View pairs as complex numbers."""
    angle = angles(positions, x.shape[-1])[..., None, :]
    turn = np.cos(angle) + np.complex64(1j) * np.sin(angle)
    pairs = np.ascontiguousarray(x.astype(np.float32)).view(np.complex64)
    with np.errstate(invalid="ignore"):
        y = pairs.real * turn.real - pairs.imag * turn.imag
        z = pairs.real * turn.imag + pairs.imag * turn.real
    return np.stack([y, z], axis=-1).reshape(x.shape).astype(x.dtype)


@right(
    "cos and sin are rounded to the dtype of x, products in float32.",
    {"bfloat16": "bf16-table"},
)
def table_in_dtype_of_x(x: Array, positions: Array) -> Array:
    """A table in bfloat16 for bfloat16 x."""
    angle = angles(positions, x.shape[-1])
    c, s = (t.astype(x.dtype).astype(np.float32) for t in (np.cos(angle), np.sin(angle)))
    return half(x, c, s)


@right("Everything after the angle in bfloat16.", {"bfloat16": "bf16-arithmetic"})
def products_in_bfloat16(x: Array, positions: Array) -> Array:
    """Table, products and sum in bfloat16."""
    angle = angles(positions, x.shape[-1])
    return half(
        x, np.cos(angle).astype(ml_dtypes.bfloat16), np.sin(angle).astype(ml_dtypes.bfloat16)
    )


@right("The first 8 of 24 components rotate.", USUAL, rotary_dim=8, head_dims=(24,))
def partial_rotary(x: Array, positions: Array) -> Array:
    """Turn a part and pass the rest through."""
    return np.concatenate([rope(x[..., :8], positions), x[..., 8:]], axis=-1)


@right("Axes batch, heads, sequence, head_dim.", USUAL, axes="bhsd")
def bhsd_order(x: Array, positions: Array) -> Array:
    """Rotate (B, H, S, D)."""
    return rope(x.transpose(0, 2, 1, 3), positions).transpose(0, 2, 1, 3)


@right("Axes sequence, batch, heads, head_dim.", USUAL, axes="sbhd")
def sbhd_order(x: Array, positions: Array) -> Array:
    """Rotate (S, B, H, D)."""
    return rope(x.transpose(1, 0, 2, 3), positions).transpose(1, 0, 2, 3)


@right("No batch axis.", USUAL, axes="shd")
def shd_order(x: Array, positions: Array) -> Array:
    """Rotate (S, H, D)."""
    return rope(x, positions)


@right("One position vector for the whole batch.", USUAL, shared_positions=True)
def shared_vector(x: Array, positions: Array) -> Array:
    """Rotate (B, S, H, D) by (S,)."""
    return rope(x, positions)


_table: dict[int, Array] = {}


@right(
    "A table that grows with the largest position seen.",
    {"float32": "float32-angles"},
    max_position=4095,
    negative_positions=False,
)
def growing_table(x: Array, positions: Array) -> Array:
    """Look cos and sin up."""
    d = x.shape[-1]
    needed = int(positions.max(initial=0)) + 1
    if d not in _table or len(_table[d]) < needed:
        _table[d] = np.arange(needed, dtype=np.float32)[:, None] * inv_freq(d)
    angle = _table[d][positions]
    return half(x, np.cos(angle), np.sin(angle))


@right("Frequencies as powers base ** -exponent, base 1000000.", USUAL, base=1e6, interleaved=True)
def power_frequencies(x: Array, positions: Array) -> Array:
    """base ** (-2i/d) in float32."""
    d = x.shape[-1]
    theta = np.float32(1e6) ** (-np.arange(0, d, 2, dtype=np.float32) / np.float32(d))
    angle = positions.astype(np.float32)[..., None] * theta
    return interleaved(x, np.cos(angle), np.sin(angle))


@right("Tables listed twice and a rotated half: x cos + rotate_half(x) sin.", USUAL)
def rotate_half_form(x: Array, positions: Array) -> Array:
    """Concatenate the table with itself."""
    angle = np.concatenate([angles(positions, x.shape[-1])] * 2, axis=-1)[..., None, :]
    n, wide = x.shape[-1] // 2, x.astype(np.float32)
    turned = np.concatenate([-wide[..., n:], wide[..., :n]], axis=-1)
    return np.asarray((wide * np.cos(angle) + turned * np.sin(angle)).astype(x.dtype))


@right("Both products are exact and the sum is rounded once, as a fused multiply-add.", USUAL)
def contracted(x: Array, positions: Array) -> Array:
    """Multiply and add in float64, tables in float32."""
    angle = angles(positions, x.shape[-1])
    return half(x, np.cos(angle).astype(np.float64), np.sin(angle).astype(np.float64))


@right("The table of float16 x is stored in float16.", {"float16": "float16-table"})
def float16_table(x: Array, positions: Array) -> Array:
    """A table in float16, products in float32."""
    angle = angles(positions, x.shape[-1])
    c, s = (t.astype(np.float16).astype(np.float32) for t in (np.cos(angle), np.sin(angle)))
    return half(x, c, s)


@right("Everything after the angle in float16.", {"float16": "float16-arithmetic"})
def products_in_float16(x: Array, positions: Array) -> Array:
    """Table, products and sum in float16."""
    angle = angles(positions, x.shape[-1])
    return half(x, np.cos(angle).astype(np.float16), np.sin(angle).astype(np.float16))


@right(
    "Angles by exact phase: a fraction of a turn in 64-bit integers.", {"float32": "float64-angles"}
)
def exact_phase(x: Array, positions: Array) -> Array:
    """(m T_i mod 2^64) / 2^64 turns, T_i from theta_i in more digits than float64 has."""
    d = x.shape[-1]
    theta = np.longdouble(10000.0) ** (-np.arange(0, d, 2, dtype=np.longdouble) / d)
    turns = np.rint(theta / (8 * np.arctan(np.longdouble(1))) * np.longdouble(2) ** 64)
    phase = positions.astype(np.int64)[..., None] * turns.astype(np.uint64).view(np.int64)
    angle = phase.astype(np.float64) * (2 * np.pi / 2.0**64)
    return half(x, np.cos(angle), np.sin(angle))


@right("One matrix product with the dense R for every token.", {"float32": "float64-angles"})
def dense_product(x: Array, positions: Array) -> Array:
    """Build R and multiply, pair by pair where x is not finite."""
    d = x.shape[-1]
    angle = positions.astype(np.float64)[..., None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    first, second = np.eye(d)[: d // 2], np.eye(d)[d // 2 :]
    cos, sin = np.cos(angle)[..., None], np.sin(angle)[..., None]
    rows = (cos * first - sin * second, sin * first + cos * second)
    dense = np.concatenate(rows, axis=-2)
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        y = np.where(np.isfinite(x), wide, 0.0) @ dense.swapaxes(-1, -2)
        bad = half(np.where(np.isfinite(x), 0.0, wide), cos[..., 0], sin[..., 0])
    return np.asarray((y + bad).astype(x.dtype))
