"""Printed forms of complex arithmetic that are wrong (chapter `errata`)."""

import cmath
import math

__all__ = [
    "printed_bracket_product",
    "printed_conjugate_of_product",
    "printed_euler",
    "printed_g_complex",
    "printed_inner_product",
]


def printed_euler(m: int, theta: float) -> tuple[complex, complex]:
    """Both sides of e^{im theta} + e^{-im theta} = cos(m theta) + i sin(m theta) (E-07; F-053).

    Returns
    -------
    tuple of complex
        Left 2 cos(m theta), which is real; right e^{im theta}. They are not equal.
    """
    angle = m * theta
    left = cmath.exp(1j * angle) + cmath.exp(-1j * angle)
    return left, complex(math.cos(angle), math.sin(angle))


def printed_conjugate_of_product(z1: complex, z2: complex) -> complex:
    """z_1 z_2: the stars of (z_1z_2)*=(z_1)*(z_2)* read as multiplication (E-30; F-057).

    Returns
    -------
    complex
        No conjugation at all; right is conj(z_1) conj(z_2).
    """
    return z1 * z2


def printed_inner_product(q: complex, k: complex) -> complex:
    """Return q k^* without the real part (E-47, E-48; F-102, F-103).

    Returns
    -------
    complex
        Right is its real part, the inner product of the two vectors.
    """
    return q * k.conjugate()


def printed_g_complex(q: complex, k: complex, m: int, n: int, theta: float) -> complex:
    """f(q,m) f^*(k,n), printed with the letter of the real g (E-49; F-105).

    Returns
    -------
    complex
        The g of the line before it is the real part of this.
    """
    return (q * cmath.exp(1j * m * theta)) * (k * cmath.exp(1j * n * theta)).conjugate()


def printed_bracket_product(a: float, b: float, c: float, d: float) -> float:
    """AC BD: the product of [A, B] and [C, D] with its plus sign lost (E-42; F-110).

    Returns
    -------
    float
        A C B D; right is A C + B D.
    """
    return a * c * b * d
