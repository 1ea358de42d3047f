"""Shapes that are plainly right, seen sooner than all that might be wrong is ruled out.

When in doubt these say no, and the checks of `spec` take their time.
"""

import math
from collections.abc import Sequence

__all__ = ["is_plain_table", "is_plain_turn", "is_plainly_apart"]

Shape = Sequence[int]


def is_plain_turn(x: Shape, positions: Shape, base: float) -> bool:
    """Tell whether one axis of positions fits x (..., S, H, D), of which all D components turn."""
    return (
        len(x) >= 3
        and len(positions) == 1
        and positions[0] == x[-3]
        and x[-1] % 2 == 0
        and x[-1] > 0
        and 1.0 < base < math.inf
    )


def is_plain_table(x: Shape, cos: Shape, sin: Shape) -> bool:
    """Tell whether tables of two axes fit x (..., S, H, D)."""
    return (
        len(x) >= 3
        and len(cos) == 2
        and sin == cos
        and cos[0] == x[-3]
        and 0 < cos[1] <= x[-1] // 2
    )


def is_plainly_apart(shape: Shape, strides: Shape) -> bool:
    """Tell whether steps are each longer than all before: then no two indices name one element."""
    last = 0
    for step, n in sorted(zip(map(abs, strides), shape, strict=True)):
        if n > 1:
            if step <= last:
                return False
            last += (n - 1) * step
    return True
