"""Mistakes in tables of sines, widths, runs and lengths, each named by what it reproduces."""

import numpy as np
import pytest

from ropespec.conformance.diagnosis import diagnose
from ropespec.conformance.profile import Profile


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


def longer_by_the_tokens(x, positions):
    """Take the number of tokens for the length of dynamic NTK."""
    d = x.shape[-1]
    grown = max(4 * x.shape[1] / 256 - 3, 1.0) if d > 2 else 1.0
    return rope(x, positions, 10000.0 * grown ** (d / max(d - 2, 1)))


DYNAMIC = {"rope_type": "dynamic", "factor": 4.0, "original_max_position_embeddings": 256}


@pytest.mark.parametrize(
    ("function", "claims", "name", "what"),
    [
        (quarters_by_a_signed_remainder, {}, "quarters of a turn mixed up", "to the nearest"),
        (quarters_by_their_size, {}, "quarters of a turn mixed up", "to the nearest"),
        (last_segment_of_8192, {}, "last segment of a table of sines", "of 8192 segments"),
        (rotates_24, {"head_dims": [32, 64]}, "another rotary_dim", "24 components rotate"),
        (gaps_closed_through_the_batch, {}, "gaps closed", "rise, through the batch"),
        (last_chunk_by_its_own_size, {}, "rotated by the position of another", "block of 64"),
        (
            longer_by_the_tokens,
            {"scaling": DYNAMIC, "negative_positions": False, "head_dims": [8, 32]},
            "base grows with the length",
            "the length of the call",
        ),
    ],
)
def test_a_mistake_has_its_name(function, claims, name, what, checks):
    """The name, and the number that was read off."""
    in_process = type(checks.trial({}).session)
    profile = Profile.from_mapping({"interleaved": False, **claims})
    found = diagnose(in_process({"apply_rotary": function}, profile))

    assert found[0].name == name
    assert what in found[0].sentence
    assert found[0].where == "every call"


def test_where_no_pair_can_be_read_nothing_is_fitted(checks):
    """What is no rotation of anything has no quarters: the search goes on."""
    in_process = type(checks.trial({}).session)
    profile = Profile.from_mapping({"interleaved": False})

    def nowhere(x, positions):
        return np.where(positions[..., None, None] == 0, x, np.nan).astype(x.dtype)

    assert diagnose(in_process({"apply_rotary": nowhere}, profile))
