# ruff: noqa: ARG005  # a stage is given what any choice for it may need
"""All that is done to a pair or beside it, and what is done on the way back."""

import numpy as np

from ropespec.conformance.mistakes.chain import Chain, counter_clockwise, zeroed
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.growing import GROWING
from ropespec.conformance.mistakes.members import QUERIES
from ropespec.conformance.mistakes.normalised import NORMS, RARE_NORMS
from ropespec.conformance.mistakes.pairing import PAIRINGS
from ropespec.conformance.mistakes.product import PRODUCTS
from ropespec.conformance.mistakes.stored import STORES
from ropespec.conformance.mistakes.table import TABLES
from ropespec.conformance.mistakes.widths import WIDTHS

__all__ = ["BACKWARD", "GRADIENTS", "MISTAKES", "RARE_TURNS", "TURNS"]

MISTAKES = entries("""
G1 backward rotates forward
    The gradient rotates by +m; it must rotate by -m.
G2 constant gradient of the tail
    The gradient of the components that pass through is a constant; pass the cotangent on.
G3 no gradient
    No gradient reaches x; register a backward, or do not detach.
""")

TURNS: tuple[Choice, ...] = (*PRODUCTS, *PAIRINGS, *WIDTHS, *TABLES, *STORES, *NORMS)
"""Choices at these stages, most of them without a number."""

RARE_TURNS: tuple[Choice, ...] = (*GROWING, *RARE_NORMS, *QUERIES)
"""Those that are tried alone, and only of a rotation itself."""


def _ones_in_the_tail(g: Given, x: Array) -> Array:
    y = x.copy()
    y[..., g.turning :] = 1.0
    return y


BACKWARD = Chain(product=lambda a, b, c, s: (a * c + b * s, b * c - a * s))
"""The gradient: the cotangent rotated by the opposite angle."""

GRADIENTS: tuple[Choice, ...] = (
    Choice("G1", "product", "the gradient rotates forward", {"product": counter_clockwise}),
    Choice("G2", "tail", "the gradient of the tail is 1", {"tail": _ones_in_the_tail}),
    Choice("G2", "tail", "the gradient of the tail is 0", {"tail": zeroed}, 0.9),
    Choice("G3", "store", "the gradient is zero", {"store": lambda g, y: np.zeros_like(y)}),
)
"""What is done on the way back."""
