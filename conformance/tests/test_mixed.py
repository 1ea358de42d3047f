"""Frequencies that are given for each position number: oracle, judge and claim."""

import json

import click
import mpmath
import numpy as np
import pytest
from click.testing import CliRunner

from ropespec import reference
from ropespec.conformance.cli.options import claims_of, profile_options
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.budget import Machine
from ropespec.conformance.judge.precision import PRECISIONS
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.profile import Profile
from ropespec.spec.axes import Anew, Axial, Mixed, Told
from ropespec.spec.convention import Frequencies

ROWS = (
    (0.5, -0.25, 0.3, 1e-7, 0.1, 0.0, 3.0, -1.5),
    (0.1, 0.5, -0.3, 0.2, 0.2, 0.0, -1.0, 2.0**-60),
)
"""Of either sign, one pair that cancels, and one that stands still."""


def test_sums_are_those_of_the_numbers_and_round_correctly():
    """Either sign, nothing at all, and a sum that lies halfway between two floats."""
    of = Frequencies(scheme=Told(ROWS))
    m = np.array([0, 1, 2, 77, -5, 2**20 + 1, -(2**40)])
    cos, sin = oracle.cos_sin(m, 16, of)
    with mpmath.workdps(80):
        exactly = [mpmath.mpf(a) + mpmath.mpf(b) for a, b in zip(*ROWS, strict=True)]
        assert oracle.frequencies(16, of).tolist() == [float(one) for one in exactly]
        for i, theta in enumerate(exactly):
            assert cos[:, i].tolist() == [float(mpmath.cos(int(p) * theta)) for p in m]
            assert sin[:, i].tolist() == [float(mpmath.sin(int(p) * theta)) for p in m]
    a, b = 0.5 - 2.0**-54, 0.5 - 2.0**-53
    assert oracle.frequencies(2, Frequencies(scheme=Told(((a,), (b,))))).tolist() == [a + b]


@pytest.mark.parametrize("layout", [True, False])
def test_the_judge_rotates_by_sums_over_the_numbers(layout):
    """As the literal reference does where numbers differ, and within the tightest budget."""
    profile = Profile((layout,), frequencies=ROWS, head_dims=(16,))
    rng = np.random.default_rng(5)
    x, numbers = rng.standard_normal((2, 4, 3, 16)), rng.integers(-900, 900, (2, 4, 2))
    exact = Rotation.of(x, numbers, profile.convention)

    rows = np.moveaxis(numbers, -1, 0)
    literal = reference.apply_rotary_axes(x, rows, interleaved=layout, axes=Mixed(ROWS))
    assert exact.ratios(literal, PRECISIONS["float64-angles"], Machine()).max() <= 1
    swapped = Rotation.of(x, numbers[..., ::-1], profile.convention)
    assert np.abs(swapped.y - exact.y).max() > 1
    text = Rotation.of(x, numbers[..., 0], profile.convention.text)
    equal = Rotation.of(x, np.repeat(numbers[..., :1], 2, axis=-1), profile.convention)
    assert np.abs(text.y - equal.y).max() < 1e-13


def test_an_angle_of_single_precision_is_within_its_budget():
    """What float32 loses where the angles of both numbers are large and cancel."""
    profile = Profile((False,), frequencies=ROWS, head_dims=(16,))
    rng = np.random.default_rng(6)
    x = rng.standard_normal((1, 64, 1, 16)).astype(np.float32)
    number = np.repeat(rng.integers(0, 2**17, (1, 64, 1)), 2, axis=-1)
    angle = number.astype(np.float32) @ np.array(ROWS, dtype=np.float32)
    cos, sin = np.cos(angle)[..., None, :], np.sin(angle)[..., None, :]
    a, b = np.split(x, 2, axis=-1)
    y = np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)

    for places, by in ((number, profile.convention), (number[..., 0], profile.convention.text)):
        exact = Rotation.of(x, places, by)
        assert exact.ratios(y, PRECISIONS["float32-angles"], Machine()).max() <= 1
        assert exact.ratios(y, PRECISIONS["float64-angles"], Machine()).max() > 1


def test_an_axial_claim_is_the_axial_rotation_of_the_specification():
    """Frequencies that begin anew, where numbers differ and where they are equal."""
    profile = Profile((True,), sections=(2, 6), axial=True, base=100.0, head_dims=(16,))
    rng = np.random.default_rng(7)
    x, numbers = rng.standard_normal((2, 4, 3, 16)), rng.integers(-900, 900, (2, 4, 2))

    assert profile.convention.frequencies == Frequencies(100.0, Anew((2, 6)))
    how = {"interleaved": True, "axes": Axial((2, 6)), "base": 100.0}
    literal = reference.apply_rotary_axes(x, np.moveaxis(numbers, -1, 0), **how)
    assert np.abs(Rotation.of(x, numbers, profile.convention).y - literal).max() < 1e-12
    literal = reference.apply_rotary_axes(x, np.stack([numbers[..., 0]] * 2), **how)
    assert (
        np.abs(Rotation.of(x, numbers[..., 0], profile.convention.text).y - literal).max() < 1e-12
    )


@pytest.mark.parametrize("written", ["0.5,-1e-3;2,0.25", "rates.json"])
def test_rates_are_written_out_or_read_in_a_file(tmp_path, monkeypatch, written):
    """Rows with semicolons between them, or a list of lists."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rates.json").write_text(json.dumps([[0.5, -1e-3], [2, 0.25]]))
    told = {}
    taking = click.command("check")(profile_options(lambda **options: told.update(options)))
    asked = CliRunner().invoke(taking, ["--half", "--frequencies", written])

    assert asked.exit_code == 0, asked.output
    profile = Profile.from_mapping({**claims_of(told), "head_dims": [4]})
    assert profile.frequencies == ((0.5, -1e-3), (2.0, 0.25))


@pytest.mark.parametrize("written", ["0.5,x", "missing.json", "flat.json"])
def test_what_are_no_rates_is_refused(tmp_path, monkeypatch, written):
    """In one line that names the option."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flat.json").write_text("[1, 2]")
    taking = click.command("check")(profile_options(lambda **_: None))
    asked = CliRunner().invoke(taking, ["--half", "--frequencies", written])

    assert asked.exit_code == 2
    assert "'--frequencies'" in asked.output
    assert "must be rows of numbers" in asked.output
