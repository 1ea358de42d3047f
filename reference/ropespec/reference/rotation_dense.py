"""The rotation as matrices, entry by entry as the documents print them (chapter `rotation`).

Each display is built with its own labels of the frequencies, so that a reader can hold the page
beside the function; that they give one matrix is a property under test, not a definition.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ropespec.reference.frequencies import inv_freq, theta_one_based, theta_step2
from ropespec.spec.arguments import check_dim

__all__ = [
    "dense_from_blocks",
    "dense_half",
    "dense_one_based",
    "dense_step2",
    "dense_with_tail",
    "dense_zero_based",
    "permutation",
    "permutation_matrix",
]


def dense_zero_based(m: int, dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """R_m with theta_0..theta_{dim/2-1} (ROT-3; F-126, F-133, F-134, and F-129 corrected).

    The last row but one is (0, ..., cos, -sin), not the last one again (E-19); the labels of
    document 004 are those of its matrix, not of its set Theta (E-45).

    Parameters
    ----------
    m : int
        The position of the vector it acts on.
    dim, base
        As in `inv_freq`, errors too.

    Returns
    -------
    ndarray of float64, shape (dim, dim)
        Pairs are components (2i, 2i+1).
    """
    R = np.zeros((dim, dim))
    for i, theta in enumerate(inv_freq(dim, base)):
        c, s = math.cos(m * theta), math.sin(m * theta)
        R[2 * i, 2 * i], R[2 * i, 2 * i + 1] = c, -s
        R[2 * i + 1, 2 * i], R[2 * i + 1, 2 * i + 1] = s, c
    return R


def dense_one_based(m: int, dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """R_m with theta_1..theta_{dim/2} and rows 1..dim (ROT-3; F-127, F-130; E-13, E-26).

    Parameters and result as in `dense_zero_based`.
    """
    R = np.zeros((dim, dim))
    for i, theta in theta_one_based(dim, base).items():
        c, s = math.cos(m * theta), math.sin(m * theta)
        row, next_row = 2 * i - 1, 2 * i  # counted from 1, as printed
        R[row - 1, row - 1], R[row - 1, next_row - 1] = c, -s
        R[next_row - 1, row - 1], R[next_row - 1, next_row - 1] = s, c
    return R


def dense_step2(m: int, dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """R_m with theta_0, theta_2, ..., theta_{dim-2} (ROT-3; F-128; E-13).

    The label of a frequency is the number of its even component.
    Parameters and result as in `dense_zero_based`.
    """
    R = np.zeros((dim, dim))
    for i, theta in theta_step2(dim, base).items():
        c, s = math.cos(m * theta), math.sin(m * theta)
        R[i, i], R[i, i + 1] = c, -s
        R[i + 1, i], R[i + 1, i + 1] = s, c
    return R


def dense_from_blocks(blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Set M_1, ..., M_{d/2} along the diagonal, zero elsewhere (ROT-3; F-131, F-132, F-135).

    Parameters
    ----------
    blocks : ndarray of float64, shape (d/2, 2, 2)
        For R_m: rotations by m * theta_i.

    Returns
    -------
    ndarray of float64, shape (d, d)
        The block-diagonal matrix.
    """
    R = np.zeros((2 * len(blocks), 2 * len(blocks)))
    for i, M in enumerate(blocks):
        R[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = M
    return R


def dense_half(m: int, dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """R_m for half-split pairs (j, j + dim/2), ((C, -S), (S, C)) (ROT-4; F-137; E-13, E-16, E-17).

    C = diag(cos m theta_0, cos m theta_2, ..., cos m theta_{dim-2}) in step-2 labels, S likewise.
    Parameters as in `dense_zero_based`.

    Returns
    -------
    ndarray of float64, shape (dim, dim)
        -sin(m theta_0) stands in row 0 at column dim/2: nothing lies between the halves.
    """
    R = np.zeros((dim, dim))
    for i, theta in theta_step2(dim, base).items():
        c, s = math.cos(m * theta), math.sin(m * theta)
        j = i // 2
        R[j, j], R[j, j + dim // 2] = c, -s
        R[j + dim // 2, j], R[j + dim // 2, j + dim // 2] = s, c
    return R


def dense_with_tail(R: NDArray[np.float64], head_dim: int) -> NDArray[np.float64]:
    """((R, 0), (0, I)): R on the first r components of a head, the rest as it is (ROT-14).

    Parameters
    ----------
    R : ndarray of float64, shape (r, r)
        The matrix of the components that rotate.
    head_dim : int
        D, at least r.

    Returns
    -------
    ndarray of float64, shape (D, D)
        The matrix of the whole head.
    """
    whole = np.eye(head_dim)
    whole[: len(R), : len(R)] = R
    return whole


def permutation(dim: int) -> NDArray[np.int64]:
    """(0, 2, ..., dim-2, 1, 3, ..., dim-1): interleaved to half-split (ROT-5; F-138).

    Returns
    -------
    ndarray of int64, shape (dim,)
        (P x)_j = x[permutation[j]].

    Raises
    ------
    ArgumentTypeError
        If `dim` is not an integer.
    ArgumentValueError
        If `dim` is odd or below 2.
    """
    dim = check_dim(dim)
    return np.concatenate([np.arange(0, dim, 2), np.arange(1, dim, 2)])


def permutation_matrix(dim: int) -> NDArray[np.float64]:
    """P with R_half = P R_interleaved P^T (ROT-5; F-138).

    Errors as in `permutation`.

    Returns
    -------
    ndarray of float64, shape (dim, dim)
        One 1 in every row and column; its inverse is its transpose.
    """
    return np.eye(check_dim(dim))[permutation(dim)]
