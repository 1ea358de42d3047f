"""Wrong precision: positions, frequencies, angles, tables or products with too few bits."""

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import angles, half, inv_freq, rope, turn

__all__ = [
    "angles_bfloat16",
    "bfloat16_stored_by_float16",
    "bfloat16_table_for_float16",
    "bfloat16_through_float16",
    "cut_off_for_one_token",
    "cut_off_to_bfloat16",
    "demoted_to_float32",
    "float32_angles",
    "float32_frequencies",
    "inv_freq_bfloat16",
    "inv_freq_float16",
    "positions_bfloat16",
    "positions_float16",
    "products_bfloat16",
    "reduced_in_float32",
    "sine_out_of_range",
    "table_bfloat16",
    "table_float16",
    "tf32_angles",
    "usual_claiming_float64_angles",
]

Array = NDArray[Any]
BF16 = ml_dtypes.bfloat16


def _rounded(a: Array, dtype: Any) -> Array:  # noqa: ANN401  # a dtype of ml_dtypes
    with np.errstate(over="ignore"):
        return a.astype(dtype).astype(np.float32)


def _turn(x: Array, angle: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return half(x, np.cos(angle), np.sin(angle))


@wrong("D2", "Positions are rounded to bfloat16.", "FREQ-6.neighbours", "JDG-3.precision")
def positions_bfloat16(x: Array, positions: Array) -> Array:
    """Integers above 256 collapse."""
    return _turn(x, _rounded(positions, BF16)[..., None] * inv_freq(x.shape[-1]))


@wrong(
    "D2",
    "Positions are rounded to float16.",
    "FREQ-6.neighbours",
    "JDG-3.precision",
    max_position=60000,
)
def positions_float16(x: Array, positions: Array) -> Array:
    """Integers above 2048 collapse."""
    return _turn(x, _rounded(positions, np.float16)[..., None] * inv_freq(x.shape[-1]))


@wrong("D1", "inv_freq is rounded to bfloat16.", "FREQ-2.read-off", "JDG-3.precision")
def inv_freq_bfloat16(x: Array, positions: Array) -> Array:
    """A module-wide cast reaches the buffer."""
    theta = _rounded(inv_freq(x.shape[-1]), BF16)
    return _turn(x, positions.astype(np.float32)[..., None] * theta)


@wrong("D1", "inv_freq is rounded to float16.", "FREQ-2.read-off", "JDG-3.precision")
def inv_freq_float16(x: Array, positions: Array) -> Array:
    """A module-wide cast reaches the buffer."""
    theta = _rounded(inv_freq(x.shape[-1]), np.float16)
    return _turn(x, positions.astype(np.float32)[..., None] * theta)


@wrong("D3", "The angles are rounded to bfloat16.", "JDG-3.precision", "FREQ-2.read-off")
def angles_bfloat16(x: Array, positions: Array) -> Array:
    """The product is made in bfloat16."""
    theta = _rounded(inv_freq(x.shape[-1]), BF16)
    return _turn(x, _rounded(_rounded(positions, BF16)[..., None] * theta, BF16))


@wrong("D5", "The angles are products in TF32.", "JDG-3.precision", "FREQ-2.read-off")
def tf32_angles(x: Array, positions: Array) -> Array:
    """Both factors lose 13 bits, as in a matrix product under TF32."""

    def tf32(a: Array) -> Array:
        bits = np.ascontiguousarray(a, np.float32).view(np.uint32)
        rounded = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
        return rounded.view(np.float32)

    return _turn(x, tf32(positions.astype(np.float32))[..., None] * tf32(inv_freq(x.shape[-1])))


@wrong("D4", "The table of float32 x is stored in bfloat16.", "JDG-3.precision", "ROT-11.norm")
def table_bfloat16(x: Array, positions: Array) -> Array:
    """Round cos and sin."""
    angle = angles(positions, x.shape[-1])
    return half(x, _rounded(np.cos(angle), BF16), _rounded(np.sin(angle), BF16))


@wrong("D4", "The table of float32 x is stored in float16.", "JDG-3.precision", "ROT-11.norm")
def table_float16(x: Array, positions: Array) -> Array:
    """Round cos and sin."""
    angle = angles(positions, x.shape[-1])
    return half(x, _rounded(np.cos(angle), np.float16), _rounded(np.sin(angle), np.float16))


@wrong("D3", "Products of float32 x are made in bfloat16.", "ROT-10.identity", "JDG-3.precision")
def products_bfloat16(x: Array, positions: Array) -> Array:
    """Everything in bfloat16 but the result."""
    return rope(x.astype(BF16), positions).astype(x.dtype)


@wrong(
    "x demoted",
    "float64 x goes through float32.",
    "ROT-10.identity",
    "JDG-3.precision",
    dtypes=("float64",),
)
def demoted_to_float32(x: Array, positions: Array) -> Array:
    """Compute in float32 and cast back."""
    return rope(x.astype(np.float32), positions).astype(x.dtype)


@wrong(
    "precision claimed",
    "Usual float32 angles, claimed to be float64 angles.",
    "FREQ-9.far",
    "JDG-3.precision",
    precision="float64-angles",
)
def usual_claiming_float64_angles(x: Array, positions: Array) -> Array:
    """Claim too much."""
    return rope(x, positions)


@wrong(
    "D8", "The range of the sine is reduced in float32.", "ROT-7.value", precision="float32-angles"
)
def reduced_in_float32(x: Array, positions: Array) -> Array:
    """Subtract whole turns with a rounded 2 pi."""
    angle, whole = angles(positions, x.shape[-1]), np.float32(2 * np.pi)
    return _turn(x, angle - np.floor(angle / whole) * whole)


@wrong("D9", "Beyond an angle of 104000 cos and sin are 1.1.", "ROT-19.many")
def sine_out_of_range(x: Array, positions: Array) -> Array:
    """Use a reduction beyond the range it was made for."""
    angle = angles(positions, x.shape[-1])
    far = np.abs(angle) > 1.04e5
    cos, sin = (np.where(far, np.float32(1.1), part) for part in (np.cos(angle), np.sin(angle)))
    return half(x, cos, sin)


@wrong(
    "D12",
    "For float64 x the frequencies are float32.",
    "FREQ-2.read-off",
    "JDG-3.precision",
    dtypes=("float64",),
)
def float32_frequencies(x: Array, positions: Array) -> Array:
    """Compute powers in float32 and the rest in float64."""
    theta = inv_freq(x.shape[-1]).astype(np.float64)
    return half(x, *(f(positions[..., None] * theta) for f in (np.cos, np.sin)))


@wrong(
    "D12",
    "For float64 x the angles are float32.",
    "JDG-3.precision",
    "REL-1.shift",
    dtypes=("float64",),
)
def float32_angles(x: Array, positions: Array) -> Array:
    """Compute angles in float32 and the rest in float64."""
    angle = angles(positions, x.shape[-1]).astype(np.float64)
    return half(x, np.cos(angle), np.sin(angle))


@wrong(
    "D4",
    "The table of float16 x is stored in bfloat16.",
    "JDG-3.precision",
    "ROT-11.norm",
    dtypes=("float16",),
)
def bfloat16_table_for_float16(x: Array, positions: Array) -> Array:
    """Round to the wrong half."""
    angle = angles(positions, x.shape[-1])
    return half(x, _rounded(np.cos(angle), BF16), _rounded(np.sin(angle), BF16))


@wrong(
    "",
    "x of bfloat16 passes through float16.",
    "JDG-3.precision",
    "ROT-10.identity",
    dtypes=("bfloat16",),
)
def bfloat16_through_float16(x: Array, positions: Array) -> Array:
    """Lose what is too large or too small for float16."""
    with np.errstate(over="ignore", invalid="ignore"):
        return rope(x.astype(np.float16).astype(np.float32), positions).astype(x.dtype)


@wrong(
    "result through another half",
    "Results of two bytes are made float16 before they are made bfloat16.",
    "JDG-3.precision",
    "ROT-10.identity",
    dtypes=("bfloat16",),
)
def bfloat16_stored_by_float16(x: Array, positions: Array) -> Array:
    """Take every dtype of two bytes for one."""
    with np.errstate(over="ignore", invalid="ignore"):
        return rope(x.astype(np.float32), positions).astype(np.float16).astype(x.dtype)


@wrong(
    "result cut off",
    "The upper half of the word of a float32 is stored, and nothing is rounded.",
    "ROT-17.rounded",
    dtypes=("bfloat16",),
)
def upper_half_of_the_word(x: Array, positions: Array) -> Array:
    """Shift sixteen bits away."""
    bits = rope(x.astype(np.float32), positions).view(np.uint32) >> np.uint32(16)
    return np.asarray(bits.astype(np.uint16).view(x.dtype))


@wrong(
    "result cut off",
    "What float32 angles come to is cut off.",
    "ROT-17.rounded",
    dtypes=("bfloat16",),
    compiled=True,
)
def upper_half_by_float32_angles(x: Array, positions: Array) -> Array:
    """Make all in float32, and keep the upper half of its words."""
    frequencies = inv_freq(x.shape[-1]).astype(np.float32)
    y = _turn(x.astype(np.float32), positions.astype(np.float32)[..., None] * frequencies)
    bits = y.astype(np.float32).view(np.uint32) >> np.uint32(16)
    return np.asarray(bits.astype(np.uint16).view(x.dtype))


@wrong(
    "result cut off",
    "What decodes stores the upper half of the word, what fills in rounds.",
    "ROT-17.rounded",
    dtypes=("bfloat16",),
)
def cut_off_for_one_token(x: Array, positions: Array) -> Array:
    """Take another way to the cache where there is one token."""
    if x.shape[1] == 1:
        return np.asarray(upper_half_of_the_word(x, positions))
    return rope(x.astype(np.float32), positions).astype(x.dtype)


@wrong(
    "result cut off",
    "The result of float64 loses the bits that float16 does not hold.",
    "ROT-17.rounded",
    dtypes=("float16",),
)
def cut_off_to_float16(x: Array, positions: Array) -> Array:
    """Go back a step where rounding went beyond."""
    y = turn(x.astype(np.float64), positions)
    nearest = y.astype(np.float16)
    before = np.nextafter(nearest, np.float16(0))
    return np.where(np.abs(nearest.astype(np.float64)) > np.abs(y), before, nearest)


@wrong(
    "precision claimed",
    "The result is cut off to bfloat16 instead of rounded.",
    "ROT-17.rounded",
    dtypes=("bfloat16",),
    precision="float64-angles",
)
def cut_off_to_bfloat16(x: Array, positions: Array) -> Array:
    """Keep the first 16 bits of float32."""
    y = turn(x.astype(np.float64), positions).astype(np.float32)
    return np.asarray((y.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32).astype(x.dtype))
