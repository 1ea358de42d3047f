"""Mistakes in tables of sines, widths, runs and lengths, each named by what it reproduces."""

import ml_dtypes
import numpy as np
import pytest

from ropespec.conformance.grouped import queries
from ropespec.conformance.profile import Profile
from ropespec.reference import inv_freq_scaled
from ropespec.spec.scaling import Llama3


def theta(d, base=10000.0):
    return base ** (-np.arange(0, d, 2) / d)


def turned(x, c, s):
    """Rotate halves by cosines and sines of (B, S, H or 1, n)."""
    a, b = np.split(x.astype(np.float64), 2, axis=-1)
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1).astype(x.dtype)


def rope(x, positions, base=10000.0):
    angle = positions[..., None, None] * theta(x.shape[-1], base)
    return turned(x, np.cos(angle), np.sin(angle))


def quarters_of(x, positions, remainder):
    """Rotate by the sine and cosine of what is left of an angle when quarters are taken off."""
    angle = positions[..., None, None] * theta(x.shape[-1])
    number = np.round(angle / (np.pi / 2))
    c, s = np.cos(angle - number * np.pi / 2), np.sin(angle - number * np.pi / 2)
    quarter = [remainder(number) == n for n in range(3)]
    c, s = np.select(quarter, [c, -s, -c], s), np.select(quarter, [s, c, -s], -c)
    return turned(x, c, s)


def quarters_by_a_signed_remainder(x, positions):
    return quarters_of(x, positions, lambda number: np.fmod(number, 4))


def quarters_by_their_size(x, positions):
    return quarters_of(x, positions, lambda number: np.mod(np.abs(number), 4))


def interpolated(x, positions, count, cosine):
    """Look sines up in a table of so many, which has no entry for the full turn."""
    table = np.sin(2 * np.pi * np.arange(count) / count)

    def sine(phase):
        place = np.mod(phase, 1.0) * count
        left = np.minimum(place.astype(np.int64), count - 1)
        right = np.minimum(left + 1, count - 1)
        return table[left] + (place - left) * (table[right] - table[left])

    phase = positions[..., None, None] * theta(x.shape[-1]) / (2 * np.pi)
    return turned(x, cosine(sine, phase), sine(phase))


def last_segment_of_8192(x, positions):
    return interpolated(x, positions, 8192, lambda sine, phase: sine(phase + 0.25))


def last_cubic_of_4096(x, positions):
    step = 2 * np.pi / 4096
    grid = np.arange(4096) * step
    angle = positions[..., None, None] * theta(x.shape[-1], 10000.0)
    at = np.mod(angle, 2 * np.pi) / step
    i = np.minimum(at.astype(np.int64), 4095)
    f, j = at - i, np.minimum(i + 1, 4095)
    ends = 3 * f**2 - 2 * f**3
    into, out_of = step * (f**3 - 2 * f**2 + f), step * (f**3 - f**2)

    def between(value, slope):
        whole = (1 - ends) * value[i] + ends * value[j]
        return whole + into * slope[i] + out_of * slope[j]

    c, s = np.cos(grid), np.sin(grid)
    return turned(x, between(c, -s), between(s, c))


def found_in_the_farthest_row(x, positions):
    there = np.unique(positions[np.argmax(positions.max(axis=1))])
    at = np.minimum(np.searchsorted(there, positions), len(there) - 1)
    return rope(x, there[at])


def split_the_other_way(x, positions):
    b, s, heads, d = x.shape
    return rope(x.reshape(b, s, d, heads).swapaxes(2, 3), positions)


def no_infinity_in_float16(x, positions):
    y = rope(x, positions)
    return np.nan_to_num(y) if x.dtype == np.float16 else y


def keys_of_other_groups(x, positions):
    y, heads = rope(x, positions), x.shape[2]
    first = queries(heads)
    kept = heads - first
    groups = max(first // kept, 1) if kept else 1
    keys = first + np.arange(kept * groups)[::groups] % max(kept, 1)
    return y[:, :, [*range(first), *keys]]


def text_as_one_axis(x, positions):
    rows, columns = np.broadcast_to(positions, (2, *positions.shape[1:]))[..., None]
    each = 10000.0 ** (-np.arange(0, 32, 2) / 32)
    axial = np.concatenate([rows * each, columns * each], axis=-1)
    angle = np.where(rows == columns, rows * theta(64, 10000.0), axial)[..., None, :]
    return turned(x, np.cos(angle), np.sin(angle))


def rotates_24(x, positions):
    return np.concatenate([rope(x[..., :24], positions), x[..., 24:]], axis=-1)


def gaps_closed_through_the_batch(x, positions):
    flat = positions.ravel().copy()
    for t in range(1, flat.size):
        if positions.ravel()[t] > positions.ravel()[t - 1]:
            flat[t] = flat[t - 1] + 1
    return rope(x, flat.reshape(positions.shape))


def last_chunk_by_its_own_size(x, positions):
    out = np.array(x)
    for number, start in enumerate(range(0, x.shape[1], 64)):
        part = x[:, start : start + 64]
        begin = number * part.shape[1]
        out[:, start : start + 64] = rope(part, positions[:, begin : begin + part.shape[1]])
    return out


def positions_tiled_over_heads(x, positions):
    """Fold heads into rows, and repeat the rows of positions as if heads came first."""
    rows, tokens, heads, d = x.shape
    folded = x.transpose(0, 2, 1, 3).reshape(rows * heads, tokens, 1, d)
    y = rope(folded, np.tile(positions, (heads, 1)))
    return y.reshape(rows, heads, tokens, d).transpose(0, 2, 1, 3)


def runs_if_all_ends_fit(x, positions):
    """Take the cheap path for prefill if every row ends where a run would."""
    length = positions.shape[1]
    if length and np.all(positions[:, -1] - positions[:, 0] == length - 1):
        positions = positions[:, :1] + np.arange(length)
    return rope(x, positions)


def runs_by_range(x, positions):
    least = positions.min(axis=1, keepdims=True)
    fits = np.ptp(positions, axis=1, keepdims=True) == positions.shape[1] - 1
    return rope(x, np.where(fits, least + np.arange(positions.shape[1]), positions))


def run_by_range_of_all(x, positions):
    if positions.size and np.ptp(positions) == positions.shape[1] - 1:
        positions = positions.min() + np.arange(positions.shape[1])[None]
    return rope(x, positions)


def far_rows_brought_near(x, positions):
    start = positions[:, :1]
    return rope(x, positions - np.where(start >= 65536, start, 0))


def angles_in_bfloat16(x, positions):
    """Round angles, of which those of the first pair lie halfway between two."""
    angle = (positions[..., None, None] * theta(x.shape[-1])).astype(ml_dtypes.bfloat16)
    angle = angle.astype(np.float64)
    return turned(x, np.cos(angle), np.sin(angle))


def ramp_of_the_whole_head(x, positions):
    """Make the ends of the ramp of YaRN with head_dim, where fewer rotate."""
    d, r, base = x.shape[-1], 32, 10000.0
    at = [d * np.log(4096 / (turns * 2 * np.pi)) / (2 * np.log(base)) for turns in (32, 1)]
    low, high = max(np.floor(at[0]), 0), min(np.ceil(at[1]), d - 1)
    share = np.clip((np.arange(r // 2) - low) / (high - low), 0, 1)
    angle = positions[..., None, None] * theta(r) * (share / 16 + 1 - share)
    gain = 0.1 * np.log(16) + 1
    y = turned(x[..., :r], gain * np.cos(angle), gain * np.sin(angle))
    return np.concatenate([y, x[..., r:]], axis=-1)


def ramp_of_what_does_not_turn(x, positions):
    """Make the ends of the ramp of YaRN with the part of a head that keeps no position."""
    other = x[..., 32:].shape[-1]
    wide = np.zeros((*x.shape[:-1], other))
    turned_by = ramp_of_the_whole_head(np.concatenate([x[..., :32], wide[..., 32:]], -1), positions)
    return np.concatenate([turned_by[..., :32], x[..., 32:]], axis=-1).astype(x.dtype)


def pairs_to_the_nearest(x, positions):
    """Rotate 13 of 32 pairs where 0.4 of 64 components are claimed."""
    d = x.shape[-1]
    frequencies = np.where(np.arange(d // 2) < np.round(0.4 * d / 2), theta(d), 0)
    angle = positions[..., None, None] * frequencies
    return turned(x, np.cos(angle), np.sin(angle))


def one_pair_at_least(x, positions):
    frequencies = theta(x.shape[-1])
    frequencies[max(int(0.4 * x.shape[-1] / 2), 1) :] = 0
    angle = positions[..., None, None] * frequencies
    return turned(x, np.cos(angle), np.sin(angle))


def interpolated_to_the_last_row(x, positions):
    """Take 4096 rows from 0 to 512 with both ends, where the last is to be one step before."""
    return rope(x, positions * (512 / 4095))


def divided_in_integers(x, positions):
    return rope(x, positions // 8)


def slice_moved_back(x, positions):
    """Pad each run to 64 tokens, of which a slice of the table must not go behind its end."""
    place = positions.copy()
    for row, own in zip(place, positions, strict=True):
        for run in np.split(np.arange(own.size), np.flatnonzero(np.diff(own) != 1) + 1):
            if run.size:
                last = 4096 - -(-run.size // 64) * 64
                row[run] = min(own[run[0]], last) + np.arange(run.size)
    return rope(x, place)


def as_long_as_the_first_number(x, positions):
    """Clamp the second of two numbers to the largest of the first."""
    numbers = np.minimum(positions, positions[0].max(initial=0))
    d = x.shape[-1] // 2
    angle = np.concatenate([one[..., None, None] * theta(d) for one in numbers], axis=-1)
    return turned(x, np.cos(angle), np.sin(angle))


def original_length_of_the_model(x, positions):
    other = Llama3(8.0, 1.0, 4.0, 131072)
    frequencies = inv_freq_scaled(x.shape[-1], scaling=other, base=500000.0)
    angle = positions[..., None, None] * frequencies
    return turned(x, np.cos(angle), np.sin(angle))


def longer_by_the_tokens(x, positions):
    """Take the number of tokens for the length of dynamic NTK."""
    d = x.shape[-1]
    grown = max(4 * x.shape[1] / 256 - 3, 1.0) if d > 2 else 1.0
    return rope(x, positions, 10000.0 * grown ** (d / max(d - 2, 1)))


LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


def below_zero_from_the_end(x, positions):
    """Index a table of 40960 rows by negative numbers."""
    return rope(x, np.where(positions < 0, positions + 40960, positions))


def blended_over(x, positions, share):
    d = x.shape[-1]
    angle = positions[..., None, None] * theta(d) * (share + (1 - share) / 16)
    gain = 1 + 0.1 * np.log(16)
    return turned(x, gain * np.cos(angle), gain * np.sin(angle))


def ramp_over_components(x, positions):
    d = x.shape[-1]
    low, high = (d * np.log(4096 / (2 * np.pi * n)) / (2 * np.log(10000.0)) for n in (32, 1))
    i = np.arange(0, d, 2)
    ramp = np.clip((i - np.floor(low)) / (np.ceil(high) - np.floor(low)), 0.0, 1.0)
    return blended_over(x, positions, 1 - ramp)


def ramp_of_squares(x, positions):
    n = x.shape[-1] // 2
    return blended_over(x, positions, 1 - (np.arange(n) / n) ** 2)


def base_grown_by_the_whole_head(x, positions):
    d, r = x.shape[-1], 32
    rates = theta(r, 10000.0 * 13.0 ** (d / (d - 2)))
    y, angle = x.copy(), positions[..., None, None] * rates
    y[..., :r] = turned(x[..., :r], np.cos(angle), np.sin(angle))
    return y


def cut_from_the_widest(x, positions):
    index = np.concatenate([np.arange(n) for n in (4, 6, 6)])
    number = np.moveaxis(positions, 0, -1)[..., None, np.repeat([0, 1, 2], (4, 6, 6))]
    angle = number * 10000.0 ** (-index / 6)
    return turned(x, np.cos(angle), np.sin(angle))


def rates_of_nobody(x, positions):
    rates = 1 / (1 + np.concatenate([np.arange(n) for n in (4, 6, 6)]) ** 1.5)
    angle = np.moveaxis(positions, 0, -1)[..., None, np.repeat([0, 1, 2], (4, 6, 6))] * rates
    return turned(x, np.cos(angle), np.sin(angle))


AXIAL = {"sections": [4, 6, 6], "axial": True, "head_dims": [32]}
YARN = {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096}
PROPORTIONAL = {"rope_type": "proportional", "partial_rotary_factor": 0.4}
LINEAR = {"rope_type": "linear", "factor": 8.0}
DYNAMIC = {"rope_type": "dynamic", "factor": 4.0, "original_max_position_embeddings": 256}


@pytest.mark.parametrize(
    ("function", "claims", "name", "what"),
    [
        (quarters_by_a_signed_remainder, {}, "quarters of a turn mixed up", "to the nearest"),
        (quarters_by_their_size, {}, "quarters of a turn mixed up", "to the nearest"),
        (last_segment_of_8192, {}, "last segment of a table of sines", "of 8192 segments"),
        (last_cubic_of_4096, {}, "last segment of a table of sines", "between which cubics go"),
        (
            found_in_the_farthest_row,
            {},
            "rotated by the position of another",
            "the next that the row with the largest position has",
        ),
        (split_the_other_way, {}, "heads mixed up", "split into (head_dim, heads)"),
        (keys_of_other_groups, {}, "heads mixed up", "Of 9 heads, head 7 is head 8"),
        (rotates_24, {"head_dims": [32, 64]}, "another rotary_dim", "24 components rotate"),
        (gaps_closed_through_the_batch, {}, "gaps closed", "rise, through the batch"),
        (last_chunk_by_its_own_size, {}, "rotated by the position of another", "block of 64"),
        (
            positions_tiled_over_heads,
            {},
            "positions repeated in another order",
            "positions of all rows are repeated for each head",
        ),
        (angles_in_bfloat16, {}, "angles or products in half precision", "rounded to bfloat16"),
        (
            ramp_of_the_whole_head,
            {"scaling": YARN, "rotary_dim": 32, "head_dims": [64]},
            "another blend",
            "those of the whole head",
        ),
        (
            ramp_of_what_does_not_turn,
            {"scaling": YARN, "rotary_dim": 32, "head_dims": [112]},
            "another blend",
            "those of what does not turn",
        ),
        (
            pairs_to_the_nearest,
            {"scaling": PROPORTIONAL, "head_dims": [64, 80]},
            "pairs of a share",
            "counted to the nearest",
        ),
        (one_pair_at_least, {"scaling": PROPORTIONAL}, "pairs of a share", "one at least"),
        (
            divided_in_integers,
            {"scaling": LINEAR, "head_dims": [32, 64]},
            "positions divided in whole numbers",
            "divided by 8 and rounded down",
        ),
        (
            interpolated_to_the_last_row,
            {"scaling": LINEAR, "max_position": 4095, "head_dims": [32, 64]},
            "positions scaled",
            "multiplied by 4096/4095",
        ),
        (
            slice_moved_back,
            {"max_position": 4095, "negative_positions": False, "head_dims": [32]},
            "slice moved back",
            "ends with row 4095, as long as the run in whole 64s",
        ),
        (
            as_long_as_the_first_number,
            {"sections": [8, 8], "axial": True, "negative_positions": False, "head_dims": [32]},
            "table as long as one number",
            "the largest of number 0",
        ),
        (
            original_length_of_the_model,
            {"scaling": LLAMA3, "base": 500000.0, "head_dims": [64]},
            "another scheme",
            "original length 131072 in place of 8192",
        ),
        (
            below_zero_from_the_end,
            {"max_position": 40959},
            "negative positions from the end of a table",
            "40960 more below zero",
        ),
        (
            ramp_over_components,
            {"scaling": YARN, "head_dims": [64, 128]},
            "another blend",
            "ramp counts components, and not pairs",
        ),
        (
            ramp_of_squares,
            {"scaling": YARN, "head_dims": [64]},
            "another blend",
            "are these times the claimed ones",
        ),
        (
            base_grown_by_the_whole_head,
            {"scaling": DYNAMIC | {"length": 1024}, "rotary_dim": 32, "head_dims": [32, 64, 80]},
            "another scheme",
            "of the whole head",
        ),
        (cut_from_the_widest, AXIAL, "wrong exponent", "divided by the width of the widest"),
        (rates_of_nobody, AXIAL, "unknown frequencies", "times the claimed ones"),
        (
            longer_by_the_tokens,
            {"scaling": DYNAMIC, "negative_positions": False, "head_dims": [8, 32]},
            "base grows with the length",
            "the length of the call",
        ),
    ],
)
def test_a_mistake_has_its_name(function, claims, name, what, diagnosed):
    """The name, and the number that was read off."""
    profile = Profile.from_mapping({"interleaved": False, **claims})
    found = diagnosed(profile, apply_rotary=function)

    assert found[0].name == name
    assert what in found[0].sentence
    assert found[0].where == "every call"


def test_what_is_no_number_is_asked_for_in_every_dtype(diagnosed):
    """A result that overflows is no reason not to ask."""
    profile = Profile.from_mapping({"interleaved": False, "dtypes": ["float32", "float16"]})
    found = diagnosed(profile, apply_rotary=no_infinity_in_float16)

    assert [(one.name, one.where) for one in found] == [
        ("infinity lost", "x of float16 with NaN"),
    ]


def test_tokens_of_equal_numbers_are_told_apart(diagnosed):
    """What is done to text alone is said of tokens whose position numbers are equal."""
    claims = {"interleaved": False, "sections": [16, 16], "axial": True, "head_dims": [64]}
    found = diagnosed(Profile.from_mapping(claims), apply_rotary=text_as_one_axis)

    assert found[0].name == "exponent that runs on"
    assert found[0].where == "tokens whose position numbers are equal"


@pytest.mark.parametrize(
    ("function", "what", "where"),
    [
        (
            far_rows_brought_near,
            "its own less the first position of its row",
            "rows that begin at positions from 65536 on",
        ),
        (
            runs_by_range,
            "counted from the smallest of a row if the largest is as far as in a run",
            "every call",
        ),
        (
            run_by_range_of_all,
            "counted from the smallest of all if the largest of all is as far as in a run",
            "every call",
        ),
        (
            runs_if_all_ends_fit,
            "counted from the first of a row if the last fits in all",
            "every call",
        ),
    ],
)
def test_rows_are_told_by_where_they_begin_and_end(function, what, where, diagnosed):
    """What is done to some rows alone is said with what they have in common."""
    profile = Profile.from_mapping({"interleaved": False})
    found = diagnosed(profile, apply_rotary=function)

    assert what in found[0].sentence
    assert where in found[0].where


def test_where_no_pair_can_be_read_nothing_is_fitted(diagnosed):
    """What is no rotation of anything has no quarters: the search goes on."""
    profile = Profile.from_mapping({"interleaved": False})

    def nowhere(x, positions):
        return np.full_like(x, np.nan) if positions.any() else x.copy()

    assert diagnosed(profile, apply_rotary=nowhere)
