"""What components are made of where it is no pair that is claimed, and schemes that are others."""

import numpy as np
import pytest

from ropespec.conformance.diagnosis.ask import Answer
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.confirm import Explanation, explains
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.diagnosis.where import EVERYWHERE
from ropespec.conformance.grouped import queries
from ropespec.conformance.mistakes.chain import RIGHT
from ropespec.conformance.mistakes.frequency import listed
from ropespec.conformance.profile import Profile


def theta(d, base=10000.0):
    return base ** (-np.arange(0, d, 2) / d)


def halves(x, angle, key=None):
    """Rotate halves by angles of (B, S, 1, n); the sine multiplies `key`, if that is given."""
    c, s = (np.concatenate([f(angle), f(angle)], axis=-1) for f in (np.cos, np.sin))
    a, b = np.split((x if key is None else key).astype(np.float64), 2, axis=-1)
    return (x * c + np.concatenate([-b, a], axis=-1) * s).astype(x.dtype)


def rope(x, positions, frequencies=None):
    frequencies = theta(x.shape[-1]) if frequencies is None else frequencies
    return halves(x, positions[..., None, None] * frequencies)


def query_in_the_key(x, positions):
    half = (x.shape[2] + 1) // 2
    first = x[:, :, [*range(half), *range(x.shape[2] - half)]]
    return halves(x, positions[..., None, None] * theta(x.shape[-1]), first)


def tail_of_the_query(x, positions):
    y, first = x.copy(), queries(x.shape[2])
    y[..., :16] = rope(x[..., :16], positions)
    y[:, :, first:, 16:] = x[:, :, : x.shape[2] - first, 16:]
    return y


def pieces_of_64(x, positions):
    d = x.shape[-1]
    width = 64 if d > 64 and d % 64 == 0 else d
    parts = [rope(x[..., at : at + width], positions) for at in range(0, d, width)]
    return np.concatenate(parts, axis=-1)


def tiles_of_32(x, positions):
    """Pair halves of each tile, by the frequencies of the whole head; the last one is narrower."""
    angle, y = positions[..., None, None] * theta(x.shape[-1]), np.empty_like(x)
    for at in range(0, x.shape[-1], 32):
        y[..., at : at + 32] = halves(x[..., at : at + 32], angle[..., at // 2 : at // 2 + 16])
    return y


def halves_of_the_head_cut_late(x, positions):
    r, d = 16, x.shape[-1]
    angle = positions[..., None, None] * np.tile(theta(r), 2)
    turned = np.concatenate([-x[..., d // 2 :], x[..., : d // 2]], axis=-1)
    y = x.astype(np.float64)
    y[..., :r] = x[..., :r] * np.cos(angle) + turned[..., :r] * np.sin(angle)
    return y.astype(x.dtype)


def split_the_wrong_way(x, positions):
    """Members that lie half a head apart are taken for neighbours before they are rotated."""
    d = x.shape[-1]
    woven = x.reshape(*x.shape[:-1], 2, d // 2).swapaxes(-1, -2).reshape(x.shape)
    return rope(woven, positions)


def third_component_is_its_neighbour(x, positions):
    y = rope(x, positions)
    if x.shape[-1] > 4:
        y[..., 2] = y[..., 1]
    return y


def seconds_one_further(x, positions):
    """Component i rotates with the one after its partner, the last with the first of those."""
    n = x.shape[-1] // 2
    order = np.concatenate([np.arange(n), n + np.roll(np.arange(n), -1)])
    y = np.empty_like(x)
    y[..., order] = rope(x[..., order], positions)
    return y


def padded_halves(x, positions, *, masked=False):
    """Lanes up to a power of two, of which those beyond the head are 0."""
    d = x.shape[-1]
    lanes = np.arange((1 << (d - 1).bit_length()) // 2)
    padded = np.zeros((*x.shape[:-1], 2 * len(lanes)))
    padded[..., :d] = x
    a, b = np.split(padded, 2, axis=-1)
    angle = positions[..., None, None] * 10000.0 ** (-2 * lanes / d)
    if masked:
        angle = np.where(lanes < d // 2, angle, 0.0)
    c, s = np.cos(angle), np.sin(angle)
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1)[..., :d].astype(x.dtype)


def padded_halves_masked(x, positions):
    return padded_halves(x, positions, masked=True)


def rolled(x, positions):
    return np.roll(rope(x, positions), 3, axis=-1)


def sines_larger(x, positions):
    angle = positions[..., None, None] * theta(x.shape[-1])
    a, b = np.split(x.astype(np.float64), 2, axis=-1)
    c, s = np.cos(angle), 1.03 * np.sin(angle)
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1).astype(x.dtype)


def half_kept_within(x, positions, low, high):
    """Blend by the period, in units of the original length, from `low` to `high`."""
    rates = theta(x.shape[-1])
    share = np.clip((high - 2 * np.pi / rates) / (high - low), 0.0, 1.0)
    return rope(x, positions, (1 - share) * rates / 4 + share * rates)


def by_the_period(x, positions):
    return half_kept_within(x, positions, 2048 / 32, 2048 / 1)


def exponent_of_its_own(x, positions):
    d = x.shape[-1]
    return rope(x, positions, 10000.0 ** (-(np.arange(0, d, 2) + 3) / (d + 6)))


def blended(x, positions, whole, base=10000.0):
    """Blend by a ramp whose ends, of base 10000, are brought to whole indices."""
    d = x.shape[-1]
    ends = [d * np.log(4096 / (2 * np.pi * n)) / (2 * np.log(10000.0)) for n in (32, 1)]
    low, high = (round_(end) for round_, end in zip(whole, ends, strict=True))
    share = 1 - np.clip((np.arange(d // 2) - low) / max(high - low, 1e-3), 0.0, 1.0)
    frequencies = theta(d, base) * (share + (1 - share) / 8)
    return ((1 + 0.1 * np.log(8)) * rope(x, positions, frequencies)).astype(x.dtype)


def ramp_ends_too_early(x, positions):
    return blended(x, positions, (np.floor, np.floor))


def ramp_of_another_base(x, positions):
    return blended(x, positions, (np.floor, np.ceil), 1e6)


def tiled_over_heads(x, positions):
    b, s, h, d = x.shape
    place = np.tile(positions.ravel(), h).reshape(b, s, h, 1)
    return halves(x, place * theta(d))


def base_without_brackets(x, positions):
    d = x.shape[-1]
    return rope(x, positions, theta(d, 10000.0 * (2 * 4 - 2 - 1) ** (d / (d - 2))))


def of_what_turns(x, positions):
    d = x.shape[-1]
    return rope(x, positions, np.concatenate([theta(d // 4), np.zeros(d // 2 - d // 8)]))


def gain_on_cosines(x, positions):
    angle = positions[..., None, None] * theta(x.shape[-1]) / 1
    gain = 1 + 0.1 * np.log(8)
    a, b = np.split(x.astype(np.float64), 2, axis=-1)
    c, s = gain * np.cos(angle), np.sin(angle)
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1).astype(x.dtype)


def steps_divided_alone(x, positions):
    place = positions.astype(np.float64)
    for row in place:
        for run in np.split(row, np.flatnonzero(np.diff(row) != 1) + 1):
            run[:] = run[:1] + np.arange(len(run)) / 4
    return rope(x, place)


def divided_by_the_whole_width(x, positions):
    index = np.concatenate([np.arange(n) for n in (4, 6, 6)])
    numbers = np.repeat([0, 1, 2], (4, 6, 6))
    angle = np.moveaxis(positions, 0, -1)[..., None, numbers] * 10000.0 ** (-index / 16)
    return halves(x, angle)


DYNAMIC = {
    "rope_type": "dynamic",
    "factor": 2.0,
    "original_max_position_embeddings": 4096,
    "length": 16384,
}
PROPORTIONAL = {"rope_type": "proportional", "partial_rotary_factor": 0.25}
PARTS = {"rope_type": "ntk-by-parts", "factor": 4.0, "original_max_position_embeddings": 2048}
YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 4096}
LINEAR = {"rope_type": "linear", "factor": 4.0}
FEW = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 2**23}
"""Of so long a length that no pair is divided, and only the factor is left."""


@pytest.mark.parametrize(
    ("function", "claims", "name", "what"),
    [
        (query_in_the_key, {}, "query in the key", "the sine multiplies"),
        (
            tail_of_the_query,
            {"rotary_dim": 16, "head_dims": [32]},
            "query in the key",
            "tail of a key is that of its query",
        ),
        (pieces_of_64, {"head_dims": [64, 128]}, "heads in pieces", "pieces of 64"),
        (tiles_of_32, {"head_dims": [16, 32, 40, 64]}, "heads in pieces", "its own frequencies"),
        (
            halves_of_the_head_cut_late,
            {"rotary_dim": 16, "head_dims": [32, 40, 64]},
            "head_dim instead of rotary_dim",
            "before it is cut",
        ),
        (
            split_the_wrong_way,
            {"head_dims": [8, 16]},
            "pairs in another order",
            "x in the order 0, 8, 1, 9, 2, 10, 3, 11, ...",
        ),
        (
            third_component_is_its_neighbour,
            {"head_dims": [8, 16]},
            "operands confused",
            "y2 = x1 cos(m theta_1) - x9 sin(m theta_1)",
        ),
        (
            seconds_one_further,
            {"head_dims": [8, 16]},
            "other pairs",
            "0 with 9, 1 with 10, 2 with 11",
        ),
        (
            rolled,
            {"head_dims": [8, 16]},
            "pairs in another order",
            "comes back is in the order 13, 14, 15, 0",
        ),
        (
            padded_halves,
            {"head_dims": [16, 24, 40]},
            "halves of a padded head",
            "what has no partner is multiplied by cos",
        ),
        (
            padded_halves_masked,
            {"head_dims": [16, 24, 40]},
            "halves of a padded head",
            "and 0 beyond the head",
        ),
        (sines_larger, {"head_dims": [8, 16]}, "operands confused", "1.03 x"),
        (
            ramp_of_another_base,
            {"scaling": YARN, "head_dims": [128], "base": 1e6},
            "another blend",
            "ramp has its ends by base 10000",
        ),
        (
            ramp_ends_too_early,
            {"scaling": YARN, "head_dims": [64, 128]},
            "another blend",
            "rounded down",
        ),
        (tiled_over_heads, {}, "positions repeated in another order", "and not each of them"),
        (exponent_of_its_own, {}, "wrong exponent", "base^(-(2i +3)/(r +6))"),
        (by_the_period, {"scaling": PARTS}, "another blend", "wavelength"),
        (
            base_without_brackets,
            {"scaling": DYNAMIC, "head_dims": [64, 128]},
            "another scheme",
            "multiplied by 5^(r/(r-2))",
        ),
        (
            of_what_turns,
            {"scaling": PROPORTIONAL, "head_dims": [64, 128]},
            "wrong exponent",
            "of what turns alone",
        ),
        (gain_on_cosines, {"scaling": FEW}, "attention factor on one of the two", "cosines"),
        (steps_divided_alone, {"scaling": LINEAR}, "offset not scaled", "where it begins is not"),
        (
            divided_by_the_whole_width,
            {"sections": [4, 6, 6], "axial": True, "head_dims": [32]},
            "wrong exponent",
            "divided by the width of all",
        ),
    ],
)
def test_what_components_are_made_of_has_a_name(function, claims, name, what, diagnosed):
    """It is one that is known, or read off: which components, by which cosine and sine."""
    profile = Profile.from_mapping({"interleaved": False, **claims})
    found = diagnosed(profile, apply_rotary=function)

    assert found[0].name.endswith(name)
    assert what in found[0].sentence


def test_what_was_not_measured_is_no_evidence():
    """A call of a width that nothing was measured of counts neither way."""
    maker = Maker(Profile.from_mapping({"interleaved": False, "head_dims": [8, 16]}))
    explanation = Explanation(listed({8: theta(8)}, "measured", "unknown frequencies"), EVERYWHERE)

    def counted(dim):
        given = maker.given((1, 2, 1), "scattered", 1, dim=dim)
        return explains(explanation, Seen(Answer(given, rope(given.x, given.positions)), RIGHT))

    assert counted(8) == (16, 16)
    assert counted(16) == (0, 0)
