# ruff: noqa: ARG005  # a stage is given what any choice for it may need
"""What is made of a pair, its cosine and its sine."""

import numpy as np

from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array

__all__ = ["PRODUCTS"]


def _overwrites_second(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
    u = a * c - b * s
    return u, b * c + u * s


def _overwrites_first(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
    v = b * c + a * s
    return a * c - v * s, v


PRODUCTS: tuple[Choice, ...] = (
    Choice(
        "A3",
        "product",
        "x comes back as it was",
        {"product": lambda a, b, c, s: (a + 0 * c, b + 0 * c)},
    ),
    Choice(
        "S1",
        "product",
        "pairs turn clockwise",
        {"product": lambda a, b, c, s: (a * c + b * s, b * c - a * s)},
    ),
    Choice(
        "lost minus",
        "product",
        "the first member is a c + b s",
        {"product": lambda a, b, c, s: (a * c + b * s, b * c + a * s)},
    ),
    Choice(
        "lost minus",
        "product",
        "both sines are subtracted",
        {"product": lambda a, b, c, s: (a * c - b * s, b * c - a * s)},
    ),
    Choice("D13", "product", "the sine is lost", {"product": lambda a, b, c, s: (a * c, b * c)}),
    Choice(
        "cosine lost",
        "product",
        "the cosine is lost",
        {"product": lambda a, b, c, s: (-b * s, a * s)},
    ),
    Choice(
        "term lost",
        "product",
        "the second member lacks a s",
        {"product": lambda a, b, c, s: (a * c - b * s, b * c)},
    ),
    Choice(
        "term lost",
        "product",
        "the first member lacks b s",
        {"product": lambda a, b, c, s: (a * c, b * c + a * s)},
    ),
    Choice(
        "one member turns",
        "product",
        "the second member stays as it was",
        {"product": lambda a, b, c, s: (a * c - b * s, b + 0 * c)},
    ),
    Choice(
        "one member turns",
        "product",
        "the first member stays as it was",
        {"product": lambda a, b, c, s: (a + 0 * c, b * c + a * s)},
    ),
    Choice(
        "cos and sin swapped",
        "product",
        "cosine and sine change places",
        {"product": lambda a, b, c, s: (a * s - b * c, b * s + a * c)},
    ),
    Choice(
        "cos and sin swapped",
        "product",
        "the second member has cosine and sine exchanged",
        {"product": lambda a, b, c, s: (a * c - b * s, b * s + a * c)},
    ),
    Choice(
        "operands confused",
        "product",
        "the second member is a c + b s",
        {"product": lambda a, b, c, s: (a * c - b * s, a * c + b * s)},
    ),
    Choice(
        "operands confused",
        "product",
        "the first member is b c - a s",
        {"product": lambda a, b, c, s: (b * c - a * s, b * c + a * s)},
    ),
    Choice(
        "operands confused",
        "product",
        "both members are a c - b s",
        {"product": lambda a, b, c, s: (a * c - b * s, a * c - b * s)},
    ),
    Choice(
        "operands confused",
        "product",
        "a member is multiplied by its own sine: (a c - a s, b c + b s)",
        {"product": lambda a, b, c, s: (a * c - a * s, b * c + b * s)},
    ),
    Choice(
        "operands confused",
        "product",
        "both members are added: (a + b) c and so on",
        {"product": lambda a, b, c, s: ((a - b) * c, (a + b) * c)},
    ),
    Choice(
        "A1",
        "product",
        "pairs turn twice",
        {"slack": 3.0}
        | {
            "product": lambda a, b, c, s: (
                (a * c - b * s) * c - (b * c + a * s) * s,
                (b * c + a * s) * c + (a * c - b * s) * s,
            )
        },
    ),
    Choice(
        "A1",
        "product",
        "pairs turn three times",
        {"slack": 4.0}
        | {
            "product": lambda a, b, c, s: (
                a * (c**3 - 3 * c * s * s) - b * (3 * c * c * s - s**3),
                b * (c**3 - 3 * c * s * s) + a * (3 * c * c * s - s**3),
            )
        },
    ),
    Choice(
        "pairs in another order",
        "product",
        "the members are exchanged before they turn",
        {"product": lambda a, b, c, s: (b * c - a * s, a * c + b * s)},
    ),
    Choice(
        "pairs in another order",
        "product",
        "the members are exchanged after they turned",
        {"product": lambda a, b, c, s: (b * c + a * s, a * c - b * s)},
    ),
    Choice(
        "R4",
        "product",
        "the part that should turn comes back as it was",
        {"product": lambda a, b, c, s: (a + 0 * c, b + 0 * c)},
    ),
    Choice(
        "M2",
        "product",
        "the second member is made from the first already turned",
        {"product": _overwrites_second},
    ),
    Choice(
        "M2",
        "product",
        "the first member is made from the second already turned",
        {"product": _overwrites_first},
    ),
    Choice(
        "x added",
        "product",
        "x is added to what was turned",
        {"product": lambda a, b, c, s: (a + a * c - b * s, b + b * c + a * s)},
    ),
    Choice(
        "zeroed",
        "product",
        "what turns is zero",
        {"product": lambda a, b, c, s: (0 * a * c, 0 * a * c)},
    ),
    Choice(
        "not a number",
        "product",
        "what turns is not a number",
        {"product": lambda a, b, c, s: (np.nan * a * c, np.nan * a * c)},
    ),
    Choice(
        "squared tables",
        "product",
        "cosines and sines are squared",
        {"product": lambda a, b, c, s: (a * c * c - b * s * s, b * c * c + a * s * s)},
    ),
)
"""What else is made of a pair, its cosine and its sine."""
