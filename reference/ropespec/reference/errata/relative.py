"""Printed forms of the score that are wrong (chapter `errata`).

`q` and `k` are real vectors of d components, `theta` the d/2 frequencies in radians per position,
m the position of the query and n that of the key. Right is q^T R_{n-m} k everywhere.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ropespec.reference.errata.rotation import block_rotation

__all__ = [
    "printed_complex_score",
    "printed_distance_score",
    "printed_equation_3",
    "printed_g_exponential",
    "printed_g_matrix",
    "printed_layout_mix",
    "printed_parentheses",
    "printed_phase_progression",
    "printed_query_only_score",
    "printed_query_turn",
]

Vector = NDArray[np.float64]


def printed_g_matrix(q: Vector, k: Vector, m: int, n: int, theta: Vector) -> float:
    """Return q^T R((m-n) theta) k, the sign turned round (E-04, E-40, E-41; F-119, F-120, F-121).

    Returns
    -------
    float
        The score of the opposite offset.
    """
    return float(q @ block_rotation((m - n) * theta) @ k)


def printed_equation_3(q: Vector, other: Vector, k: Vector, angle: float) -> Vector:
    """(q_m^T q_n) R((m-n) theta) (k_1; k_2), equation (3) of document 000 literally (E-05; F-121).

    Parameters
    ----------
    q, other : ndarray of float64, shape (2,)
        q_m and the undefined q_n: the key, or the query once more.
    k : ndarray of float64, shape (2,)
        The column.
    angle : float
        (m-n) theta in radians.

    Returns
    -------
    ndarray of float64, shape (2,)
        A vector where the left side is a number.
    """
    return np.asarray(float(q @ other) * (block_rotation(np.array([angle])) @ k))


def printed_complex_score(q: complex, k: complex, m: int, n: int, theta: float) -> complex:
    """y_m y_n = q k e^{i(m+n) theta}: no conjugate and no real part (E-06; F-121).

    Returns
    -------
    complex
        Depends on m + n; right is Re[y_m conj(y_n)].
    """
    return complex((q * np.exp(1j * m * theta)) * (k * np.exp(1j * n * theta)))


def printed_query_turn(q: Vector, k: Vector, m: int, n: int, theta: Vector) -> float:
    """<R_{n-m} q, k>: q turned by n-m, as document 002 says (E-21; F-125).

    Returns
    -------
    float
        Right is q turned by m-n, or k by n-m.
    """
    return float((block_rotation((n - m) * theta) @ q) @ k)


def printed_query_only_score(q: Vector, k: Vector, m: int, n: int, theta: Vector) -> float:
    """<R_m q, k>: only the query turned, as document 002 says (E-24; F-125).

    Returns
    -------
    float
        The position n of the key has no effect; right is <R_m q, R_n k>.
    """
    del n
    return float((block_rotation(m * theta) @ q) @ k)


def printed_g_exponential(q: complex, k: complex, m: int, n: int, theta: float) -> complex:
    """Return q e^{i(n-m) theta} k with q and k complex: no conjugate, no real part (E-22; F-123).

    Returns
    -------
    complex
        Right is Re[q^* k e^{i(n-m) theta}].
    """
    return complex(q * np.exp(1j * (n - m) * theta) * k)


def printed_parentheses(m: int, n: int, theta: float) -> tuple[float, float]:
    """cos(m-n) theta and -sin(n-m) theta, the factor outside the function (E-43; F-117, F-118).

    Returns
    -------
    tuple of float
        Right are cos((m-n) theta) and -sin((n-m) theta).
    """
    return math.cos(m - n) * theta, -math.sin(n - m) * theta


def printed_distance_score(q: Vector, k: Vector, m: int, n: int, theta: Vector) -> float:
    """Return q^T R_{-|m-n|} k: it knows the distance only (E-31; F-092, F-099).

    Returns
    -------
    float
        Right at m >= n; g is not even in m - n.
    """
    return float(q @ block_rotation(-abs(m - n) * theta) @ k)


def printed_layout_mix(q: Vector, k: Vector, m: int, n: int, theta: Vector) -> float:
    """<R_m q, R_n k> with q interleaved and k half-split, under one name (E-17, E-66; F-137).

    Returns
    -------
    float
        Depends on m and n separately; right is one layout for both.
    """
    half = len(theta)
    c, s = np.cos(n * theta), np.sin(n * theta)
    first, second = k[:half], k[half:]
    turned = np.concatenate([first * c - second * s, first * s + second * c])
    return float((block_rotation(m * theta) @ q) @ turned)


def printed_phase_progression(q: complex, m: int, theta: float, start: float) -> complex:
    """Return q e^{i(start + m theta)}, an arithmetic progression not starting at 0 (E-51; F-179).

    Returns
    -------
    complex
        Equals f(q, m) only if `start`, in radians, is a whole number of turns.
    """
    return complex(q * np.exp(1j * (start + m * theta)))
