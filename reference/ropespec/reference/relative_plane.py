"""The score of one pair in each of its printed forms (chapter `relative`).

Throughout q and k are two numbers each, m and n are integer positions, and theta is in radians per
position. Every function but the parts of the middle product returns the same number.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.rotation_plane import rotation_matrix_2d

__all__ = [
    "cos_of_difference",
    "cos_of_sum",
    "eight_terms",
    "exponential_matrix",
    "f_real",
    "four_groups",
    "four_groups_by_difference",
    "g_c",
    "g_expanded",
    "g_matrix",
    "g_of_rotated",
    "g_real_part",
    "inner_product",
    "middle_product",
    "middle_product_expanded",
    "middle_product_result",
    "real_inner_product",
    "score_by_exponential",
    "score_by_matrices",
    "score_key_rotated",
    "score_query_rotated",
    "sin_of_difference",
    "sin_of_sum",
    "times_conjugate",
]

Matrix = NDArray[np.float64]
"""A row of terms, or a 2x2 matrix."""


def inner_product(q: ArrayLike, k: ArrayLike) -> float:
    """Inner product [a, b] . [c, d] = ac + bd (REL-3, REL-4, REL-8; F-101, F-110; E-42)."""
    (a, b), (c, d) = _numbers(q), _numbers(k)
    return a * c + b * d


def times_conjugate(q: ArrayLike, k: ArrayLike) -> complex:
    """Multiply out (a + ib)(c - id) = (ac + bd) + i(cb - ad) (REL-3; F-100)."""
    (a, b), (c, d) = _numbers(q), _numbers(k)
    return complex(a * c + b * d, c * b - a * d)


def real_inner_product(q: ArrayLike, k: ArrayLike) -> float:
    """Re[q k*], which is the inner product (REL-3; F-096, F-102, F-103; E-47, E-48, E-69)."""
    return (_complex(q) * _complex(k).conjugate()).real


def g_c(q: ArrayLike, k: ArrayLike, m_minus_n: int, *, theta: float) -> complex:
    """f(q, m) f*(k, n) = q k* e^{i(m-n) theta}, a complex number (REL-2; F-105; E-49)."""
    phase = complex(math.cos(m_minus_n * theta), math.sin(m_minus_n * theta))
    return _complex(q) * _complex(k).conjugate() * phase


def g_real_part(q: ArrayLike, k: ArrayLike, m_minus_n: int, *, theta: float) -> float:
    """Re[q k* e^{i(m-n) theta}] (REL-2; F-094, F-095)."""
    return g_c(q, k, m_minus_n, theta=theta).real


def g_of_rotated(q: ArrayLike, k: ArrayLike, m: int, n: int, *, theta: float) -> float:
    """Re[(q e^{im theta}) (k e^{in theta})*] (REL-2; F-097, F-098, F-104)."""
    phase_q = complex(math.cos(m * theta), math.sin(m * theta))
    phase_k = complex(math.cos(n * theta), math.sin(n * theta))
    return ((_complex(q) * phase_q) * (_complex(k) * phase_k).conjugate()).real


def g_expanded(q: ArrayLike, k: ArrayLike, m_minus_n: int, *, theta: float) -> float:
    """(q1 k1 + q2 k2) cos((m-n) theta) - (q2 k1 - q1 k2) sin((m-n) theta).

    Clause REL-4; F-106, F-107, F-113; E-68.
    """
    (q1, q2), (k1, k2) = _numbers(q), _numbers(k)
    angle = m_minus_n * theta
    return (q1 * k1 + q2 * k2) * math.cos(angle) - (q2 * k1 - q1 * k2) * math.sin(angle)


def f_real(x: ArrayLike, m: int, *, theta: float) -> tuple[float, float]:
    """[x1 cos - x2 sin, x2 cos + x1 sin] at the angle m theta (REL-4; F-108)."""
    (x1, x2), c, s = _numbers(x), math.cos(m * theta), math.sin(m * theta)
    return x1 * c - x2 * s, x2 * c + x1 * s


def eight_terms(q: ArrayLike, k: ArrayLike, m: int, n: int, *, theta: float) -> Matrix:
    """Multiply `f_real` of q and of k out, in the printed order (REL-4; F-109).

    Returns
    -------
    ndarray of float64, shape (8,)
        Terms 1 to 8; their sum is the score.
    """
    (q1, q2), (k1, k2) = _numbers(q), _numbers(k)
    cm, sm, cn, sn = _cos_sin_of_both(m, n, theta)
    return np.array(
        [
            q1 * cm * k1 * cn,
            -q1 * cm * k2 * sn,
            -q2 * sm * k1 * cn,
            q2 * sm * k2 * sn,
            q2 * cm * k2 * cn,
            q2 * cm * k1 * sn,
            q1 * sm * k2 * cn,
            q1 * sm * k1 * sn,
        ]
    )


def four_groups(q: ArrayLike, k: ArrayLike, m: int, n: int, *, theta: float) -> Matrix:
    """Terms 1 and 8, 2 and 7, 3 and 6, 4 and 5, factored (REL-4; F-111, F-113).

    Returns
    -------
    ndarray of float64, shape (4,)
        The groups of q1 k1, q1 k2, q2 k1 and q2 k2; their sum is the score.
    """
    (q1, q2), (k1, k2) = _numbers(q), _numbers(k)
    cm, sm, cn, sn = _cos_sin_of_both(m, n, theta)
    return np.array(
        [
            q1 * k1 * (cm * cn + sm * sn),
            q1 * k2 * (-cm * sn + sm * cn),
            q2 * k1 * (-sm * cn + cm * sn),
            q2 * k2 * (sm * sn + cm * cn),
        ]
    )


def four_groups_by_difference(
    q: ArrayLike, k: ArrayLike, m_minus_n: int, *, theta: float
) -> Matrix:
    """Write the four groups with cos and sin of (m-n) theta, by the addition formulas.

    Clause REL-4; F-112, F-113.

    Returns
    -------
    ndarray of float64, shape (4,)
        Entry by entry `four_groups`.
    """
    (q1, q2), (k1, k2) = _numbers(q), _numbers(k)
    c, s = math.cos(m_minus_n * theta), math.sin(m_minus_n * theta)
    return np.array([q1 * k1 * c, q1 * k2 * s, -q2 * k1 * s, q2 * k2 * c])


def sin_of_sum(a: float, b: float) -> float:
    """sin(a + b) = sin a cos b + cos a sin b (REL-4; F-112)."""
    return math.sin(a) * math.cos(b) + math.cos(a) * math.sin(b)


def sin_of_difference(a: float, b: float) -> float:
    """sin(a - b) = sin a cos b - cos a sin b (REL-4; F-112)."""
    return math.sin(a) * math.cos(b) - math.cos(a) * math.sin(b)


def cos_of_sum(a: float, b: float) -> float:
    """cos(a + b) = cos a cos b - sin a sin b (REL-4; F-112)."""
    return math.cos(a) * math.cos(b) - math.sin(a) * math.sin(b)


def cos_of_difference(a: float, b: float) -> float:
    """cos(a - b) = cos a cos b + sin a sin b (REL-4; F-112)."""
    return math.cos(a) * math.cos(b) + math.sin(a) * math.sin(b)


def score_by_matrices(q: ArrayLike, k: ArrayLike, m: int, n: int, *, theta: float) -> float:
    """q^T R(m theta)^T R(n theta) k, from left to right (REL-5; F-114)."""
    row = np.array(_numbers(q)) @ rotation_matrix_2d(m * theta).T
    return float(row @ rotation_matrix_2d(n * theta) @ np.array(_numbers(k)))


def middle_product(m: int, n: int, *, theta: float) -> Matrix:
    """R(m theta)^T R(n theta) as a product of matrices, shape (2, 2) (REL-5; F-115)."""
    return np.asarray(rotation_matrix_2d(m * theta).T @ rotation_matrix_2d(n * theta))


def middle_product_expanded(m: int, n: int, *, theta: float) -> Matrix:
    """Write out the four sums of two products of the middle product (REL-5; F-116, F-118)."""
    cm, sm, cn, sn = _cos_sin_of_both(m, n, theta)
    return np.array(
        [
            [cm * cn + sm * sn, -cm * sn + sm * cn],
            [-sm * cn + cm * sn, sm * sn + cm * cn],
        ]
    )


def middle_product_result(m: int, n: int, *, theta: float) -> Matrix:
    """((cos((m-n)θ), -sin((n-m)θ)), (sin((n-m)θ), cos((m-n)θ))) (REL-5; F-117, F-118; E-43)."""
    cos, sin = math.cos((m - n) * theta), math.sin((n - m) * theta)
    return np.array([[cos, -sin], [sin, cos]])


def g_matrix(q: ArrayLike, k: ArrayLike, n_minus_m: int, *, theta: float) -> float:
    """q^T M((n-m) theta) k, the right form of F-119, F-120 and F-121 (REL-5, REL-6; F-122).

    Errata E-04, E-05, E-06, E-40 and E-41 are about its sign and shape.
    """
    R = rotation_matrix_2d(n_minus_m * theta)
    return float(np.array(_numbers(q)) @ R @ np.array(_numbers(k)))


def exponential_matrix(angle: float) -> Matrix:
    """I cos + J sin, the real matrix that e^{i angle} stands for in F-123 (REL-5; E-22).

    J = ((0, -1), (1, 0)) rotates by a quarter of a turn, as i does.

    Returns
    -------
    ndarray of float64, shape (2, 2)
        R(angle).
    """
    J = np.array([[0.0, -1.0], [1.0, 0.0]])
    return np.asarray(np.eye(2) * math.cos(angle) + J * math.sin(angle))


def score_by_exponential(q: ArrayLike, k: ArrayLike, n_minus_m: int, *, theta: float) -> float:
    """q^T e^{i(n-m) theta} k, with the exponential read as a matrix (REL-5; F-123; E-22)."""
    return float(np.array(_numbers(q)) @ exponential_matrix(n_minus_m * theta) @ _numbers(k))


def score_query_rotated(q: ArrayLike, k: ArrayLike, m: int, n: int, *, theta: float) -> float:
    """<R_{m-n} q, k>: the query alone is rotated, by m - n (REL-6; F-125 corrected; E-21, E-24)."""
    return inner_product(f_real(q, m - n, theta=theta), k)


def score_key_rotated(q: ArrayLike, k: ArrayLike, m: int, n: int, *, theta: float) -> float:
    """<q, R_{n-m} k>: the key alone is rotated, by n - m (REL-6; F-125 corrected; E-21)."""
    return inner_product(q, f_real(k, n - m, theta=theta))


def _numbers(pair: ArrayLike) -> tuple[float, float]:
    first, second = np.asarray(pair, dtype=np.float64)
    return float(first), float(second)


def _complex(pair: ArrayLike) -> complex:
    return complex(*_numbers(pair))


def _cos_sin_of_both(m: int, n: int, theta: float) -> tuple[float, float, float, float]:
    a, b = m * theta, n * theta
    return math.cos(a), math.sin(a), math.cos(b), math.sin(b)
