# ruff: noqa: ARG005  # a stage is given what any choice for it may need
"""What is made of a pair, its cosine and its sine."""

import numpy as np

from ropespec.conformance.mistakes.choice import Choice, Shown
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array

__all__ = ["MISTAKES", "PRODUCTS"]

MISTAKES = entries("""
S1 direction reversed
    Pairs rotate clockwise; the sign of sin, or the transpose of the matrix, is to be flipped.
R4 rotation discarded
    The part that should be rotated comes back as it was; return the rotated slice.
D13 sine lost
    Only the real part of e^{i m theta} is kept; do not cast complex tables to a real dtype.
A1 applied twice
    The rotation is applied twice; remove one of the two calls.
A3 never applied
    x comes back as it was; call the rotation on this path.
M2 overwritten operand
    One member is made from the other already overwritten; keep both until both are done.
lost minus
    The block is [[c, s], [s, c]]; subtract where the formula subtracts.
pairs in another order
    The rotated components come back in other places; leave each in its own.
not a number
    The result is no number; look for memory that was never written.
cos and sin swapped
    The cosine stands where the sine belongs; return cos first, or give it the real part.
cosine lost
    The product with the cosine is missing; keep both products.
one member rotates
    One member of each pair comes back as it was; write both.
operands confused
    A member of a pair is made of other products than it should; compare the formula.
squared tables
    Cosines and sines are multiplied twice; multiply once.
term lost
    One of the two products of a member is missing; keep both.
x added
    x is added to its rotation; return the rotation alone.
zeroed
    What should rotate comes back as zero; write every component.
""")


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
        shown=(
            Shown.by(
                "never_applied",
                "FREQ-2.read-off",
                "FREQ-6.neighbours",
                "DEC-1.abel",
                "DEC-2.cosines",
            ),
        ),
    ),
    Choice(
        "S1",
        "product",
        "pairs rotate clockwise",
        {"product": lambda a, b, c, s: (a * c + b * s, b * c - a * s)},
        shown=(
            Shown.by(
                "clockwise_interleaved",
                "REL-1.forms",
                "REL-2.forms",
                "REL-5.forms",
                "REL-5.middle",
                "REL-6.forms",
                "REL-9.forms",
                "DER-1.forms",
                "DER-2.forms",
                "DER-4.forms",
                "DER-5.forms",
                "DEC-1.forms",
                "AXES-6.forms",
                "AXES-7.forms",
                "AXES-8.forms",
                "AXES-9.forms",
                interleaved=True,
            ),
        ),
    ),
    Choice(
        "lost minus",
        "product",
        "the first member is a c + b s",
        {"product": lambda a, b, c, s: (a * c + b * s, b * c + a * s)},
        shown=(
            Shown.by(
                "lost_minus",
                "ROT-11.norm",
                "ROT-2.complex",
                "REL-2.real-part",
                "REL-3.inner-product",
                "REL-4.groups",
                "REL-5.key-turned",
                "ATT-3.weights",
            ),
        ),
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
        "one member rotates",
        "product",
        "the second member stays as it was",
        {"product": lambda a, b, c, s: (a * c - b * s, b + 0 * c)},
    ),
    Choice(
        "one member rotates",
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
        "pairs rotate twice",
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
        "pairs rotate three times",
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
        "the members are exchanged before they rotate",
        {"product": lambda a, b, c, s: (b * c - a * s, a * c + b * s)},
    ),
    Choice(
        "pairs in another order",
        "product",
        "the members are exchanged after they rotated",
        {"product": lambda a, b, c, s: (b * c + a * s, a * c - b * s)},
    ),
    Choice(
        "R4",
        "product",
        "the part that should rotate comes back as it was",
        {"product": lambda a, b, c, s: (a + 0 * c, b + 0 * c)},
    ),
    Choice(
        "M2",
        "product",
        "the second member is made from the first already rotated",
        {"product": _overwrites_second},
        shown=(
            Shown.by(
                "overwritten_operand",
                "ROT-11.norm",
                "CPLX-3.quarter-turn",
                "CPLX-7.product",
                "REL-8.equal",
            ),
        ),
    ),
    Choice(
        "M2",
        "product",
        "the first member is made from the second already rotated",
        {"product": _overwrites_first},
    ),
    Choice(
        "x added",
        "product",
        "x is added to what was rotated",
        {"product": lambda a, b, c, s: (a + a * c - b * s, b + b * c + a * s)},
    ),
    Choice(
        "zeroed",
        "product",
        "what rotates is zero",
        {"product": lambda a, b, c, s: (0 * a * c, 0 * a * c)},
    ),
    Choice(
        "not a number",
        "product",
        "what rotates is not a number",
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
