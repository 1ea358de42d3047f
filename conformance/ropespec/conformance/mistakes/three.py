"""A rotation by three multiplications or three shears, in the float32 of whoever saves one."""

import numpy as np

from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array

__all__ = ["MISTAKES", "THREE"]

MISTAKES = entries("""
three multiplications
    The product of complex numbers is made of three multiplications, whose sums overflow and
    cancel; multiply four times.
rotated by shears
    Three shears lose the digits of a pair where the tangent of half its angle is large, near odd
    multiples of pi; multiply by cosine and sine.
""")


def _float32(*parts: Array) -> tuple[Array, ...]:
    """Return what is worked on in float32, where sums may overflow."""
    return tuple(np.asarray(part, dtype=np.float32) for part in parts)


def _by_the_sum(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
    a, b, c, s = _float32(a, b, c, s)
    both = c * (a + b)
    return both - b * (c + s), both + a * (s - c)


def _by_the_sum_times_sine(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
    a, b, c, s = _float32(a, b, c, s)
    both = s * (a + b)
    return a * (c + s) - both, b * (c - s) + both


def _by_both_sums(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
    a, b, c, s = _float32(a, b, c, s)
    first, second = a * c, b * s
    return first - second, (a + b) * (c + s) - first - second


def _sheared(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
    """Shear the first member by the second, back, and again."""
    a, b, sine, tangent = _float32(a, b, s, np.tan(np.arctan2(s, c) / 2))
    a = a - tangent * b
    b = b + sine * a
    return a - tangent * b, b


def _sheared_from_the_second(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
    v, u = _sheared(b, a, c, -s)
    return u, v


THREE: tuple[Choice, ...] = (
    *(
        Choice(
            "three multiplications",
            "product",
            f"of a c - b s and b c + a s, {how}, in float32",
            {"product": product},
            1.5,
        )
        for how, product in (
            ("c (a + b) is made once", _by_the_sum),
            ("s (a + b) is made once", _by_the_sum_times_sine),
            ("the second is (a + b) (c + s) less the products of the first", _by_both_sums),
        )
    ),
    *(
        Choice(
            "rotated by shears",
            "product",
            f"the {one} member is sheared first and last, in float32",
            {"product": product},
            1.8,
        )
        for one, product in (("first", _sheared), ("second", _sheared_from_the_second))
    ),
)
"""Three multiplications in the place of four, or three shears: right but for their sums."""
