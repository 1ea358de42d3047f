"""What is known bit for bit at position 0, and what of two names says less."""

import numpy as np
import pytest

from ropespec.conformance.diagnosis.ask import Answer
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.seen import Seen, nearer
from ropespec.conformance.diagnosis.wanted import with_feature
from ropespec.conformance.diagnosis.where import EVERYWHERE
from ropespec.conformance.mistakes.chain import RIGHT, run
from ropespec.conformance.mistakes.frequency import fitted_base
from ropespec.conformance.profile import Profile
from ropespec.conformance.zoo.parts import turn

HALF = Profile.from_mapping({"interleaved": False})
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


def gauss(x, positions):
    """Multiply three times, in float32, by sums that are rounded once."""
    n = x.shape[-1] // 2
    angle = (positions[..., None] * 10000.0 ** (-np.arange(n) / n))[:, :, None]
    c, s = np.cos(angle), np.sin(angle)
    of_both, less, more = (part.astype(np.float32) for part in (c, s - c, s + c))
    a, b = x[..., :n].astype(np.float32), x[..., n:].astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        both = of_both * (a + b)
        return np.concatenate([both - b * more, both + a * less], axis=-1).astype(x.dtype)


def one_row_short(x, positions):
    """Clamp the one position that the table lacks."""
    return turn(x, np.minimum(positions, 8191))


def rows_of_the_call(x, positions):
    """Look positions up in a table with a row for each token, as JAX does: to its last row."""
    return turn(x, np.minimum(positions, x.shape[1] - 1))


def in_radians(x, positions):
    """Blend as Llama 3 does, by wavelengths that lack their 2 pi."""
    n = x.shape[-1] // 2
    theta = 10000.0 ** (-np.arange(n) / n)
    share = np.clip((8192 * theta - 1) / 3, 0, 1)
    angle = (positions[..., None] * theta * ((1 - share) / 8 + share))[:, :, None]
    a, b = np.split(x.astype(np.float64), 2, axis=-1)
    c, s = np.cos(angle), np.sin(angle)
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1).astype(x.dtype)


@pytest.mark.parametrize(
    ("function", "claims", "name", "said"),
    [
        (gauss, {"precision": "float32-angles"}, "three multiplications", "c (a + b)"),
        (
            one_row_short,
            {"max_position": 8192, "negative_positions": False},
            "beyond the table",
            "at most 8191",
        ),
        (
            rows_of_the_call,
            {"negative_positions": False},
            "table grown too little",
            "as many rows as the call has tokens",
        ),
        (in_radians, {"scaling": LLAMA3}, "another blend", "wavelengths lack their 2 pi"),
    ],
)
def test_the_nearer_name_is_given(function, claims, name, said, diagnosed):
    """And not one that says more than was seen."""
    found = diagnosed(Profile.from_mapping({"interleaved": False, **claims}), apply_rotary=function)

    assert found[0].name == name
    assert said in found[0].sentence


@pytest.mark.parametrize(
    ("feature", "axis"), [("odd rows", 0), ("odd length", 1), ("odd heads", 2)]
)
def test_a_place_by_parity_is_asked_for_on_both_sides(feature, axis):
    """What is said of even batches is tried with odd ones."""
    sizes = [
        given.x.shape[axis]
        for value in (-1.0, 0.0, 1.0, 2.0)
        for given in with_feature(Maker(HALF), feature, value, EVERYWHERE, 0)
    ]

    assert {size % 2 for size in sizes} == {0, 1}
    assert min(sizes) > 1


def test_what_is_far_nearer_than_it_has_to_be_tells():
    """A base that is off by little is told by calls that it explains nearly exactly."""
    given = Maker(HALF).given((2, 5, 3), "far", 1, dim=32)
    other = run(fitted_base(9999.9).chain(), given)

    seen = Seen(Answer(given, other.y), RIGHT)

    assert seen.off.any()
    assert (nearer(seen, other) == seen.off).all()


def test_what_is_only_near_enough_does_not_tell():
    """Where another explanation is as near as it has to be, and no nearer, nothing is said."""
    given = Maker(HALF).given((2, 5, 3), "far", 1, dim=32)
    other = run(fitted_base(9999.9).chain(), given)
    noise = other.allowed * np.random.default_rng(0).choice([-0.5, 0.5], other.y.shape)

    seen = Seen(Answer(given, other.y + noise), RIGHT)

    assert seen.off.any()
    assert not nearer(seen, other).any()
