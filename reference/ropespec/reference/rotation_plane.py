"""The rotation of one pair, as complex number, components and 2x2 matrix (chapter `rotation`).

Here theta is one frequency in radians per position and m any position; q is one pair of components
or an array of them.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.complex_plane import euler, product

__all__ = ["rotate_complex", "rotate_components", "rotate_matrix", "rotation_matrix_2d"]


def rotation_matrix_2d(angle: ArrayLike) -> NDArray[np.float64]:
    """R(a) = ((cos a, -sin a), (sin a, cos a)): counter-clockwise (ROT-1; F-072, F-073, F-074).

    The angle of a vector at position m is m theta, not theta (E-27). Its transpose is R(-a)
    (ROT-12; F-154), and R(a) R(b) = R(a + b) for angles, never for positions (ROT-13; F-155; E-28).

    Parameters
    ----------
    angle : array_like of float
        Radians, any shape.

    Returns
    -------
    ndarray of float64, shape angle.shape + (2, 2)
        To be applied to columns.
    """
    a = np.asarray(angle, dtype=np.float64)
    R = np.empty((*a.shape, 2, 2))
    R[..., 0, 0] = np.cos(a)
    R[..., 0, 1] = -np.sin(a)
    R[..., 1, 0] = np.sin(a)
    R[..., 1, 1] = np.cos(a)
    return R


def rotate_complex(z: ArrayLike, m: int, theta: float) -> NDArray[np.complex128]:
    """Rotate by multiplying: z e^{i m theta} (ROT-2; F-062, F-063, F-064, F-065, F-067).

    Parameters
    ----------
    z : array_like of complex
        Pairs as complex numbers.
    m : int
        Position.
    theta : float
        Radians per position.

    Returns
    -------
    ndarray of complex128
        The shape of `z`.
    """
    return product(z, euler(m * theta))


def rotate_components(q: ArrayLike, m: int, theta: float) -> NDArray[np.float64]:
    """Rotate by components: (q1 cos - q2 sin, q2 cos + q1 sin) (ROT-2; F-066, F-068, F-069).

    It is `rotate_complex` multiplied out (F-075): the vector (q_0, q_1) is rotated (F-077).

    Parameters
    ----------
    q : array_like of float, shape (..., 2)
        Pairs of components.
    m, theta
        As in `rotate_complex`.

    Returns
    -------
    ndarray of float64, shape (..., 2)
        The cosines and sines are those of m * theta.
    """
    pair = np.asarray(q, dtype=np.float64)
    q1, q2 = pair[..., 0], pair[..., 1]
    cos, sin = np.cos(m * theta), np.sin(m * theta)
    return np.stack([q1 * cos - q2 * sin, q2 * cos + q1 * sin], axis=-1)


def rotate_matrix(q: ArrayLike, m: int, theta: float) -> NDArray[np.float64]:
    """Rotate by the matrix: R(m theta) (q1; q2), column by column (ROT-1; F-070, F-071, F-076).

    Queries and keys alike; a pair of real numbers is a column, no complex number (E-12).
    Parameters, result as in `rotate_components`.
    """
    columns = np.asarray(q, dtype=np.float64)[..., np.newaxis]
    rotated: NDArray[np.float64] = rotation_matrix_2d(m * theta) @ columns
    return rotated[..., 0]
