"""Why the encoding is a rotation: the proof by blocks and the polar form (chapter `derivation`).

In the second half q and k are complex numbers, standing for pairs, and theta is in radians per
position; arguments are in (-pi, pi]. f is the solution from the start, so that each step of the
derivation can be confirmed; none of these functions finds it.
"""

import cmath
import math

import numpy as np
from numpy.typing import NDArray

from ropespec.reference.arrays import Floats, as_float64
from ropespec.reference.complex_plane import argument, from_complex, to_complex
from ropespec.reference.frequencies import inv_freq
from ropespec.reference.rotation import rotation_matrix
from ropespec.reference.rotation_dense import dense_from_blocks
from ropespec.reference.rotation_plane import rotation_matrix_2d

__all__ = [
    "arguments_at_equal_positions",
    "block_of_offset",
    "block_product",
    "blockwise_product",
    "conclusion",
    "equation_one",
    "equation_two",
    "f",
    "f_mirrored",
    "f_of_pairs",
    "f_polar",
    "f_with_phase",
    "g_c",
    "inner_of_rotated",
    "moduli_at_equal_positions",
    "neighbour_difference",
    "neighbour_difference_substituted",
    "phi",
    "phi_progression",
    "phi_step",
    "r_f",
    "r_g",
    "theta_f",
    "theta_g",
    "theta_of",
    "wrap",
]

Matrix = NDArray[np.float64]
"""A square matrix."""


def inner_of_rotated(
    q: Floats, k: Floats, m: int, n: int, base: float = 10000.0
) -> tuple[float, float]:
    """(R_m q)^T (R_n k) and q^T R_m^T R_n k, interleaved: step 1 of the proof (DER-1; F-164).

    Parameters
    ----------
    q, k : ndarray of float, shape (d,)
        d even.
    m, n : int
        Positions.
    base : float
        Above 1.

    Returns
    -------
    tuple of float
        Both sides of the equation.
    """
    R_m, R_n = rotation_matrix([m, n], q.shape[-1], interleaved=True, base=base)
    left, right = as_float64(q), as_float64(k)
    return float((R_m @ left) @ (R_n @ right)), float(left @ R_m.T @ R_n @ right)


def blockwise_product(m: int, n: int, dim: int, base: float = 10000.0) -> Matrix:
    """diag(M(m theta_i)^T M(n theta_i)): step 2, block by block (DER-1; F-165).

    Parameters
    ----------
    m, n : int
        Positions.
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    ndarray of float64, shape (dim, dim)
        Equal to R_m^T R_n of the interleaved layout.
    """
    blocks = [
        rotation_matrix_2d(m * theta).T @ rotation_matrix_2d(n * theta)
        for theta in inv_freq(dim, base)
    ]
    return dense_from_blocks(np.array(blocks))


def block_product(m: int, n: int, theta: float) -> Matrix:
    """M(-m theta) M(n theta), M taking angles: step 3, left (DER-1; F-166; E-28)."""
    return np.asarray(rotation_matrix_2d(-m * theta) @ rotation_matrix_2d(n * theta))


def block_of_offset(n_minus_m: int, theta: float) -> Matrix:
    """M((n-m) theta), M taking angles: step 3, right (DER-1; F-166; E-28)."""
    return rotation_matrix_2d(n_minus_m * theta)


def conclusion(m: int, n: int, dim: int, base: float = 10000.0) -> tuple[Matrix, Matrix]:
    """R_m^T R_n and R_{n-m}, interleaved: step 4 (DER-1; F-167).

    Parameters as in `blockwise_product`.

    Returns
    -------
    tuple of ndarray, each (dim, dim)
        Both sides of the equation.
    """
    R_m, R_n, R_offset = rotation_matrix([m, n, n - m], dim, interleaved=True, base=base)
    return R_m.T @ R_n, R_offset


def f(q: complex, m: int, *, theta: float) -> complex:
    """Rotate by the angle found: q e^{im theta} (DER-5; F-181)."""
    return q * cmath.exp(1j * (m * theta))


def f_mirrored(q: complex, m: int) -> complex:
    """q at even and q^* at odd positions: Re[f f^*] sees m - n alone, f f^* does not (DER-2)."""
    return q.conjugate() if m % 2 else q


def g_c(q: complex, k: complex, m_minus_n: int, *, theta: float) -> complex:
    """Complex g of the polar form, q k* e^{i(m-n) theta} (DER-2; F-168)."""
    return q * k.conjugate() * cmath.exp(1j * (m_minus_n * theta))


def r_f(q: complex, m: int, *, theta: float) -> float:
    """R_f(q, m) = |f(q, m)| (DER-2, DER-3; F-168, F-172; E-50)."""
    return abs(f(q, m, theta=theta))


def theta_f(q: complex, m: int, *, theta: float) -> float:
    """Theta_f(q, m) = arg f(q, m), q not zero (DER-2; F-168; E-50)."""
    return theta_of(f(q, m, theta=theta))


def r_g(q: complex, k: complex, m_minus_n: int, *, theta: float) -> float:
    """R_g(q, k, m-n) = |g_c(q, k, m-n)| (DER-2; F-168; E-50)."""
    return abs(g_c(q, k, m_minus_n, theta=theta))


def theta_g(q: complex, k: complex, m_minus_n: int, *, theta: float) -> float:
    """Theta_g(q, k, m-n) = arg g_c(q, k, m-n), q and k not zero (DER-2; F-168; E-50)."""
    return theta_of(g_c(q, k, m_minus_n, theta=theta))


def theta_of(q: complex) -> float:
    """Theta(q), the argument of q, in (-pi, pi] (DER-4; F-174).

    Raises
    ------
    ValueError
        If q is zero, which has none.
    """
    if q == 0:
        raise ValueError("q must not be zero, which has no argument")
    return float(argument(q))


def wrap(angle: float) -> float:
    """Bring an angle into (-pi, pi] by whole turns (DER-4; E-51)."""
    rest = math.remainder(angle, math.tau)
    return math.pi if rest == -math.pi else rest


def equation_one(q: complex, k: complex, m: int, n: int, *, theta: float) -> tuple[float, float]:
    """R_f(q, m) R_f(k, n) and R_g(q, k, m-n), which are equal (DER-2; F-169; E-50)."""
    left = r_f(q, m, theta=theta) * r_f(k, n, theta=theta)
    return left, r_g(q, k, m - n, theta=theta)


def equation_two(q: complex, k: complex, m: int, n: int, *, theta: float) -> tuple[float, float]:
    """Theta_f(q, m) - Theta_f(k, n) and Theta_g(q, k, m-n), equal modulo 2 pi (DER-2; F-170; E-50).

    Returns
    -------
    tuple of float
        Both sides; the left one is brought into (-pi, pi].
    """
    left = wrap(theta_f(q, m, theta=theta) - theta_f(k, n, theta=theta))
    return left, theta_g(q, k, m - n, theta=theta)


def moduli_at_equal_positions(
    q: complex, k: complex, m: int, *, theta: float
) -> tuple[float, float, float, float]:
    """R_f(q,m) R_f(k,m), R_g(q,k,0), R_f(q,0) R_f(k,0) and |q||k|, all equal (DER-3; F-171)."""
    first, second = equation_one(q, k, m, m, theta=theta)
    third = r_f(q, 0, theta=theta) * r_f(k, 0, theta=theta)
    return first, second, third, abs(q) * abs(k)


def arguments_at_equal_positions(
    q: complex, k: complex, m: int, *, theta: float
) -> tuple[float, float, float, float]:
    """Give the four members of equation two at m = n, all equal (DER-4; F-173).

    They are Theta_f(q,m) - Theta_f(k,m), Theta_g(q,k,0), Theta_f(q,0) - Theta_f(k,0) and
    Theta(q) - Theta(k), each in (-pi, pi].
    """
    first, second = equation_two(q, k, m, m, theta=theta)
    third = wrap(theta_f(q, 0, theta=theta) - theta_f(k, 0, theta=theta))
    return first, second, third, wrap(theta_of(q) - theta_of(k))


def phi(q: complex, m: int, *, theta: float) -> float:
    """phi(m) = Theta_f(q, m) - Theta(q), the same for every q (DER-4; F-175)."""
    return wrap(theta_f(q, m, theta=theta) - theta_of(q))


def neighbour_difference(q: complex, k: complex, m: int, *, theta: float) -> float:
    """Theta_f(q, m) - Theta_f(k, m-1), which is Theta_g(q, k, 1) (DER-4; F-176)."""
    return wrap(theta_f(q, m, theta=theta) - theta_f(k, m - 1, theta=theta))


def neighbour_difference_substituted(q: complex, k: complex, m: int, *, theta: float) -> float:
    """Theta(q) + phi(m) - (Theta(k) + phi(m-1)), the same number (DER-4; F-177)."""
    left = theta_of(q) + phi(q, m, theta=theta)
    return wrap(left - (theta_of(k) + phi(k, m - 1, theta=theta)))


def phi_step(q: complex, k: complex, *, theta: float) -> float:
    """phi(m) - phi(m-1) = Theta_g(q, k, 1) + Theta(k) - Theta(q) = theta (DER-4; F-178)."""
    return wrap(theta_g(q, k, 1, theta=theta) + theta_of(k) - theta_of(q))


def phi_progression(count: int, step: float, *, phi_0: float = 0.0) -> list[float]:
    """Arithmetic progression phi(0), phi(0) + step, ... by repeated adding (DER-4; F-179; E-51).

    Parameters
    ----------
    count : int
        Number of terms.
    step : float
        Radians per position.
    phi_0 : float
        phi(0); f(q, 0) = q makes it zero.

    Returns
    -------
    list of float
        phi(0), ..., phi(count - 1), each in (-pi, pi].
    """
    terms = []
    current = wrap(phi_0)
    for _ in range(count):
        terms.append(current)
        current = wrap(current + step)
    return terms


def f_polar(q: complex, m: int, *, theta: float) -> complex:
    """|q| e^{i(Theta(q) + m theta)}, which is q e^{im theta} (DER-5; F-180)."""
    return cmath.rect(abs(q), theta_of(q) + m * theta)


def f_with_phase(q: complex, m: int, *, theta: float, phi_0: float) -> complex:
    """Multiply q by e^{i(phi_0 + m theta)}: the same scores, but f(q, 0) is not q (DER-4; E-51)."""
    return q * cmath.exp(1j * (phi_0 + m * theta))


def f_of_pairs(x: Floats, m: int, base: float = 10000.0) -> NDArray[np.float64]:
    """Apply the solution to every pair with its own theta_i, interleaved (DER-5; F-182).

    Parameters
    ----------
    x : ndarray of float, shape (d,)
        d even.
    m : int
        Position.
    base : float
        Above 1.

    Returns
    -------
    ndarray of float64, shape (d,)
        R_m x.
    """
    z = to_complex(as_float64(x))
    rates = inv_freq(len(x), base)
    rotated = [f(complex(q), m, theta=float(t)) for q, t in zip(z, rates, strict=True)]
    return np.asarray(from_complex(np.array(rotated)), dtype=np.float64)
