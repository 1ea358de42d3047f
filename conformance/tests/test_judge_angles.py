"""Tests of the angles that are kept."""

import numpy as np

from ropespec.conformance.judge import angles, oracle
from ropespec.spec.convention import Frequencies


def test_what_is_kept_is_what_the_oracle_says():
    """For every shape, dtype, dim and base its own values, the second time too."""
    rows = np.arange(6, dtype=np.int32)
    for positions in (rows, rows.astype(np.int64), rows.reshape(2, 3).T, -rows, rows[:0]):
        for dim, base in ((4, 10000.0), (8, 10000.0), (4, 500.0)) * 2:
            found = angles.cos_sin(positions, dim, Frequencies(base))
            for got, exact in zip(
                found, oracle.cos_sin(positions, dim, Frequencies(base)), strict=True
            ):
                np.testing.assert_array_equal(got, exact)


def test_what_a_caller_writes_does_not_stay():
    """The arrays are the caller's own."""
    positions = np.arange(5)
    first = angles.cos_sin(positions, 4, Frequencies(10000.0))
    for part in first:
        part[...] = 7.0

    for got in angles.cos_sin(positions, 4, Frequencies(10000.0)):
        assert np.abs(got).max() <= 1.0
