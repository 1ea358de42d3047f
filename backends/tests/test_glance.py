"""What is seen at a glance is what the checks of `spec` allow."""

from itertools import product

import numpy as np
import pytest

from ropespec.backends.glance import is_plain_table, is_plain_turn, is_plainly_apart
from ropespec.spec.arguments import (
    check_base,
    check_positions_fit,
    check_rotary_dim,
    check_tables,
    facts,
)
from ropespec.spec.errors import ArgumentError

XS = [(*lead, dim) for lead in [(), (1,), (3, 1), (0, 1), (2, 3, 1), (2, 0, 2)] for dim in range(6)]
BASES = [-1.0, 0.0, 1.0, 1.5, 1e4, float("inf"), float("nan")]
TABLES = [(), (3,), *product(range(5), range(4)), (2, 3, 1), (1, 3, 2)]


def allows(check):
    try:
        check()
    except ArgumentError:
        return False
    return True


@pytest.mark.parametrize("positions", [(), (0,), (1,), (3,), (2, 3)])
def test_no_turn_is_seen_at_a_glance_that_is_not_allowed(positions):
    """Positions of one axis, and only those that the checks allow."""
    seen = 0
    for x, base in product(XS, BASES):

        def checked(x=x, base=base):
            check_rotary_dim(None, x[-1])
            check_base(base)
            check_positions_fit(facts(np.zeros(positions, np.int64)), x[:-2])

        plain = is_plain_turn(x, positions, base)
        assert plain == (len(x) >= 3 and len(positions) == 1 and allows(checked)), (x, base)
        seen += plain
    assert bool(seen) == (positions in {(0,), (3,)})


def test_no_table_is_seen_at_a_glance_that_is_not_allowed():
    """Tables of two axes, and only those that the checks allow."""
    seen = 0
    for x, cos, same in product(XS, TABLES, (True, False)):
        sin = cos if same else (*cos[:-1], 1)

        def checked(x=x, cos=cos, sin=sin):
            check_tables(np.zeros(cos), np.zeros(sin), facts(np.zeros(x)))

        plain = is_plain_table(x, cos, sin)
        assert plain == (len(x) >= 3 and len(cos) == 2 and allows(checked)), (x, cos, sin)
        seen += plain
    assert seen


def test_no_elements_are_seen_apart_that_share_memory():
    """Of any small strides, negative ones among them; those of a dense array are always seen."""
    seen = 0
    for shape, strides in product(product((1, 2, 3), repeat=2), product(range(-7, 8), repeat=2)):
        places = [sum(i * s for i, s in zip(at, strides, strict=True)) for at in np.ndindex(shape)]
        if is_plainly_apart(shape, strides):
            seen += 1
            assert len(set(places)) == len(places)

    assert seen > 400
    assert is_plainly_apart((2, 3, 4), (12, 4, 1))
    assert is_plainly_apart((2, 3, 4), (1, -2, 6))
    assert is_plainly_apart((1, 5), (0, 1))
