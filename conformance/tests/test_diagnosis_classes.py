"""Classes of mistakes with a number of their own, and two mistakes at once, each by a variant."""

import ml_dtypes
import numpy as np
import pytest

from ropespec.conformance.grouped import queries
from ropespec.conformance.profile import Profile
from ropespec.reference import inv_freq_scaled
from ropespec.spec.scaling import Llama3, Yarn

BF16 = ml_dtypes.bfloat16


def theta(d):
    return 10000.0 ** (-np.arange(0, d, 2) / d)


def half(x, angle):
    """Rotate halves by angles of (B, S, H or 1, n)."""
    c, s = np.cos(angle), np.sin(angle)
    a, b = np.split(x.astype(np.float64), 2, axis=-1)
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1)


def rope(x, positions, frequencies=None):
    frequencies = theta(x.shape[-1]) if frequencies is None else frequencies
    return half(x, positions[..., None, None] * frequencies).astype(x.dtype)


def remainder_of_8_pairs_begins_again(x, positions):
    n = x.shape[-1] // 2
    i = np.arange(n)
    return rope(x, positions, theta(2 * n)[np.where(i < n // 8 * 8, i, i % 8)])


def pairs_from_12_share_a_frequency(x, positions):
    n = x.shape[-1] // 2
    return rope(x, positions, theta(2 * n)[np.minimum(np.arange(n), 11)])


def tokens_after_whole_blocks_of_128_unturned(x, positions):
    y, whole = rope(x, positions), x.shape[1] // 128 * 128
    if x.shape[1] > 128:
        y[:, whole:] = x[:, whole:]
    return y


def linear_of_another_base(x, positions):
    return rope(x, positions, 1e6 ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]) / 8)


def llama3_of_the_same_base(x, positions):
    scaling = Llama3(8.0, 1.0, 4.0, 8192)
    return rope(x, positions, inv_freq_scaled(x.shape[-1], scaling=scaling))


def counted_if_the_ends_fit(x, positions):
    counted = positions[:, :1] + np.arange(x.shape[1])
    return rope(x, np.where(positions[:, -1:] == counted[:, -1:], counted, positions))


def of_the_first_row_if_the_last_is_the_same(x, positions):
    same = len(x) and np.array_equal(positions[0], positions[-1])
    return rope(x, np.broadcast_to(positions[:1], positions.shape) if same else positions)


def of_the_first_row_if_both_ends_are_the_same(x, positions):
    same = positions.size and (positions[:, [0, -1]] == positions[0, [0, -1]]).all()
    return rope(x, np.broadcast_to(positions[:1], positions.shape) if same else positions)


def sorted_if_all_differ(x, positions):
    unique = np.unique(positions)
    return rope(x, unique.reshape(positions.shape) if unique.size == positions.size else positions)


def divided_towards_zero(x, positions):
    return rope(x, np.trunc(positions / 512) * 512 + positions % 512)


def one_further_from_1024_on(x, positions):
    far = np.abs(positions) >= 1024
    return rope(x, positions + np.where(far, np.sign(positions), 0))


def position_minus_2_unturned(x, positions):
    return np.where((positions == -2)[..., None, None], x, rope(x, positions))


def frequencies_in_20_bits(x, positions):
    return rope(x, positions, np.floor(theta(x.shape[-1]) * 2**20) / 2**20)


def sines_of_2048_angles(x, positions):
    step = 2 * np.pi / 2048
    angle = positions[..., None, None] * theta(x.shape[-1])
    return half(x, np.round(angle / step) * step).astype(x.dtype)


def heads_reshaped_to_the_front(x, positions):
    b, s, h, d = x.shape
    turned = half(x.reshape(b, h, s, d), positions[:, None, :, None] * theta(d))
    return turned.reshape(x.shape).astype(x.dtype)


def last_tile_of_32_moved_back(x, positions):
    y, s = rope(x, positions), x.shape[1]
    if s <= 32:
        return y
    tiles = [y[:, min(start, s - 32) :][:, :32] for start in range(0, s, 32)]
    return np.concatenate(tiles, axis=1)[:, :s]


def last_tile_of_64_overlaps(x, positions):
    y, s = np.array(x), x.shape[1]
    for start in range(0, s, 64):
        part = slice(min(start, s - 64) if s > 64 else 0, None)
        tile = slice(part.start, part.start + 64)
        y[:, tile] = rope(y[:, tile], positions[:, tile])
    return y


def last_row_and_bfloat16_frequencies(x, positions):
    if not x.size:
        return x.copy()
    rounded = theta(x.shape[-1]).astype(np.float32).astype(BF16).astype(np.float64)
    return rope(x, np.broadcast_to(positions[-1:], positions.shape), rounded)


def first_and_on_of_sizes(x, positions):
    size = np.abs(positions)
    return rope(x, size[:, :1] + np.arange(x.shape[1]))


def base_as_a_short_logarithm(x, positions):
    n = x.shape[-1] // 2
    frequencies = np.exp2(np.arange(n, dtype=np.float32) * np.float32(-13.2877 / n))
    return rope(x, positions, frequencies)


def cut_to_bfloat16(x, positions):
    y = np.ascontiguousarray(half(x, positions[..., None, None] * theta(x.shape[-1])), np.float32)
    return (y.view(np.uint32) >> 16).astype(np.uint16).view(BF16)


def neighbours_of_base_1234(x, positions):
    d = x.shape[-1]
    woven = np.concatenate([x[..., 0::2], x[..., 1::2]], axis=-1)
    turned = rope(woven, positions, 1234.0 ** (-np.arange(0, d, 2) / d))
    return np.stack(np.split(turned, 2, axis=-1), axis=-1).reshape(x.shape)


def three_further_and_nine_tenths(x, positions):
    return (0.9 * rope(x.astype(np.float64), positions + 3)).astype(x.dtype)


def slowest_first_but_for_the_last_head(x, positions):
    y = rope(x, positions, theta(x.shape[-1])[::-1])
    y[:, :, -1:] = x[:, :, -1:]
    return y


def third_of_the_angle_and_heads_in_reverse(x, positions):
    return rope(x, positions, theta(x.shape[-1]) / 3)[:, :, ::-1]


def lost_minus_and_five_quarters(x, positions):
    angle = positions[..., None, None] * theta(x.shape[-1])
    a, b = np.split(x.astype(np.float64), 2, axis=-1)
    c, s = 1.25 * np.cos(angle), 1.25 * np.sin(angle)
    return np.concatenate([a * c + b * s, b * c + a * s], axis=-1).astype(x.dtype)


def of_length_1_after(x, positions):
    y = half(x, positions[..., None, None] * theta(x.shape[-1]))
    return (y / np.maximum(np.linalg.norm(y, axis=-1, keepdims=True), 1e-6)).astype(x.dtype)


def turns_of_22_sevenths(x, positions):
    angle, turn = positions[..., None, None] * theta(x.shape[-1]), 44 / 7
    return half(x, angle - turn * np.round(angle / turn)).astype(x.dtype)


def power_of_a_step_in_float16(x, positions):
    angle = theta(x.shape[-1])
    real, imaginary = (f(angle).astype(np.float16).astype(np.float64) for f in (np.cos, np.sin))
    table = (real + 1j * imaginary) ** positions[..., None, None]
    a, b = np.split(x.astype(np.float64), 2, axis=-1)
    y = (a + 1j * b) * table
    return np.concatenate([y.real, y.imag], axis=-1).astype(x.dtype)


def squared_and_multiplied(x, positions):
    power = np.exp(1j * theta(x.shape[-1])).astype(np.complex64)
    size = np.abs(positions)[..., None, None]
    made = np.ones((*size.shape[:3], len(power)), np.complex64)
    for bit in range(int(size.max(initial=0)).bit_length()):
        made = np.where(size >> bit & 1, made * power, made)
        power = power * power
    made = np.where(positions[..., None, None] < 0, made.conj(), made)
    a, b = np.split(x.astype(np.float64), 2, axis=-1)
    y = (a + 1j * b) * made
    return np.concatenate([y.real, y.imag], axis=-1).astype(x.dtype)


def steps_along_a_run(x, positions):
    if positions.shape[1] < 2 or (np.diff(positions, axis=1) != 1).any():
        return rope(x, positions)
    step = np.exp(1j * theta(x.shape[-1])).astype(np.complex64)
    steps = np.broadcast_to(step, (*positions.shape, len(step))).copy()
    steps[:, 0] = np.exp(1j * positions[:, :1] * theta(x.shape[-1]))
    turned = np.multiply.accumulate(steps, axis=1, dtype=np.complex64)[:, :, None]
    a, b = np.split(x, 2, axis=-1)
    y = (a + 1j * b) * turned
    return np.concatenate([y.real, y.imag], axis=-1).astype(x.dtype)


def heads_of_q_and_k(x, positions, turned):
    """Rotate what `turned` keeps of the heads that a style hands over as q, and of those as k."""
    y, first = np.array(x), queries(x.shape[2])
    for part in (y[:, :, :first], y[:, :, first:]):
        kept = turned(part.shape[2])
        part[:, :, kept] = rope(part[:, :, kept], positions)
    return y


def heads_in_whole_fours(x, positions):
    return heads_of_q_and_k(x, positions, lambda heads: slice(heads // 4 * 4))


def all_heads_but_the_last(x, positions):
    return heads_of_q_and_k(x, positions, lambda heads: slice(heads - 1))


def heads_up_to_twice_those_of_k(x, positions):
    y, last = np.array(x), 2 * (x.shape[2] - queries(x.shape[2]))
    y[:, :, :last] = rope(x[:, :, :last], positions)
    return y


def tokens_shared_out_in_large_calls(x, positions):
    y, last = rope(x, positions), -(x.shape[0] * x.shape[1] % 4)
    if x.size >= 32768 and last:
        y.reshape(-1, *x.shape[2:])[last:] = x.reshape(-1, *x.shape[2:])[last:]
    return y


def pairs_in_whole_eights(x, positions):
    n = x.shape[-1] // 2
    left_over = np.arange(n) >= n // 8 * 8
    return rope(x, positions, np.where(left_over, 0.0, theta(2 * n)))


def components_have_frequencies(x, positions):
    d = x.shape[-1]
    angle = positions[..., None, None] * 10000.0 ** (-2 * np.arange(d) / d)
    a, b = np.split(x.astype(np.float64), 2, axis=-1)
    turned = np.concatenate([-b, a], axis=-1)
    return (x * np.cos(angle) + turned * np.sin(angle)).astype(x.dtype)


def tokens_counted_in_8_bits(x, positions):
    number = np.arange(positions.size) & 255
    return rope(x, positions.ravel()[number].reshape(positions.shape))


def tokens_by_a_shift_of_the_heads(x, positions):
    b, s, h, _ = x.shape
    if not x.size:
        return x.copy()
    token = np.minimum(np.arange(b * s * h) >> (h.bit_length() - 1), b * s - 1)
    place = positions.ravel()[token].reshape(b, s, h, 1)
    return half(x, place * theta(x.shape[-1])).astype(x.dtype)


def of_the_first_row_if_all_begin_alike(x, positions):
    if positions.size and (positions[:, 0] == positions[0, 0]).all():
        positions = np.broadcast_to(positions[:1], positions.shape)
    return rope(x, positions)


def at_most_32767(x, positions):
    return rope(x, np.minimum(positions, 32767))


def runs_begin_at_0(x, positions):
    place = positions.copy()
    for row in place:
        ends = np.flatnonzero(np.diff(row) != 1) + 1
        for run in np.split(row, ends):
            if len(run) > 1:
                run[:] = np.arange(len(run))
    return rope(x, place)


def logarithm_of_the_base_in_float16(x, positions):
    base = 2.0 ** float(np.float16(np.log2(500000.0)))
    return rope(x, positions, base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]))


def tail_of_32_at_most(x, positions):
    y = np.concatenate([rope(x[..., :32], positions), x[..., 32:]], axis=-1)
    y[..., 64:] = 0
    return y


YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 4096}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
FACTORS = {"short_factor": [1.0 + i / 64 for i in range(16)], "long_factor": [*range(1, 17)]}
LONGROPE = {
    "rope_type": "longrope",
    "factor": 16.0,
    "original_max_position_embeddings": 2048,
    "length": 32768,
    **FACTORS,
}


def periods_blended(x, positions):
    d = x.shape[-1]
    blended = inv_freq_scaled(d, scaling=Yarn(8.0, 4096))
    share = (blended / theta(d) - 1 / 8) / (1 - 1 / 8)
    gain = 1 + 0.1 * np.log(8)
    return (gain * rope(x, positions, theta(d) / (8 - 7 * share))).astype(x.dtype)


def nothing_between(x, positions):
    d = x.shape[-1]
    blended = inv_freq_scaled(d, scaling=Llama3(8.0, 1.0, 4.0, 8192))
    return rope(x, positions, np.where(blended / theta(d) < 1 - 1e-9, theta(d) / 8, theta(d)))


def padded_to_128_lanes(x, positions):
    d = x.shape[-1]
    wide = np.pad(x, [(0, 0)] * 3 + [(0, 128 - d)])
    frequencies = 10000.0 ** (-np.arange(0, 128, 2) / d)
    return rope(wide, positions, frequencies)[..., :d]


def no_longer_than_the_last_token(x, positions):
    rows = max(int(positions[:, -1:].max(initial=0)) + 1, 64)
    return rope(x, np.minimum(positions, rows - 1))


def tail_by_zero(x, positions):
    y = rope(x[..., :16], positions)
    with np.errstate(invalid="ignore"):
        rest = x[..., 16:] + 0 * x[..., :15:-1]
    return np.concatenate([y, rest], axis=-1)


def long_by_the_highest_position(x, positions):
    name = "long_factor" if positions.max(initial=0) >= 2048 else "short_factor"
    gain = np.sqrt(1 + np.log(16) / np.log(2048))
    return (gain * rope(x, positions, theta(32) / np.array(FACTORS[name]))).astype(x.dtype)


@pytest.mark.parametrize(
    ("function", "claims", "name", "where"),
    [
        (tokens_counted_in_8_bits, {}, "rotated by the position of another", "every call"),
        (tokens_by_a_shift_of_the_heads, {}, "heads rotated differently", "every call"),
        (of_the_first_row_if_all_begin_alike, {}, "taken for a run", "every call"),
        (at_most_32767, {"head_dims": [64]}, "beyond the table", "positions from 32768 on"),
        (runs_begin_at_0, {"negative_positions": False}, "positions restart", "every call"),
        (logarithm_of_the_base_in_float16, {"base": 500000.0}, "wrong base", "every call"),
        (base_as_a_short_logarithm, {"compiled": True}, "wrong base", "every call"),
        (neighbours_of_base_1234, {}, "L1 wrong pairing and F1 wrong base", "every call"),
        (three_further_and_nine_tenths, {}, "K13 attention factor and offset", "every call"),
        (
            slowest_first_but_for_the_last_head,
            {},
            "frequencies reversed and A3 never applied",
            "the second: the last head",
        ),
        (
            third_of_the_angle_and_heads_in_reverse,
            {},
            "heads mixed up and K1 positions scaled",
            "every call",
        ),
        (
            lost_minus_and_five_quarters,
            {},
            "lost minus and K13 attention factor",
            "every call",
        ),
        (of_length_1_after, {}, "x normalised", "every call"),
        (turns_of_22_sevenths, {}, "fast sine", "every call"),
        (power_of_a_step_in_float16, {}, "power of a rounded step", "every call"),
        (squared_and_multiplied, {}, "error grows with the position", "far positions"),
        (steps_along_a_run, {}, "error grows along a row", "long rows"),
        (
            heads_in_whole_fours,
            {},
            "beyond a block",
            "heads of q or k after the last whole block",
        ),
        (
            heads_up_to_twice_those_of_k,
            {},
            "never applied",
            "heads from twice as many as k has on",
        ),
        (
            tokens_shared_out_in_large_calls,
            {},
            "beyond a block",
            "or more elements, places after the last whole block of 4",
        ),
        (pairs_in_whole_eights, {}, "pairs left over", "whole block of 8"),
        (all_heads_but_the_last, {}, "never applied", "the last head of q and of k"),
        (components_have_frequencies, {}, "members of different frequencies", "every call"),
        (remainder_of_8_pairs_begins_again, {}, "frequencies repeated", "whole block of 8"),
        (pairs_from_12_share_a_frequency, {}, "frequencies repeated", "every call"),
        (tokens_after_whole_blocks_of_128_unturned, {}, "beyond a block", "whole block of 128"),
        (linear_of_another_base, {}, "scaling that is not claimed", "every call"),
        (llama3_of_the_same_base, {}, "scaling that is not claimed", "every call"),
        (counted_if_the_ends_fit, {}, "taken for a run", "every call"),
        (of_the_first_row_if_the_last_is_the_same, {}, "taken for a run", "every call"),
        (of_the_first_row_if_both_ends_are_the_same, {}, "taken for a run", "every call"),
        (sorted_if_all_differ, {}, "rotated by the position of another", "every call"),
        (divided_towards_zero, {}, "negative positions split", "every call"),
        (one_further_from_1024_on, {}, "beyond the table", "positions of size from 1024 on"),
        (position_minus_2_unturned, {}, "position taken for padding", "positions -2"),
        (frequencies_in_20_bits, {}, "frequencies in fixed point", "every call"),
        (sines_of_2048_angles, {}, "angles in steps", "every call"),
        (heads_reshaped_to_the_front, {}, "heads read as tokens", "every call"),
        (last_tile_of_32_moved_back, {}, "last block moved back", "every call"),
        (last_tile_of_64_overlaps, {}, "last block moved back", "every call"),
        (
            last_row_and_bfloat16_frequencies,
            {},
            "D1 frequencies in half precision and B5 positions of one row for all",
            "every call",
        ),
        (
            first_and_on_of_sizes,
            {},
            "counted from the first position and sign of positions lost",
            "every call",
        ),
        (
            tail_of_32_at_most,
            {"rotary_dim": 32, "head_dims": [32, 64, 128]},
            "wrong end rotates, or tail dropped",
            "tail components from 32 on",
        ),
        (periods_blended, {"scaling": YARN}, "another blend", "every call"),
        (nothing_between, {"scaling": LLAMA3}, "another blend", "every call"),
        (
            long_by_the_highest_position,
            {"scaling": LONGROPE, "head_dims": [32]},
            "another scheme",
            "calls whose highest position is up to 2047",
        ),
        (
            padded_to_128_lanes,
            {"head_dims": [80, 96, 128]},
            "halves of a padded head",
            "every call",
        ),
        (
            no_longer_than_the_last_token,
            {"negative_positions": False},
            "table as long as the last token",
            "every call",
        ),
        (
            tail_by_zero,
            {"rotary_dim": 16, "head_dims": [32, 64]},
            "tail computed",
            "x with",
        ),
        (cut_to_bfloat16, {"dtypes": ["bfloat16"]}, "result cut off", "every call"),
    ],
)
def test_a_class_of_mistakes_has_its_name(function, claims, name, where, diagnosed):
    """A number that is in no list, or two mistakes at once, are reproduced and named."""
    profile = Profile.from_mapping({"interleaved": False, **claims})
    found = diagnosed(profile, apply_rotary=function)

    assert found[0].name == name
    assert where in found[0].where
