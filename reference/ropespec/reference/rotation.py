"""The rotation R_m x in its dense, sparse, complex and row forms (chapter `rotation`).

x is (..., S, H, D) and positions are (S,) or (..., S); `interleaved` says which components pair up.
"""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import (
    Floats,
    Integers,
    as_float64,
    as_positions,
    check_floats,
    round_to,
)
from ropespec.reference.complex_plane import euler, from_complex, to_complex
from ropespec.reference.frequencies import (
    angles,
    cos_sin,
    duplicate_half,
    duplicate_interleaved,
    inv_freq,
)
from ropespec.reference.rotation_dense import dense_half, dense_zero_based, permutation
from ropespec.spec.arguments import (
    check_base,
    check_dim,
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    check_tables,
    facts,
)

__all__ = [
    "apply_rotary",
    "apply_rotary_complex",
    "apply_rotary_cos_sin",
    "apply_rotary_dense",
    "half_to_interleaved",
    "interleaved_to_half",
    "rotate_half_half",
    "rotate_half_interleaved",
    "rotate_rows",
    "rotation_matrix",
    "row_scores",
]

_T = TypeVar("_T", bound=np.generic)


def rotation_matrix(
    positions: ArrayLike, dim: int, *, interleaved: bool, base: float = 10000.0
) -> NDArray[np.float64]:
    """R_m for every position m, as a dense matrix (ROT-3, ROT-4; F-126, F-137).

    It is orthogonal with determinant 1 (ROT-11), its transpose is R_{-m} (ROT-12), and
    R_a R_b = R_{a+b} (ROT-13; F-155, F-159).

    Parameters
    ----------
    positions : array_like of int
        Any shape; either sign.
    dim : int
        Even, at least 2.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + dim/2) if False.
    base : float
        Above 1.

    Returns
    -------
    ndarray of float64, shape positions.shape + (dim, dim)
        To be applied to columns.

    Raises
    ------
    ArgumentTypeError
        If `positions` or `dim` are not integers, `interleaved` not a bool, `base` not a number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    m = as_positions(positions)
    dim, interleaved, base = (
        check_dim(dim),
        check_flag("interleaved", interleaved),
        check_base(base),
    )
    dense = dense_zero_based if interleaved else dense_half
    R = np.empty((*m.shape, dim, dim))
    for index in np.ndindex(m.shape):
        R[index] = dense(int(m[index]), dim, base)
    return R


def rotate_half_interleaved(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """(-x_1, x_0, -x_3, x_2, ...): every pair rotated by a quarter turn (ROT-6; F-146).

    Parameters
    ----------
    x : ndarray of float64, shape (..., d)
        d even.

    Returns
    -------
    ndarray of float64, shape (..., d)
        A new array.
    """
    y = np.empty_like(x)
    y[..., 0::2] = -x[..., 1::2]
    y[..., 1::2] = x[..., 0::2]
    return y


def rotate_half_half(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """(-x_{d/2}, ..., -x_{d-1}, x_0, ..., x_{d/2-1}): the same for half-split (ROT-7; F-147).

    Parameters
    ----------
    x : ndarray of float64, shape (..., d)
        d even.

    Returns
    -------
    ndarray of float64, shape (..., d)
        A new array.
    """
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


def apply_rotary(
    x: Floats,
    positions: ArrayLike,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Floats:
    """R_m x = x * cos + rotate_half(x) * sin, element by element: the operation (ROT-6, ROT-7).

    Sources: F-139, F-140, F-141, F-142, F-143, F-144. Each angle stands in the tables twice, once
    for each component of its pair; the products are element-wise (F-145), and none of them is with
    a zero of the dense matrix (F-148). It is a sum of two products (E-09) and equals R x (E-20),
    with the position of x for label (E-13) and a form of its own for each layout (E-17).

    Parameters
    ----------
    x : ndarray of float, shape (..., S, H, D)
        Queries or keys: float16, bfloat16, float32 or float64; read only.
    positions : array_like of int, shape (S,) or (..., S)
        Position of every token; either sign; leading axes broadcast.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + rotary_dim/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        The first `rotary_dim` components are rotated, the rest passes through bit for bit; D by
        default.

    Returns
    -------
    ndarray, shape and dtype of `x`
        A new array: float64 arithmetic, rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of NumPy, positions are no integers, `interleaved` is no bool, or
        `base` or `rotary_dim` is no number.
    ArgumentValueError
        If `x` has fewer than 3 axes, `base` is not finite or not above 1, `rotary_dim` is odd,
        below 2 or above D, or the positions do not fit `x`.

    Notes
    -----
    Laws: ROT-10 (F-158), ROT-11 (F-153), ROT-14, ROT-15, ROT-16, ROT-19. What a caller may rely on:
    ROT-17, ROT-18, ROT-20, ROT-21, ROT-23, ROT-24; shards, packs and caches: PAR-1, PAR-2, PAR-3,
    PAR-4, PAR-5, PAR-6. It is one of the sources that judge others (JDG-1), by the bounds of JDG-3.
    """
    call = _read(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    cos, sin = cos_sin(call.positions, call.rotary_dim, call.base)
    return _sparse(x, cos, sin, interleaved=interleaved)


def apply_rotary_cos_sin(x: Floats, cos: Floats, sin: Floats, *, interleaved: bool) -> Floats:
    """R_m x with cos(m theta_i) and sin(m theta_i) given as tables (ROT-22).

    The tables are taken as they are: scaled ones scale the result (a common attention factor).
    The result is always a new array; there is no `out` (ROT-23).

    Parameters
    ----------
    x : ndarray of float, shape (..., S, H, D)
        Queries or keys; read only.
    cos, sin : ndarray of float, shape (S, r/2) or (..., S, r/2)
        One row a token, one column a pair; one dtype; leading axes broadcast.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.

    Returns
    -------
    ndarray, shape and dtype of `x`
        A new array: float64 arithmetic, rounded once at the end; components from r on pass
        through bit for bit.

    Raises
    ------
    ArgumentTypeError
        If `x` or a table is no float array of NumPy, the dtypes of the tables differ, or
        `interleaved` is no bool.
    ArgumentValueError
        If `x` has fewer than 3 axes, the shapes of the tables differ, they do not fit `x`, or r
        is below 2 or above D.
    """
    check_floats("x", x, ndim=3)
    check_floats("cos", cos, ndim=1)
    check_floats("sin", sin, ndim=1)
    interleaved = check_flag("interleaved", interleaved)
    check_tables(cos, sin, facts(x))
    return _sparse(x, as_float64(cos), as_float64(sin), interleaved=interleaved)


def _sparse(
    x: Floats, cos: NDArray[np.float64], sin: NDArray[np.float64], *, interleaved: bool
) -> Floats:
    """x cos + rotate_half(x) sin, with every table entry written twice (ROT-6, ROT-7)."""
    duplicate = duplicate_interleaved if interleaved else duplicate_half
    rotate_half = rotate_half_interleaved if interleaved else rotate_half_half
    cos, sin = _over_heads(duplicate(cos)), _over_heads(duplicate(sin))
    turned = as_float64(x[..., : cos.shape[-1]])
    with np.errstate(invalid="ignore"):  # infinity times zero is the pair's own business (ROT-16)
        return _with_tail(turned * cos + rotate_half(turned) * sin, x)


def apply_rotary_dense(
    x: Floats,
    positions: ArrayLike,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Floats:
    """R_m x, the plain product with the dense matrix (ROT-3, ROT-4; F-089, F-126, F-137).

    x is finite: 0 * NaN is NaN, so one component that is not finite may reach every component of
    its head that rotates (ROT-16); other tokens, other heads and the tail never see it (ROT-14).
    Empty axes give empty results (ROT-18).
    Parameters, result and errors as in `apply_rotary`.
    """
    call = _read(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    rotated = as_float64(x[..., : call.rotary_dim])
    m = np.broadcast_to(call.positions, x.shape[:-2])
    for token in np.ndindex(m.shape):
        R = rotation_matrix(m[token], call.rotary_dim, interleaved=interleaved, base=call.base)
        for head in range(x.shape[-2]):
            with np.errstate(invalid="ignore"):
                rotated[(*token, head)] = R @ rotated[(*token, head)]
    return _with_tail(rotated, x)


def apply_rotary_complex(
    x: Floats, positions: ArrayLike, *, base: float = 10000.0, rotary_dim: int | None = None
) -> Floats:
    """Each pair (x_2i, x_2i+1), read as a complex number, times e^{i m theta_i} (ROT-8; F-064).

    Queries and keys alike (F-065), in the interleaved layout. The tail (ROT-14), NaN (ROT-16) and
    empty axes (ROT-18) are treated as in `apply_rotary`.
    Parameters, result and errors as in `apply_rotary`.
    """
    call = _read(x, positions, interleaved=True, base=base, rotary_dim=rotary_dim)
    turns = euler(angles(call.positions, inv_freq(call.rotary_dim, call.base)))
    z = to_complex(as_float64(x[..., : call.rotary_dim]))
    with np.errstate(invalid="ignore"):
        return _with_tail(from_complex(z * _over_heads(turns)), x)


def interleaved_to_half(x: Floats) -> Floats:
    """P x: components (0, 2, ..., d-2, 1, 3, ..., d-1) of the last axis (ROT-5; F-138; E-66).

    Parameters
    ----------
    x : ndarray of float, shape (..., d)
        d even, at least 2.

    Returns
    -------
    ndarray, shape and dtype of `x`
        A new array; every component bit for bit.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of NumPy.
    ArgumentValueError
        If `x` has no axis, or an odd or zero number of components.
    """
    check_floats("x", x, ndim=1)
    return x[..., permutation(check_dim(x.shape[-1], "head_dim"))]


def half_to_interleaved(x: Floats) -> Floats:
    """P^T x, which undoes `interleaved_to_half` (ROT-5; F-138; E-66).

    Parameters, result and errors as in `interleaved_to_half`.
    """
    check_floats("x", x, ndim=1)
    y = np.empty_like(x)
    y[..., permutation(check_dim(x.shape[-1], "head_dim"))] = x
    return y


def rotate_rows(
    Q: Floats, positions: ArrayLike, *, interleaved: bool, base: float = 10000.0
) -> Floats:
    """Multiply row j by its own R^T: f(Q)_j = Q_j R_{p_j}^T (ROT-9; F-150, F-151; E-14, E-15).

    Parameters
    ----------
    Q : ndarray of float, shape (S, d)
        One row a position; finite, since this is the plain matrix product.
    positions : array_like of int, shape (S,)
        p_j.
    interleaved, base
        As in `apply_rotary`.

    Returns
    -------
    ndarray, shape and dtype of `Q`
        A new array: float64 arithmetic, rounded once at the end.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `rotation_matrix` does, and if the positions do not fit the rows.
    """
    check_floats("Q", Q, ndim=2)
    p = as_positions(positions)
    R = rotation_matrix(p, Q.shape[-1], interleaved=interleaved, base=base)
    check_positions_fit(facts(p), Q.shape[:-1])
    rows = as_float64(Q)
    for j in range(len(rows)):
        rows[j] = rows[j] @ R[j].T
    return round_to(rows, Q.dtype)


def row_scores(  # a score has two sides, each with rows and positions
    Q: Floats,
    K: Floats,
    *,
    query_positions: ArrayLike,
    key_positions: ArrayLike,
    interleaved: bool,
    base: float = 10000.0,
) -> NDArray[np.float64]:
    """f(Q) f(K)^T: entry [m, n] is q_m^T R_{n-m} k_n (ROT-9; F-152).

    Parameters
    ----------
    Q, K : ndarray of float, shapes (S, d) and (T, d)
        Rows at positions.
    query_positions, key_positions : array_like of int, shapes (S,) and (T,)
        Each side has its own (E-15).
    interleaved, base
        As in `apply_rotary`.

    Returns
    -------
    ndarray of float64, shape (S, T)
        Not scaled.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `rotate_rows` does.
    """
    check_floats("Q", Q, ndim=2)
    check_floats("K", K, ndim=2)
    q = rotate_rows(as_float64(Q), query_positions, interleaved=interleaved, base=base)
    k = rotate_rows(as_float64(K), key_positions, interleaved=interleaved, base=base)
    return np.asarray(q @ k.T, dtype=np.float64)


class _Call(NamedTuple):
    """The checked arguments of one rotation."""

    positions: Integers
    base: float
    rotary_dim: int


def _read(
    x: Floats, positions: ArrayLike, *, interleaved: bool, base: float, rotary_dim: int | None
) -> _Call:
    check_floats("x", x, ndim=3)
    m = as_positions(positions)
    check_flag("interleaved", interleaved)
    base = check_base(base)
    dim = check_rotary_dim(rotary_dim, x.shape[-1])
    check_positions_fit(facts(m), x.shape[:-2])
    return _Call(m, base, dim)


def _over_heads(table: NDArray[_T]) -> NDArray[_T]:
    # all heads of a token share its angles
    return table[..., np.newaxis, :]


def _with_tail(turned: NDArray[np.float64], x: Floats) -> Floats:
    out = np.array(x)  # a copy: the components from rotary_dim on stay bit for bit
    out[..., : turned.shape[-1]] = round_to(turned, x.dtype)
    return out
