"""A rotation as three shears: each rounds what the tangent of half the angle has made large."""

import numpy as np

from ropespec.conformance.mistakes.chain import Product
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array

__all__ = ["MISTAKES", "SHEARS"]

MISTAKES = entries("""
rotated by shears
    Three shears lose the digits of a pair where the tangent of half its angle is large, near odd
    multiples of pi; multiply by cosine and sine.
""")


def _sheared(*, second: bool) -> Product:
    """Return the product that shears one member by the other, back, and again, in float32."""

    def product(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
        sign = -1.0 if second else 1.0
        sine = (sign * s).astype(np.float32)
        tangent = (sign * np.tan(np.arctan2(s, c) / 2)).astype(np.float32)
        one, other = (part.astype(np.float32) for part in ((b, a) if second else (a, b)))
        one = one - tangent * other
        other = other + sine * one
        one = one - tangent * other
        one, other = one.astype(np.float64), other.astype(np.float64)
        return (other, one) if second else (one, other)

    return product


def _by(*, second: bool) -> Choice:
    what = f"the {'second' if second else 'first'} member is sheared first and last, in float32"
    return Choice("rotated by shears", "product", what, {"product": _sheared(second=second)}, 1.8)


SHEARS: tuple[Choice, ...] = tuple(_by(second=second) for second in (False, True))
"""Either member may be sheared twice."""
