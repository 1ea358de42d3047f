"""Right implementations that do not do everything, and say so: each needs one claim of CON-10."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import right, wrong
from ropespec.conformance.zoo.parts import half, inv_freq, rope
from ropespec.spec.scaling import DynamicNtk, Linear, Llama3, Proportional, Yarn

__all__ = [
    "at_most_64_tokens",
    "attention_factor_passed_over",
    "base_factor_on_frequencies",
    "blend_exchanged",
    "claimed_ramp_inverted",
    "contiguous_arrays_alone",
    "dead_scaling",
    "flushed_to_zero",
    "gain_forgotten",
    "gain_squared",
    "no_empty_arrays",
    "one_mscale_of_two",
    "pairs_of_the_part",
    "positions_divided_and_cut",
    "put_first",
    "ramp_of_the_extended_length",
    "scaled_as_yarn",
    "vectors_of_16",
]

Array = NDArray[Any]
FLOAT32 = {"float32": "float32-angles"}
WIDTH = 16
TOKENS = 64
YARN = Yarn(factor=16.0, original_length=4096)
UNSCALED = replace(YARN, attention_factor=1.0)
ONE_TO_ONE = replace(YARN, mscale=1.0, mscale_all_dim=1.0)
HALF = Proportional(0.5)
LLAMA_3 = Llama3(8.0, 1.0, 4.0, 8192)
LINEAR = Linear(4.0)


@right("Memory is read in one run.", FLOAT32, strided=False)
def contiguous_arrays_alone(x: Array, positions: Array) -> Array:
    """Refuse views with gaps."""
    if not (x.flags.c_contiguous and positions.flags.c_contiguous):
        raise ValueError("x and positions must be contiguous")
    return rope(x, positions)


@right("The largest position is looked for, and there has to be one.", FLOAT32, empty=False)
def no_empty_arrays(x: Array, positions: Array) -> Array:
    """Make a table as long as it must be."""
    x[..., :1].max()
    largest = int(np.abs(positions).max())
    return rope(x, positions) if largest >= 0 else x


@right("Numbers below the normal range become zero, before and after.", FLOAT32, subnormals=False)
def flushed_to_zero(x: Array, positions: Array) -> Array:
    """Do as a processor does that was told to be fast."""
    return _normal(rope(_normal(x), positions))


def _normal(x: Array) -> Array:
    tiny = np.abs(x) < np.finfo(np.float32).tiny
    return np.where(tiny, np.copysign(np.float32(0), x), x)


@right("There is room for 64 tokens.", FLOAT32, max_tokens=TOKENS)
def at_most_64_tokens(x: Array, positions: Array) -> Array:
    """Use a buffer that was made once."""
    if positions.size > TOKENS:
        raise ValueError(f"{positions.size} tokens, and there is room for {TOKENS}")
    return rope(x, positions)


@right("Components are read in vectors of 16.", FLOAT32, min_head_dim=WIDTH)
def vectors_of_16(x: Array, positions: Array) -> Array:
    """Leave no room for less than one vector."""
    if x.shape[-1] < WIDTH:
        raise ValueError(f"head_dim must be at least {WIDTH}; got {x.shape[-1]}")
    return rope(x, positions)


@right("Frequencies are those of YaRN, and so is the factor on cos and sin.", FLOAT32, scaling=YARN)
def scaled_as_yarn(x: Array, positions: Array) -> Array:
    """Blend, in float32, as it is usually written."""
    return _yarn(x, positions, YARN.factor, 0.1 * math.log(YARN.factor) + 1)


@wrong("dead scaling", "YaRN is claimed, and nobody reads it.", "ROT-7.value", scaling=YARN)
def dead_scaling(x: Array, positions: Array) -> Array:
    """Rotate by plain frequencies."""
    return rope(x, positions)


@wrong("attention factor missing", "cos and sin lack YaRN's factor.", "ROT-7.value", scaling=YARN)
def gain_forgotten(x: Array, positions: Array) -> Array:
    """Blend, and leave the lengths alone."""
    return _yarn(x, positions, YARN.factor, 1.0)


@wrong(
    "attention factor not read",
    "YaRN with a factor of 1 on cos and sin, which is passed over.",
    "ROT-7.value",
    scaling=UNSCALED,
)
def attention_factor_passed_over(x: Array, positions: Array) -> Array:
    """Take the factor of the formula."""
    return _yarn(x, positions, YARN.factor, 0.1 * math.log(YARN.factor) + 1)


@wrong("K14", "Two equal mscales make 1, and one is used.", "ROT-7.value", scaling=ONE_TO_ONE)
def one_mscale_of_two(x: Array, positions: Array) -> Array:
    """Take the factor of one mscale."""
    return _yarn(x, positions, YARN.factor, 0.1 * math.log(YARN.factor) + 1)


@wrong("pairs of the part", "What turns is cut into halves by itself.", "ROT-7.value", scaling=HALF)
def pairs_of_the_part(x: Array, positions: Array) -> Array:
    """Rotate the first components, as where a part of the head turns, by the frequencies of all."""
    d = x.shape[-1]
    count = int(HALF.proportion * d // 2)
    angle = positions[..., None] * inv_freq(d).astype(np.float64)[:count]
    turned = half(x[..., : 2 * count], np.cos(angle), np.sin(angle))
    return np.concatenate((turned, x[..., 2 * count :]), axis=-1)


@wrong("attention factor twice", "cos and sin carry it twice.", "ROT-7.value", scaling=YARN)
def gain_squared(x: Array, positions: Array) -> Array:
    """Take the factor that scores have."""
    return _yarn(x, positions, YARN.factor, (0.1 * math.log(YARN.factor) + 1) ** 2)


@wrong("inverted ramp", "Fast pairs are divided, slow ones kept.", "ROT-7.value", scaling=YARN)
def claimed_ramp_inverted(x: Array, positions: Array) -> Array:
    """Exchange the two frequencies that are blended."""
    slow = positions.astype(np.float32) / np.float32(YARN.factor)
    return _yarn(x, slow, 1 / YARN.factor, 0.1 * math.log(YARN.factor) + 1)


@wrong("another scheme", "The ramp is of the length that is meant.", "ROT-7.value", scaling=YARN)
def ramp_of_the_extended_length(x: Array, positions: Array) -> Array:
    """Take the length of the config for the length before it was extended."""
    length = round(YARN.original_length * YARN.factor)
    return _yarn(x, positions, YARN.factor, 0.1 * math.log(YARN.factor) + 1, length)


@wrong("inverted ramp", "Where it blends, smooth weighs the other.", "ROT-7.value", scaling=LLAMA_3)
def blend_exchanged(x: Array, positions: Array) -> Array:
    """Exchange the two only between the ends."""
    theta = inv_freq(x.shape[-1]).astype(np.float64)
    turns = theta * LLAMA_3.original_length / math.tau
    smooth = np.clip((turns - 1) / 3, 0, 1)
    smooth = np.where((smooth > 0) & (smooth < 1), 1 - smooth, smooth)
    scaled = (1 - smooth) * theta / LLAMA_3.factor + smooth * theta
    return half(x, *(f(positions[..., None] * scaled) for f in (np.cos, np.sin)))


@wrong("positions in steps", "Four neighbours share an angle.", "ROT-7.value", scaling=LINEAR)
def positions_divided_and_cut(x: Array, positions: Array) -> Array:
    """Divide positions as integers."""
    return rope(x, positions // round(LINEAR.factor))


@wrong(
    "R9",
    "What rotates comes back before what passes, and was behind it.",
    "ROT-7.value",
    rotary_dim=WIDTH,
    trailing=True,
)
def put_first(x: Array, positions: Array) -> Array:
    """Concatenate in the other order."""
    return np.concatenate([rope(x[..., -WIDTH:], positions), x[..., :-WIDTH]], axis=-1)


@wrong(
    "frequencies divided by the factor of the base",
    "What the base is to be multiplied by divides the frequencies.",
    "ROT-7.value",
    scaling=DynamicNtk(factor=4.0, original_length=4096, length=8192),
    min_head_dim=4,
)
def base_factor_on_frequencies(x: Array, positions: Array) -> Array:
    """Do as keras-hub's `dynamic` does."""
    dim = x.shape[-1]
    theta = inv_freq(dim) / np.float32(4.0 ** (dim / (dim - 2)))
    angle = positions.astype(np.float32)[..., None] * theta
    return half(x, np.cos(angle), np.sin(angle))


def _yarn(
    x: Array, positions: Array, factor: float, gain: float, length: int = YARN.original_length
) -> Array:
    dim, one = x.shape[-1], np.float32(1)
    theta = inv_freq(dim)
    ends = [dim * math.log(length / (n * math.tau)) / (2 * math.log(10000)) for n in (32, 1)]
    low, high = max(math.floor(ends[0]), 0), min(math.ceil(ends[1]), dim - 1)
    ramp = (np.arange(dim // 2, dtype=np.float32) - np.float32(low)) / np.float32(high - low)
    kept = one - np.clip(ramp, 0, 1)
    omega = theta / np.float32(factor) * (one - kept) + theta * kept
    angle = positions.astype(np.float32)[..., None] * omega
    return half(x, np.cos(angle) * np.float32(gain), np.sin(angle) * np.float32(gain))
