"""Positions that a shortcut takes for others, wherever calls may have two tokens a row."""

import pytest

from ropespec.backends import numpy as backend
from ropespec.conformance.results import Status
from ropespec.conformance.zoo.corners import of_the_first_row_if_the_last_is_it


@pytest.mark.parametrize("most", [3, 4, 9, None])
def test_a_right_rotation_passes_however_few_tokens_it_takes(most, checks):
    """Rows of one token are no runs, and are not asked for."""
    found = checks.run("ROT-19.shortcuts", backend, max_tokens=most)

    assert found.status is Status.PASS, found.message


@pytest.mark.parametrize("seed", range(5))
def test_a_row_between_two_alike_is_seen_at_every_seed(seed, checks):
    """The first row and the last are the same, and the one between is not."""
    rotations = {"apply_rotary": of_the_first_row_if_the_last_is_it}
    found = checks.run("ROT-19.shortcuts", rotations, seed=seed, interleaved=False)

    assert found.status is Status.FAIL
