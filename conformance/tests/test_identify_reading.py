"""The parts of identification: ladders, schemes, number grids, unwrapping."""

import numpy as np
import pytest

from ropespec.conformance.identify.blocks import NEAR, block_form, phases
from ropespec.conformance.identify.digits import Angles, angle_grid, entry_grid, on_grid, rounded
from ropespec.conformance.identify.facts import Block
from ropespec.conformance.identify.ladder import Rung, fit
from ropespec.conformance.identify.operator import Blocks
from ropespec.conformance.identify.schemes import nearest_scheme

THETA = 10000.0 ** (-np.arange(32) / 32)


def blocks_of(angle):
    """Return rotation blocks of given angles (P, pairs)."""
    c, s = np.cos(angle), np.sin(angle)
    matrix = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
    return Blocks(np.array(NEAR), matrix)


@pytest.mark.parametrize("offset", [0.0, 1.0, -1.0, 7.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_angles_are_unwrapped_into_frequencies_and_an_offset(offset, sign):
    """w_j and b come back from sines and cosines of w_j (p + b)."""
    found = phases(blocks_of((np.array(NEAR)[:, None] + offset) * sign * THETA))

    assert found.speed == pytest.approx(sign * THETA, abs=1e-9)
    assert found.offset == pytest.approx(offset, abs=1e-6)
    assert (found.linear, found.clockwise) == (True, sign < 0)


@pytest.mark.parametrize(
    ("exponent", "expected"),
    [
        (lambda i, d: 2 * i / d, "2i/rotary_dim"),
        (lambda i, d: i / d, "i/rotary_dim"),
        (lambda i, d: 4 * i / d, "4i/rotary_dim"),
        (lambda i, d: 2 * i / (d - 2), "2i/(rotary_dim-2)"),
        (lambda i, d: 2 * (i + 1) / d, "2(i+1)/rotary_dim"),
        (lambda i, d: 2 * i[::-1] / d, "reversed"),
        (lambda i, d: -2 * i / d, "-2i/rotary_dim"),
        (lambda i, d: 0 * i / d, "0"),
    ],
)
def test_each_exponent_is_told_from_the_others(exponent, expected):
    """Frequencies at two head dimensions have one exponent only; fast ones are folded."""
    rungs = []
    for d in (64, 32):
        speed = 10000.0 ** -exponent(np.arange(d // 2), d)
        rungs.append(Rung((speed + np.pi) % (2 * np.pi) - np.pi, d, d))

    assert fit(rungs, 10000.0).exponent == expected


@pytest.mark.parametrize("base", [500000.0, 1e6, 25000.0, 40.0])
def test_any_base_is_found(base):
    """The base is read off the slope, whatever is claimed."""
    rungs = [Rung(base ** (-2 * np.arange(d // 2) / d), d, d) for d in (64, 32)]

    assert fit(rungs, 10000.0).base == pytest.approx(base, rel=1e-3)


def test_the_nearest_scheme_of_an_arbitrary_table_is_no_scheme():
    """Random frequencies resemble nothing, a YaRN ladder resembles YaRN."""
    table = np.random.default_rng(0).uniform(0.01, 1, 32)

    assert nearest_scheme(table, 64, 10000.0)[0] == "LongRoPE or another table"
    assert nearest_scheme(THETA / 4, 64, 10000.0) == ("linear, factor 4 of base 10000", 0.95)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_rounded_frequencies_and_rounded_angles_are_told_apart(dtype):
    """The grid that explains the angles is named; unrounded ones have none."""
    where = np.array(NEAR, dtype=float)[:, None]
    frequencies = blocks_of(where * rounded(THETA, dtype))
    angles = blocks_of(rounded(where * rounded(THETA, dtype), dtype))

    assert angle_grid(frequencies, THETA, 0.0) == Angles("frequencies", dtype)
    assert angle_grid(angles, THETA, 0.0) == Angles("angles", dtype)
    assert angle_grid(blocks_of(where * THETA), THETA, 0.0) == Angles("exact")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_the_grid_of_a_table_is_seen_in_its_entries(dtype):
    """Entries that are exact in half precision betray it."""
    exact = blocks_of(np.array(NEAR, dtype=float)[:, None] * THETA)
    coarse = Blocks(exact.positions, rounded(exact.matrix, dtype))

    assert entry_grid(coarse) == dtype
    assert entry_grid(exact) == ""
    assert on_grid(np.ones(9)) == ""  # ones are exact everywhere


@pytest.mark.parametrize(
    ("form", "matrix"),
    [
        (Block.ROTATION, lambda c, s: [[c, -s], [s, c]]),
        (Block.ROTATION, lambda c, s: [[c, s], [-s, c]]),
        (Block.LOST_MINUS, lambda c, s: [[c, s], [s, c]]),
        (Block.LOST_SINE, lambda c, s: [[c, 0 * s], [0 * s, c]]),
        (Block.OVERWRITTEN, lambda c, s: [[c, -s], [s * c, c - s * s]]),
        (Block.OVERWRITTEN, lambda c, s: [[c - s * s, -s * c], [s, c]]),
        (Block.OTHER, lambda c, s: [[s, c], [s, c]]),
    ],
)
def test_the_form_of_a_block_is_named(form, matrix):
    """Wrong 2x2 matrices are told from rotations and from each other."""
    angle = np.array(NEAR, dtype=float)[:, None] * THETA
    rows = matrix(np.cos(angle), np.sin(angle))
    stacked = np.stack([np.stack(row, -1) for row in rows], -2)

    assert block_form(Blocks(np.array(NEAR), stacked))[0] is form


@pytest.mark.parametrize("base", [10010.0, 9995.0, 10000.0])
def test_a_base_is_told_from_one_next_to_it(base):
    """Half a thousandth shows in the slow pairs, though every pair is nearly right."""
    rungs = [Rung(base ** (-2 * np.arange(d // 2) / d), d, d) for d in (64, 32)]

    assert fit(rungs, 10000.0).base == pytest.approx(base, rel=1e-5)


def test_rounded_frequencies_do_not_move_the_base():
    """What rounding takes from each frequency is no other base."""
    rungs = []
    for d in (64, 32):
        exact = (10000.0 ** (-2 * np.arange(d // 2) / d)).astype(np.float32)
        cut = (exact.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        rungs.append(Rung(cut.astype(np.float64), d, d))

    assert fit(rungs, 10000.0).base == 10000.0
