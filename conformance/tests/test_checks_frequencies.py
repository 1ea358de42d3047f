"""Checks of the chapter `frequencies`: integer positions of every width."""

import numpy as np

from ropespec import reference
from ropespec.conformance.results import Status

ONE_LAYOUT = {"layouts": [False]}


def other_way(x, positions, *, interleaved):
    """Rotate backwards, whatever the positions are made of."""
    return reference.apply_rotary(x, -positions.astype(np.int64), interleaved=interleaved)


def doubled_in_place(x, positions, *, interleaved):
    """Reckon twice the position in its own dtype, halve it afterwards."""
    twice = (positions + positions).astype(np.int64)
    return reference.apply_rotary(x, twice // 2, interleaved=interleaved)


def test_positions_of_few_bits_are_compared_with_those_of_many(checks):
    """What is wrong for int64 too is no mistake of few bits; other checks say what it is."""
    few = checks.run("FREQ-6.integers", {"apply_rotary": doubled_in_place}, **ONE_LAYOUT)
    both = checks.run("FREQ-6.integers", {"apply_rotary": other_way}, **ONE_LAYOUT)

    assert few.status is Status.FAIL
    assert both.status is Status.PASS
