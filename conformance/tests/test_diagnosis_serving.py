"""Mistakes of serving stacks and of whoever saves a product, each named as what it is."""

import numpy as np
import pytest

from ropespec.conformance.grouped import queries
from ropespec.conformance.profile import Profile
from ropespec.conformance.zoo.parts import half, turn

YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 4096}


def theta(d):
    return 10000.0 ** (-np.arange(0, d, 2) / d)


def sheared(x, positions):
    """Shear the first member by the second, back, and again."""
    angle = positions[..., None, None] * theta(x.shape[-1])
    tangent, sine = np.tan(angle / 2).astype(np.float32), np.sin(angle).astype(np.float32)
    a, b = np.split(x.astype(np.float32), 2, axis=-1)
    a = a - tangent * b
    b = b + sine * a
    return np.concatenate([a - tangent * b, b], axis=-1).astype(x.dtype)


def last_chunk_of_1024_from_the_end(x, positions):
    """Rotate what is left over by the first of the last 1024 positions."""
    p, rest = positions.copy(), positions.shape[1] % 1024
    if rest and positions.shape[1] > 1024:
        p[:, -rest:] = positions[:, -1024:][:, :rest]
    return turn(x, p)


def narrowed_by_hand(x, positions):
    """Store a float16 below its normal numbers as zero."""
    y = turn(x, positions)
    return np.where(np.abs(y.astype(np.float64)) < 2.0**-14, 0.0, y).astype(x.dtype)


def blocks_of_x_moved_back(x, positions):
    """Rotate whole blocks of 256, of which the last one of x begins earlier than its positions."""
    p, count = positions.copy(), positions.shape[1]
    if count > 256 and count % 256:
        p[:, -256:] = positions[:, np.minimum(np.arange(256) + count // 256 * 256, count - 1)]
    return turn(x, p)


def blocks_of_x_moved_back_by_padded_tables(x, positions):
    """Do the same with blocks of 8, and with tables that are padded by zeros."""
    p, count = positions.copy(), positions.shape[1]
    if count > 8 and count % 8:
        padded = np.pad(positions, ((0, 0), (0, 8)))
        p[:, -8:] = padded[:, count // 8 * 8 :][:, :8]
    return turn(x, p)


def put_back_by_the_order(x, positions):
    """Sort tokens by their positions, and gather by the same order instead of its inverse."""
    order = np.argsort(positions, axis=1, kind="stable")
    y = np.take_along_axis(turn(x, positions), order[..., None, None], axis=1)
    return np.take_along_axis(y, order[..., None, None], axis=1)


def put_back_through_the_batch(x, positions):
    """Do the same with the tokens of all rows together."""
    order = np.argsort(positions, axis=None, kind="stable")
    y = turn(x, positions).reshape(-1, *x.shape[2:])
    return y[order][order].reshape(x.shape)


def some_places_not_turned(x, positions):
    """Leave out places that no list knows."""
    left = np.isin(np.arange(x.shape[1]) ** 2 % 11, (3, 5))
    return np.where(left[:, None, None], x, turn(x, positions))


def off_by_16_bits(x, positions):
    """Lose what no 16 bits hold, for a reason that no list knows."""
    return turn(x, positions + 65536 * (positions**2 % 7 == 2))


def quarters_in_int16(x, positions):
    """Count quarters of a turn in 16 bits, and leave the rest to polynomials of one of them."""
    angle = positions[..., None] * theta(x.shape[-1])
    quarter = np.rint(angle / (np.pi / 2)).astype(np.int64).astype(np.int16).astype(np.float64)
    rest = angle - quarter * (np.pi / 2)
    lost = np.abs(rest) > 1.0
    c, s = np.cos(rest) + 1e3 * lost, np.sin(rest) - 1e3 * lost
    turned = [(c, s), (-s, c), (-c, -s), (s, -c)]
    which = quarter.astype(np.int64) % 4
    cos, sin = (np.choose(which, [one[k] for one in turned]) for k in (0, 1))
    return half(x, cos, sin)


def another_token_of_five(x, positions):
    """Rotate by the positions of tokens that no list knows."""
    count = positions.shape[1]
    at = (np.arange(count) ** 2 * 3 + 1) % max(count, 1)
    return turn(x, positions[:, at] if count > 4 else positions)


def squared_beyond_three(x, positions):
    """Rotate by numbers that no list knows."""
    return turn(x, np.where(positions > 3, (positions**2 + 3) % 977, positions))


def split_by_four(x, positions):
    """Divide towards zero, and take the remainder of the floor."""
    angle = (np.trunc(positions / 4) + positions % 4 / 4)[..., None] * theta(x.shape[-1])
    return half(x, np.cos(angle), np.sin(angle))


def pages_in_float32(x, positions):
    """Divide towards zero by 256, and add the angles of page and slot in float32."""
    frequencies = theta(x.shape[-1])
    page = np.fmod(np.trunc(positions / 256)[..., None] * 256 * frequencies, 2 * np.pi)
    slot = (positions % 256)[..., None] * frequencies
    angle = page.astype(np.float32) + slot.astype(np.float32)
    return half(x, np.cos(angle), np.sin(angle))


def sections_doubled_as_numbers(x, positions):
    """Cut a doubled float32 table by sections of twice the length."""
    number = np.repeat([0, 1, 2], [16, 24, 24])
    frequencies = np.tile(1e6 ** (-np.arange(0, 64, 2) / 64), 2).astype(np.float32)
    followed = np.moveaxis(positions, 0, -1)[..., None, number]
    angle = followed.astype(np.float32) * frequencies
    a, b = np.split(x, 2, axis=-1)
    y = x * np.cos(angle) + np.concatenate([-b, a], axis=-1) * np.sin(angle)
    return y.astype(x.dtype)


def grown_by_the_last_row(x, positions):
    """Double a table of 2048 rows by a rotation of all by the last one."""
    return turn(x, positions - positions // 2048)


def summed_over_rows(x, positions):
    """Lose the axis of rows in a product of positions and frequencies."""
    return turn(x, np.broadcast_to(positions.sum(axis=0), positions.shape))


def two_heads_at_once(x, positions):
    """Rotate heads two by two, through the batch, by the position of the first of both."""
    flat = x.reshape(-1, 1, x.shape[-1])
    p = np.repeat(positions.ravel(), x.shape[2])
    return turn(flat, p[np.arange(len(p)) // 2 * 2]).reshape(x.shape)


def sides_read_as_tokens(x, positions):
    """Exchange heads and tokens of q, and of k, by a reshape."""
    (b, s, h, d), sides = x.shape, np.split(x, [queries(x.shape[2])], axis=2)

    def read(part):
        part = np.ascontiguousarray(part.swapaxes(1, 2))
        return turn(part.reshape(b, s, -1, d), positions).reshape(part.shape).swapaxes(1, 2)

    return turn(x, positions) if h == 1 else np.concatenate([*map(read, sides)], axis=2)


def key_by_the_heads_of_q(x, positions):
    """Find the token of a key, through the batch, by the number of heads of q."""
    (b, s, h, d), most = x.shape, queries(x.shape[2])
    if h == 1:
        return turn(x, positions)
    token = np.arange(b * s * (h - most)) // most
    k = turn(x[:, :, most:].reshape(-1, 1, d), positions.ravel()[token])
    return np.concatenate([turn(x[:, :, :most], positions), k.reshape(b, s, -1, d)], axis=2)


def sines_by_factors(x, positions):
    """Make sines of cosines, in float64."""
    angle = positions[..., None, None] * theta(x.shape[-1])
    c = np.cos(angle)
    s = np.sqrt((1 - c) * (1 + c)) * np.where(np.sin(angle) < 0, -1.0, 1.0)
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1)


def clipped_to_float16(x, positions):
    """Keep within what float16 can hold, which bfloat16 rounds up."""
    return np.clip(turn(x.astype(np.float32), positions), -65504, 65504).astype(x.dtype)


def yarn(x, positions, base, of_ends, most):
    """Rotate by YaRN, the ends of its ramp by a base, the last of them `most` at most."""
    d, n = x.shape[-1], x.shape[-1] // 2
    ends = (d * np.log(4096 / (2 * np.pi * turns)) / (2 * np.log(of_ends)) for turns in (32, 1))
    low, high = next(ends), next(ends)
    low, high = max(np.floor(low), 0), min(np.ceil(high), most)
    share = np.clip((np.arange(n) - low) / max(high - low, 1e-3), 0, 1)
    plain = base ** (-np.arange(0, d, 2) / d)
    angle = positions[..., None] * plain * (1 - share + share / 8)
    gain = 0.1 * np.log(8) + 1
    return half(x, gain * np.cos(angle), gain * np.sin(angle))


def ramp_by_another_base(x, positions):
    """Make the ends of YaRN's ramp by a default base."""
    return yarn(x, positions, 1e6, 1e4, x.shape[-1] - 1)


def ramp_to_the_last_pair(x, positions):
    """Let YaRN's ramp end at d/2 - 1 at most."""
    return yarn(x, positions, 500.0, 500.0, x.shape[-1] / 2 - 1)


def turns_of_nine_decimals(x, positions):
    """Take off whole turns in float64, as 6.283185307 each."""
    angle = np.fmod(positions[..., None] * theta(x.shape[-1]), 6.283185307)
    return half(x, np.cos(angle), np.sin(angle))


def index_around_zero(x, positions):
    """Look up positions in a table of 2^12 rows, half of them below zero."""
    return turn(x, (positions + 2048) % 4096 - 2048)


def sorted_the_other_way(x, positions):
    """Bring neighbours into halves by the permutation that brings halves into neighbours."""
    n = x.shape[-1] // 2
    y = turn(x.reshape(*x.shape[:-1], 2, n).swapaxes(-1, -2).reshape(x.shape), positions)
    return y.reshape(*x.shape[:-1], 2, n).swapaxes(-1, -2).reshape(x.shape)


def tables_in_float16(x, positions):
    """Round float64 at once: of sin(300), float32 between would make a tie, rounded away."""
    angle = positions[..., None] * theta(x.shape[-1])
    cos, sin = (f(angle).astype(np.float16).astype(np.float64) for f in (np.cos, np.sin))
    return half(x, cos, sin)


def runs_until_positions_fall(x, positions):
    """Copy rows of a table from where a packed row begins until its positions fall."""
    p = positions.copy()
    for j in range(1, p.shape[1]):
        p[:, j] = np.where(positions[:, j] < positions[:, j - 1], positions[:, j], p[:, j - 1] + 1)
    return turn(x, p)


def scaled_tables_in_bfloat16(x, positions):
    """Store the cosines and sines of linear scaling in half precision."""
    angle = positions[..., None] * theta(x.shape[-1]) / 4
    cos, sin = (f(angle).astype("bfloat16").astype(np.float32) for f in (np.cos, np.sin))
    return half(x, cos, sin)


def in_front_of_what_stays(x, positions):
    """Join the last components, which rotate and come out apart, before the others."""
    part, rest = x[..., -8:], x[..., :-8]
    y = turn(np.concatenate([part[..., ::2], part[..., 1::2]], axis=-1), positions)
    return np.concatenate([y, rest], axis=-1)


def first_for_last(x, positions):
    """Rotate the first components where the last are to."""
    return np.concatenate([turn(x[..., :8], positions), x[..., 8:]], axis=-1)


def coordinates_in_the_dtype_of_x(x, positions):
    """Give rows and columns the dtype of x before their angles are made."""
    n = x.shape[-1] // 4
    number = positions.astype(x.dtype).astype(np.float64)
    angle = np.concatenate([one[..., None] * theta(2 * n) for one in number], axis=-1)
    return half(x, np.cos(angle), np.sin(angle))


@pytest.mark.parametrize(
    ("function", "claims", "name", "what"),
    [
        (
            in_front_of_what_stays,
            {
                "interleaved": True,
                "rotary_dim": 8,
                "trailing": True,
                "pairs_apart": True,
                "head_dims": [12, 20],
            },
            "wrong end rotates, or tail dropped",
            "comes out apart at the other end",
        ),
        (
            first_for_last,
            {"rotary_dim": 8, "trailing": True, "head_dims": [12, 20]},
            "wrong end rotates, or tail dropped",
            "the first components rotate, where the last are to",
        ),
        (runs_until_positions_fall, {}, "gaps closed", "unless positions fall"),
        (
            scaled_tables_in_bfloat16,
            {"scaling": {"rope_type": "linear", "factor": 4.0}},
            "table in half precision",
            "cos and sin are rounded to bfloat16",
        ),
        (
            coordinates_in_the_dtype_of_x,
            {"sections": [8, 8], "axial": True, "dtypes": ["bfloat16"]},
            "positions in half precision",
            "positions are rounded to bfloat16",
        ),
        (
            sines_by_factors,
            {"dtypes": ["float64"]},
            "root for a sine",
            "the root of (1 - cos)(1 + cos)",
        ),
        (
            blocks_of_x_moved_back_by_padded_tables,
            {},
            "last block moved back",
            "of the last 8 tokens that of as many further on as the block lacks, then 0",
        ),
        (put_back_by_the_order, {}, "order not undone", "and again by the same indices"),
        (put_back_through_the_batch, {}, "order not undone", "tokens of all rows"),
        (
            split_by_four,
            {"scaling": {"rope_type": "linear", "factor": 4.0}},
            "negative positions split",
            "and 4 more below zero",
        ),
        (pages_in_float32, {}, "negative positions split", "and 256 more below zero"),
        (
            grown_by_the_last_row,
            {"negative_positions": False},
            "table grown by its last row",
            "less one for each 2048 before it",
        ),
        (
            sections_doubled_as_numbers,
            {"sections": [8, 12, 12], "head_dims": [64], "base": 1e6},
            "sections of components",
            "cut the doubled table",
        ),
        (summed_over_rows, {}, "positions shared over a ragged batch", "the sum of the positions"),
        (two_heads_at_once, {}, "heads rotated differently", "of each 2 heads"),
        (sides_read_as_tokens, {}, "heads read as tokens", "of q, and of k"),
        (
            key_by_the_heads_of_q,
            {},
            "rotated by the position of another",
            "by the number of heads of q",
        ),
        (blocks_of_x_moved_back, {}, "last block moved back", "of the last 256 tokens"),
        (last_chunk_of_1024_from_the_end, {}, "last block moved back", "in the last block of 1024"),
        (
            clipped_to_float16,
            {"dtypes": ["float32", "bfloat16"]},
            "large components clipped",
            "clipped at 65504",
        ),
        (sheared, {}, "rotated by shears", "the first member is sheared first"),
        (
            ramp_by_another_base,
            {"scaling": YARN, "base": 1e6},
            "another blend",
            "by base 10000",
        ),
        (
            ramp_to_the_last_pair,
            {"scaling": YARN, "base": 500.0},
            "another blend",
            "the ramp ends with the last pair",
        ),
        (
            turns_of_nine_decimals,
            {"dtypes": ["float64"]},
            "fast sine",
            "as 6.283185307 each",
        ),
        (
            tables_in_float16,
            {"max_position": 300, "dtypes": ["float32"]},
            "table in half precision",
            "cos and sin are rounded to float16",
        ),
        (index_around_zero, {}, "beyond the table", "its own modulo 4096, from -2048 on"),
        (
            sorted_the_other_way,
            {"interleaved": True},
            "other pairs",
            "sorted into the other layout by the permutation that undoes it",
        ),
    ],
)
def test_it_has_its_name(function, claims, name, what, diagnosed):
    """The name is of a class, and the sentence says which of it."""
    profile = Profile.from_mapping({"interleaved": False, **claims})
    found = diagnosed(profile, apply_rotary=function)

    assert found[0].name == name
    assert what in found[0].sentence.lower()
    assert found[0].where == "every call"


def test_float16_is_flushed_by_whoever_narrows_it(diagnosed):
    """Below its own normal numbers, which those of the arithmetic are not."""
    profile = Profile.from_mapping({"interleaved": False, "dtypes": ["float16"]})
    found = diagnosed(profile, apply_rotary=narrowed_by_hand)

    assert [one.name for one in found] == ["subnormals flushed"]


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (another_token_of_five, "rotated by the position of another"),
        (squared_beyond_three, "position of another source"),
        (some_places_not_turned, "never applied"),
        (off_by_16_bits, "positions in 16 bits"),
    ],
)
def test_what_no_list_knows_is_read_off(function, name, diagnosed):
    """The numbers by which tokens are rotated make all that is wrong, whyever they are these."""
    found = diagnosed(Profile.from_mapping({"interleaved": False}), apply_rotary=function)

    assert [one.name for one in found] == [name]
    assert "is rotated by another number" in found[0].sentence
    assert found[0].evidence.startswith("what was read off makes ")


def test_pairs_that_are_wrong_alone_are_no_other_position(diagnosed):
    """A position turns all pairs of a head."""

    def half_a_turn_more(x, positions):
        angle = positions[..., None] * theta(x.shape[-1])
        late = (positions[..., None] % 7 == 3) & (np.arange(angle.shape[-1]) == 1)
        angle = angle + 3 * late
        return half(x, np.cos(angle), np.sin(angle))

    found = diagnosed(Profile.from_mapping({"interleaved": False}), apply_rotary=half_a_turn_more)

    assert not any("position of" in one.name for one in found)


def test_a_reduction_ends_at_an_angle_and_at_no_position(diagnosed):
    """From 32767 quarters on all pairs are wrong, and slower ones of the same token right."""
    found = diagnosed(Profile.from_mapping({"interleaved": False}), apply_rotary=quarters_in_int16)
    angle = float(found[0].where.removeprefix("angles from ").removesuffix(" rad on"))

    assert found[0].name == "large angles"
    assert 0.99 < angle / (32767.5 * np.pi / 2) < 1.01
