"""f_q, f_k and f_v with their weights (chapter `projection`).

The shared functions take a sequence and a stack of heads.
The others are the documents' forms of one token, x (d_in,) with W (d, d_in), at one position.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, as_float64, as_positions, check_floats, round_to
from ropespec.reference.rotation import rotation_matrix
from ropespec.reference.rotation_dense import dense_with_tail
from ropespec.reference.rotation_plane import rotation_matrix_2d
from ropespec.spec.arguments import (
    check_base,
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    check_weight,
    facts,
)

__all__ = [
    "f_complex",
    "f_dense",
    "f_folded",
    "f_matrix",
    "f_projected",
    "f_row",
    "f_v",
    "project",
    "project_key",
    "project_query",
    "project_value",
    "score_of_tokens",
]

Vector = NDArray[np.float64]
"""A column of numbers."""


def project_query(
    x: Floats,
    positions: ArrayLike,
    weight: Floats,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Floats:
    """f_q(x_m, m) = R_m W_q x_m with matrices, token by token, head by head.

    Clauses PROJ-1, PROJ-5; F-078, F-087; E-02, E-71.

    Parameters
    ----------
    x : ndarray of float, shape (..., S, d_in)
        Token vectors, finite.
    positions : array_like of int, shape (S,) or (..., S)
        Either sign.
    weight : ndarray, shape (H, D, d_in)
        One matrix a head, of the dtype of `x`.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        r: the first r components of W x rotate, the rest stays (ROT-14); D by default.

    Returns
    -------
    ndarray, shape (..., S, H, D), dtype of `x`
        A new array: float64 arithmetic, rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If `x` or `weight` is no float array of NumPy, their dtypes differ, positions are no
        integers, `interleaved` is no bool, or `base` or `rotary_dim` is no number.
    ArgumentValueError
        If `x` has fewer than 2 axes, `weight` or the positions do not fit it, `rotary_dim` is odd,
        below 2 or above D, or `base` is not finite or not above 1.
    """
    check_floats("x", x, ndim=2)
    check_floats("weight", weight, ndim=1)
    m = as_positions(positions)
    check_flag("interleaved", interleaved)
    base = check_base(base)
    check_weight(weight, facts(x))
    heads, head_dim, _ = weight.shape
    dim = check_rotary_dim(rotary_dim, head_dim)
    check_positions_fit(facts(m), x.shape[:-1])
    m = np.broadcast_to(m, x.shape[:-1])
    tokens, W = as_float64(x), as_float64(weight)
    out = np.empty((*m.shape, heads, head_dim))
    for token in np.ndindex(m.shape):
        R = rotation_matrix(m[token], dim, interleaved=interleaved, base=base)
        R = dense_with_tail(R, head_dim)
        for head in range(heads):
            with np.errstate(invalid="ignore", over="ignore"):
                out[(*token, head)] = R @ (W[head] @ tokens[token])
    return round_to(out, x.dtype)


def project_key(
    x: Floats,
    positions: ArrayLike,
    weight: Floats,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Floats:
    """f_k(x_n, n) = R_n W_k x_n, not q_n (PROJ-1, PROJ-5; F-078, F-082, F-083; E-03).

    It is the map of the query with the key's own weight and position.
    Parameters, result and errors as in `project_query`.
    """
    return project_query(
        x, positions, weight, interleaved=interleaved, base=base, rotary_dim=rotary_dim
    )


def project_value(x: Floats, weight: Floats) -> Floats:
    """f_v(x_n, n) = W_v x_n, the same at every position n (PROJ-2, PROJ-3; F-080, F-160; E-08).

    Parameters
    ----------
    x : ndarray of float, shape (..., S, d_in)
        Token vectors.
    weight : ndarray, shape (H, E, d_in)
        One matrix a head, of the dtype of `x`; E may be odd.

    Returns
    -------
    ndarray, shape (..., S, H, E), dtype of `x`
        A new array: float64 arithmetic, rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If `x` or `weight` is no float array of NumPy, or their dtypes differ.
    ArgumentValueError
        If `x` has fewer than 2 axes, or `weight` does not fit it.
    """
    check_floats("x", x, ndim=2)
    check_floats("weight", weight, ndim=1)
    check_weight(weight, facts(x))
    tokens, W = as_float64(x), as_float64(weight)
    out = np.empty((*x.shape[:-1], *weight.shape[:2]))
    for token in np.ndindex(x.shape[:-1]):
        for head in range(len(W)):
            with np.errstate(invalid="ignore", over="ignore"):
                out[(*token, head)] = W[head] @ tokens[token]
    return round_to(out, x.dtype)


def project(weight: NDArray[Any], x: NDArray[Any]) -> Vector:
    """Row j of W times x: q^(j) = sum_l W^(jl) x^(l) (PROJ-3; F-084).

    Parameters
    ----------
    weight : ndarray, shape (d, d_in)
        W.
    x : ndarray, shape (d_in,)
        One token.

    Returns
    -------
    ndarray of float64, shape (d,)
        W x.
    """
    rows = [sum(float(w) * float(c) for w, c in zip(row, x, strict=True)) for row in weight]
    return np.array(rows, dtype=np.float64)


def f_complex(x: NDArray[Any], m: int, weight: NDArray[Any], theta: float) -> complex:
    """(W x) e^{im theta} for d = 2, one complex number (PROJ-1; F-081, F-082).

    Parameters
    ----------
    x : ndarray, shape (d_in,)
        One token.
    m : int
        Its position.
    weight : ndarray, shape (2, d_in)
        W_q for f_q, W_k for f_k.
    theta : float
        Radians per position.

    Returns
    -------
    complex
        First component + i second component.
    """
    first, second = project(weight, x)
    return complex(complex(first, second) * np.exp(1j * (m * theta)))


def f_matrix(x: NDArray[Any], m: int, weight: NDArray[Any], theta: float) -> Vector:
    """((cos, -sin), (sin, cos)) W x for d = 2 (PROJ-1; F-079, F-085, F-086; E-38, E-39).

    Parameters as in `f_complex`.

    Returns
    -------
    ndarray of float64, shape (2,)
        A column.
    """
    return np.asarray(rotation_matrix_2d(m * theta) @ project(weight, x))


def f_row(x: NDArray[Any], m: int, weight: NDArray[Any], theta: float) -> Vector:
    """Multiply the row (W x)^T by R^T from the right, for d = 2 (PROJ-1; F-090; E-46).

    Parameters as in `f_complex`.

    Returns
    -------
    ndarray of float64, shape (1, 2)
        A row, with the entries of `f_matrix`.
    """
    row = project(weight, x)[np.newaxis, :]
    return np.asarray(row @ rotation_matrix_2d(m * theta).T)


def f_projected(q: NDArray[Any], m: int, *, interleaved: bool, base: float = 10000.0) -> Vector:
    """f(q_m, m) = R_m q_m of a vector already projected (PROJ-4; F-088; E-18).

    Parameters
    ----------
    q : ndarray, shape (d,)
        W x; d even.
    m : int
        Its position.
    interleaved, base
        As in `project_query`.

    Returns
    -------
    ndarray of float64, shape (d,)
        By the dense matrix.
    """
    R = rotation_matrix(m, q.shape[-1], interleaved=interleaved, base=base)
    return np.asarray(R @ as_float64(q))


def f_dense(
    x: NDArray[Any], m: int, weight: NDArray[Any], *, interleaved: bool, base: float = 10000.0
) -> Vector:
    """R_m (W x): the projected vector is rotated (PROJ-1, PROJ-4; F-087).

    Parameters
    ----------
    x : ndarray, shape (d_in,)
        One token.
    m : int
        Its position.
    weight : ndarray, shape (d, d_in)
        d even.
    interleaved, base
        As in `project_query`.

    Returns
    -------
    ndarray of float64, shape (d,)
        By the dense matrix.
    """
    return f_projected(project(weight, x), m, interleaved=interleaved, base=base)


def f_folded(
    x: NDArray[Any], m: int, weight: NDArray[Any], *, interleaved: bool, base: float = 10000.0
) -> Vector:
    """(R_m W) x: the weight is rotated (PROJ-4; F-088).

    Parameters and result as in `f_dense`.
    """
    R = rotation_matrix(m, weight.shape[0], interleaved=interleaved, base=base)
    return np.asarray((R @ as_float64(weight)) @ as_float64(x))


def f_v(x: NDArray[Any], n: int, weight: NDArray[Any]) -> Vector:
    """W_v x_n, whatever n is (PROJ-2; F-080; E-08, E-38).

    Parameters
    ----------
    x : ndarray, shape (d_in,)
        One token.
    n : int
        Its position, which is read and not used.
    weight : ndarray, shape (e, d_in)
        W_v.

    Returns
    -------
    ndarray of float64, shape (e,)
        The value.
    """
    as_positions(n, "n")
    return project(weight, x)


def score_of_tokens(  # two sides, each with token, position and weight
    x_m: NDArray[Any],
    x_n: NDArray[Any],
    m: int,
    n: int,
    *,
    weight_q: NDArray[Any],
    weight_k: NDArray[Any],
    interleaved: bool,
    base: float = 10000.0,
) -> float:
    """<f_q(x_m, m), f_k(x_n, n)>: absolute positions in, a relative result out (PROJ-5; F-091).

    Parameters
    ----------
    x_m, x_n : ndarray, shape (d_in,)
        The token that asks and the one that is asked.
    m, n : int
        Their positions.
    weight_q, weight_k : ndarray, shape (d, d_in)
        d even.
    interleaved, base
        As in `project_query`.

    Returns
    -------
    float
        Not scaled; a function of the tokens and of n - m (F-161, F-023; E-02, E-71).
    """
    q = f_dense(x_m, m, weight_q, interleaved=interleaved, base=base)
    k = f_dense(x_n, n, weight_k, interleaved=interleaved, base=base)
    return float(q @ k)
