"""Printed forms of the rotation that are wrong (chapter `errata`).

`theta` is the vector of frequencies theta_0, ..., theta_{d/2-1} in radians per position.
"""

import math

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "block_rotation",
    "printed_block_angle",
    "printed_half_split_matrix",
    "printed_key",
    "printed_labelled_matrix",
    "printed_matrix_002",
    "printed_product_of_terms",
    "printed_rotation_by_theta",
    "printed_row_times_matrix",
    "printed_rows",
    "printed_scalar_theta_rotation",
    "printed_sparse_matrix",
]

Vector = NDArray[np.float64]


def block_rotation(angles: Vector) -> Vector:
    """Return the dense interleaved rotation by the given angles; right, and used by the others.

    Returns
    -------
    ndarray of float64, shape (d, d)
        Blocks [[cos, -sin], [sin, cos]], one for each of the d/2 angles in radians.
    """
    R = np.zeros((2 * len(angles), 2 * len(angles)))
    for i, angle in enumerate(angles):
        c, s = math.cos(angle), math.sin(angle)
        R[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, -s], [s, c]]
    return R


def printed_scalar_theta_rotation(x: Vector, m: int, theta: float) -> Vector:
    """Turn x, read as d/2 complex numbers, by one scalar e^{im theta} (E-02; F-023, F-081).

    Returns
    -------
    ndarray of float64, shape (d,)
        Right only for d = 2; otherwise pair i turns by m theta_i.
    """
    return np.asarray(block_rotation(np.full(len(x) // 2, m * theta)) @ x)


def printed_key(x: Vector, n: int, query_weight: Vector, theta: float) -> Vector:
    """y_n = q_n e^{in theta} with q_n = W_q x_n: equation (2) of document 000 (E-03; F-083).

    Returns
    -------
    ndarray of float64, shape (2,)
        Right is k_n e^{in theta} with k_n = W_k x_n.
    """
    return np.asarray(block_rotation(np.array([n * theta])) @ (query_weight @ x))


def printed_rotation_by_theta(m: int, theta: float) -> Vector:
    """Turn by theta, which document 003 says of the matrix with m theta (E-27; F-073, F-074).

    Returns
    -------
    ndarray of float64, shape (2, 2)
        `m` has no effect; right is the rotation by m theta.
    """
    del m
    return block_rotation(np.array([theta]))


def printed_labelled_matrix(n: int, m: int, theta: Vector) -> Vector:
    """R_{n,Theta} with entries cos(m theta_i), sin(m theta_i) (E-13; F-127, F-137, F-140).

    Returns
    -------
    ndarray of float64, shape (d, d)
        `n` has no effect; right is R_m under the label m.
    """
    del n
    return block_rotation(m * theta)


def printed_half_split_matrix(m: int, theta: Vector) -> Vector:
    """Return the half-split display with its ellipsis row and column between the halves (E-16).

    Returns
    -------
    ndarray of float64, shape (d + 1, d + 1)
        The ellipses stand as zeros; right is [[C, -S], [S, C]] of shape (d, d) (F-137).
    """
    C, S = np.diag(np.cos(m * theta)), np.diag(np.sin(m * theta))
    gap = np.zeros((len(theta), 1))
    dots = np.zeros((1, 2 * len(theta) + 1))
    return np.vstack([np.hstack([C, gap, -S]), dots, np.hstack([S, gap, C])])


def printed_matrix_002(m: int, theta: Vector) -> Vector:
    """R with (sin, cos) in its second-to-last row, as document 002 prints it (E-19; F-129).

    Returns
    -------
    ndarray of float64, shape (d, d)
        Singular: the last two rows are equal. Right is (cos, -sin) in that row.
    """
    R = block_rotation(m * theta)
    R[-2] = R[-1]
    return R


def printed_sparse_matrix(x: Vector, m: int, theta: Vector) -> Vector:
    """Return x * cos + rot(x) * sin, which document 002 equates with R itself (E-20; F-143).

    Returns
    -------
    ndarray of float64, shape (d,)
        R x, not the (d, d) matrix R that the left side names.
    """
    return np.add(*_terms(x, m, theta))


def printed_product_of_terms(x: Vector, m: int, theta: Vector) -> Vector:
    """(x * cos) * (rot(x) * sin): "split into the product of two matrices" (E-09; F-139).

    Returns
    -------
    ndarray of float64, shape (d,)
        Right is the sum of the two element-wise products.
    """
    return np.multiply(*_terms(x, m, theta))


def printed_rows(X: Vector, m: int, theta: Vector) -> Vector:
    """X (R_m)^T with one m for every row: f(Q) and f(K) of document 001 (E-14, E-15; F-150, F-151).

    Returns
    -------
    ndarray of float64, shape (S, d)
        Right is the matrix of its own position for every row, n for keys.
    """
    return np.asarray(X @ block_rotation(m * theta).T)


def printed_row_times_matrix(q: Vector, angle: float) -> Vector:
    """Return q R for a row vector q, as "row vectors" and R q together suggest (E-46; F-090).

    Returns
    -------
    ndarray of float64, shape (2,)
        Turned by -angle; right is q R^T.
    """
    return np.asarray(q @ block_rotation(np.array([angle])))


def printed_block_angle(m: int, n: int, theta_i: float) -> float:
    """(n-m) theta_i^2: M_i((n-m) theta_i) with M_i(m) = rotation by m theta_i (E-28; F-155, F-166).

    Returns
    -------
    float
        Radians; right is (n-m) theta_i.
    """
    argument = (n - m) * theta_i
    return argument * theta_i


def _terms(x: Vector, m: int, theta: Vector) -> tuple[Vector, Vector]:
    angles = np.repeat(m * theta, 2)
    turned = np.stack([-x[1::2], x[::2]], axis=-1).reshape(x.shape)
    return x * np.cos(angles), turned * np.sin(angles)
