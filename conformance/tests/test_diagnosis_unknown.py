"""What has no name: how much of it is wrong, and by how much, part by part."""

import numpy as np
import pytest

from ropespec import reference
from ropespec.conformance.diagnosis import diagnose
from ropespec.conformance.profile import Profile
from ropespec.conformance.report.measured import measured_lines
from ropespec.conformance.results import Measured

HALF = Profile.from_mapping({"interleaved": False, "head_dims": [16, 32]})


@pytest.fixture
def unknown(checks):
    """Return a function that diagnoses a rotation of this process, which must have no name."""
    in_process = type(checks.trial({}).session)

    def find(function):
        (one,) = diagnose(in_process({"apply_rotary": function}, HALF))
        assert one.name == "unknown"
        return one

    return find


def far_and_slow(x, positions):
    """Multiply pairs 5 and on by a factor that goes with the position, from 100 on."""
    y = np.array(reference.apply_rotary(x, positions, interleaved=False))
    n = x.shape[-1] // 2
    factor = 1.2 + 0.15 * np.sin(positions * 1.7)[..., None, None]
    for half in (slice(5, n), slice(n + 5, 2 * n)):
        y[..., half] = np.where(positions[..., None, None] >= 100, factor, 1) * y[..., half]
    return y.astype(x.dtype)


def test_decades_and_pairs_are_counted(unknown):
    """What is right is told from what is wrong, by position and by pair."""
    found = unknown(far_and_slow)
    parts = {(one.by, one.at): one for one in found.measured}

    assert [parts["position", at].wrong for at in ("0", "1 to 9", "10 to 99")] == [0, 0, 0]
    assert parts["position", "100 to 999"].wrong > 0
    assert [parts["pair", str(k)].wrong > 0 for k in range(8)] == [False] * 5 + [True] * 3
    assert 0.1 < parts["pair", "6"].off < 0.5
    assert "100" in found.where


def test_noise_is_said_not_to_repeat(checks):
    """Before anything else the same call is made again."""
    rng = np.random.default_rng(1)

    def noisy(x, positions):
        y = reference.apply_rotary(x, positions, interleaved=False)
        return (y + rng.normal(size=x.shape)).astype(x.dtype)

    session = type(checks.trial({}).session)({"apply_rotary": noisy}, HALF)

    assert [one.name for one in diagnose(session)] == ["not repeatable"]


def test_parts_are_told_in_a_line_each():
    """Parts that are alike are told together; what does not differ is not told."""
    parts = [
        Measured("dtype", "float32", 4, 8, 0.5),
        Measured("dtype", "float64", 4, 8, 0.5),
        *(Measured("pair", str(k), 0, 10, 0.0) for k in range(3)),
        Measured("pair", "3", 10, 10, None),
        Measured("position", "0", 0, 10, 0.0),
        Measured("position", "1 to 9", 3, 10, 0.25),
        Measured("position", "10 to 99", 3, 10, 0.25),
    ]

    assert list(measured_lines(parts)) == [
        "Off by pair: 0 to 2: right; 3: not a number",
        "Off by position: 0: right; 1 to 99: 0.25 (30 %)",
    ]
