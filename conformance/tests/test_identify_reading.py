"""The parts of identification: unwrapping, ladders, round numbers, blocks."""

from dataclasses import replace

import numpy as np
import pytest

from ropespec.conformance.identify.angles import NEAR, phases
from ropespec.conformance.identify.ladders import choices, ladders
from ropespec.conformance.identify.numbers import lengths, rounder
from ropespec.conformance.identify.operator import Blocks
from ropespec.spec.convention import Frequencies

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
    found = phases(blocks_of((np.array(NEAR)[:, None] + offset) * sign * THETA), 64)

    assert found.speed == pytest.approx(sign * THETA, abs=1e-9)
    assert found.offset == pytest.approx(offset, abs=1e-6)
    assert (found.is_linear, found.clockwise) == (True, sign < 0)


def rungs_of(speed, dims=(64, 32)):
    """Return what was measured of frequencies at some head dimensions."""
    return [
        replace(phases(blocks_of(np.array(NEAR)[:, None] * THETA), d), speed=speed(d), rotary_dim=d)
        for d in dims
    ]


def theta(base):
    """Return base^(-2i/d)."""
    return lambda d: base ** (-2 * np.arange(d // 2) / d)


def read(rungs, claimed=10000.0):
    """Return the first base and scheme that have these frequencies, or None."""
    return next(ladders(rungs, Frequencies(claimed)), None)


@pytest.mark.parametrize(
    ("exponent", "words"),
    [
        (lambda i, d: 2 * i / (d - 2), "base^(-2i/(r-2))"),
        (lambda i, d: 2 * (i + 1) / d, "base^(-2(i+1)/r)"),
        (lambda i, d: 2 * i[::-1] / d, "in reverse order"),
        (lambda i, d: -2 * i / d, "base^(+2i/r)"),
        (lambda i, d: 0 * i / d, "all frequencies are 1"),
    ],
)
def test_a_ladder_that_nobody_claims_is_told_from_the_others(exponent, words):
    """At two head dimensions there is one alone; fast frequencies are folded."""

    def folded(d):
        return (10000.0 ** -exponent(np.arange(d // 2), d) + np.pi) % (2 * np.pi) - np.pi

    rungs = rungs_of(folded)
    found = next(choices(rungs, 10000.0))

    assert read(rungs) is None
    assert words in found.what


@pytest.mark.parametrize("base", [500000.0, 1e6, 25000.0, 40.0, 12345.0])
def test_any_base_is_found(base):
    """The base is read off the slope, in as few digits as it has, whatever is claimed."""
    assert read(rungs_of(theta(base))) == Frequencies(base)


def test_arbitrary_frequencies_are_none():
    """Random ones are those of no scheme, at one head_dim or two."""
    table = np.random.default_rng(0).uniform(0.01, 1, 32)

    assert read(rungs_of(lambda d: table[: d // 2])) is None


@pytest.mark.parametrize(
    ("is_rotation", "matrix"),
    [
        (True, lambda c, s: [[c, -s], [s, c]]),
        (True, lambda c, s: [[c, s], [-s, c]]),
        (True, lambda c, s: [[2 * c, -2 * s], [2 * s, 2 * c]]),
        (False, lambda c, s: [[c, s], [s, c]]),
        (False, lambda c, s: [[c, -s], [s * c, c - s * s]]),
        (False, lambda c, s: [[s, c], [s, c]]),
    ],
)
def test_a_block_is_a_rotation_or_none(is_rotation, matrix):
    """A factor is no matter, and neither is the sense."""
    angle = np.array(NEAR, dtype=float)[:, None] * THETA
    rows = matrix(np.cos(angle), np.sin(angle))
    stacked = np.stack([np.stack(row, -1) for row in rows], -2)

    assert Blocks(np.array(NEAR), stacked).is_rotation == is_rotation


@pytest.mark.parametrize("base", [10010.0, 9995.0, 10000.0])
def test_a_base_is_told_from_one_next_to_it(base):
    """Half a thousandth shows in the slow pairs, though every pair is nearly right."""
    assert read(rungs_of(theta(base))) == Frequencies(base)


def test_rounded_frequencies_do_not_move_the_base():
    """What rounding takes from each frequency is no other base."""

    def cut(d):
        exact = theta(10000.0)(d).astype(np.float32)
        return (exact.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)

    assert read(rungs_of(cut)) == Frequencies(10000.0)


def test_numbers_are_as_short_as_they_may_be():
    """The fewest digits first, and lengths that are powers of two before all others."""
    assert list(rounder(4.0000003, 1e-6)) == [4.0, 4.0000003]
    assert list(rounder(1.2345, 1e-9)) == [1.2345]
    assert next(lengths(3500, 4200)) == 4096
    assert next(lengths(2995, 3005)) == 3000
    assert list(lengths(5.2, 5.8)) == []
