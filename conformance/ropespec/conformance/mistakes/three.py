"""A product of complex numbers by three multiplications, in the float32 of whoever saves one."""

import numpy as np

from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array

__all__ = ["MISTAKES", "THREE"]

MISTAKES = entries("""
three multiplications
    The product of complex numbers is made of three multiplications, whose sums overflow and
    cancel; multiply four times.
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


THREE: tuple[Choice, ...] = tuple(
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
)
"""Three multiplications in the place of four, which are right but for their sums."""
