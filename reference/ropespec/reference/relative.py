"""The score of a query and a key as a function of n - m (chapter `relative`).

Here for d components; `relative_plane` has the printed forms of one pair.
`offset` is always n - m, the position of the key less that of the query.
"""

from typing import NamedTuple

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
from ropespec.reference.complex_plane import euler, to_complex
from ropespec.reference.frequencies import angles, cos_sin, inv_freq
from ropespec.reference.rotation import apply_rotary, half_to_interleaved, rotation_matrix
from ropespec.reference.rotation_dense import dense_with_tail
from ropespec.spec.arguments import (
    check_base,
    check_flag,
    check_offset,
    check_pair,
    check_rotary_dim,
    check_same_dtype,
    facts,
)

__all__ = [
    "complex_pairs",
    "relative_score",
    "score",
    "score_by_transpose",
    "score_complex",
    "score_pairs",
]


def relative_score(
    q: Floats,
    k: Floats,
    offset: ArrayLike,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Floats:
    """q^T R_{n-m} k with the dense matrix of the offset.

    Clauses REL-1, REL-5, REL-6, REL-7, REL-8, REL-9; F-093, F-122, F-136, F-157; E-04, E-31.

    Parameters
    ----------
    q, k : ndarray of float, shape (..., D)
        Vectors that are not rotated yet, finite, of one shape and dtype.
    offset : array_like of int
        n - m, of either sign; broadcasts against the leading axes of `q`.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        r: the first r components rotate, the others enter as a plain product; D by default.

    Returns
    -------
    ndarray, dtype of `q`
        The broadcast shape of `offset` and the leading axes: float64 arithmetic, rounded once.

    Raises
    ------
    ArgumentTypeError
        If `q` or `k` is no float array of NumPy, their dtypes differ, offsets are no integers,
        `interleaved` is no bool, or `base` or `rotary_dim` is no number.
    ArgumentValueError
        If `rotary_dim` is odd, below 2 or above D, `k` has another shape than `q`, the offsets do
        not broadcast, or `base` is not finite or not above 1.
    """
    call = _read(q, k, offset, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    shape = np.broadcast_shapes(call.offset.shape, q.shape[:-1])
    n_minus_m = np.broadcast_to(call.offset, shape)
    left, right = (np.broadcast_to(as_float64(x), (*shape, x.shape[-1])) for x in (q, k))
    scores = np.empty(shape)
    for one in np.unique(n_minus_m):
        R = rotation_matrix(one, call.rotary_dim, interleaved=interleaved, base=call.base)
        R = dense_with_tail(R, q.shape[-1])
        here = n_minus_m == one
        with np.errstate(invalid="ignore", over="ignore"):
            scores[here] = ((left[here] @ R) * right[here]).sum(axis=-1)
    return round_to(scores, q.dtype)


def score_pairs(
    q: Floats, k: Floats, offset: ArrayLike, *, interleaved: bool, base: float = 10000.0
) -> NDArray[np.float64]:
    """(q1 k1 + q2 k2) cos((m-n) theta_i) - (q2 k1 - q1 k2) sin((m-n) theta_i), per pair.

    Clause REL-9; F-136.

    Parameters and errors as in `relative_score`.

    Returns
    -------
    ndarray of float64, shape (..., D/2)
        One score a pair, not rounded.
    """
    call = _read(q, k, offset, interleaved=interleaved, base=base)
    cos, sin = cos_sin(call.offset, q.shape[-1], call.base)  # of n - m: the sine changes its sign
    (q1, q2), (k1, k2) = _components(q, interleaved), _components(k, interleaved)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray((q1 * k1 + q2 * k2) * cos + (q2 * k1 - q1 * k2) * sin)


def score_complex(
    q: Floats, k: Floats, offset: ArrayLike, *, interleaved: bool, base: float = 10000.0
) -> NDArray[np.float64]:
    """Sum Re[q_i k_i* e^{i(m-n) theta_i}] over the pairs (REL-2, REL-9; F-094, F-104).

    Parameters and errors as in `relative_score`.

    Returns
    -------
    ndarray of float64
        The shape of `relative_score`, not rounded.
    """
    call = _read(q, k, offset, interleaved=interleaved, base=base)
    factors = euler(-angles(call.offset, inv_freq(q.shape[-1], call.base)))
    h = complex_pairs(q, interleaved=interleaved) * complex_pairs(k, interleaved=interleaved).conj()
    return np.asarray((h * factors).real.sum(axis=-1))


def score_by_transpose(  # a score has two sides, each with vector and position
    q: Floats, k: Floats, m: int, n: int, *, interleaved: bool, base: float = 10000.0
) -> float:
    """q^T R_m^T R_n k with dense matrices, q and k of shape (D,) (REL-5; F-114, F-156).

    Parameters
    ----------
    q, k : ndarray of float, shape (D,)
        Vectors that are not rotated yet.
    m, n : int
        Their positions.
    interleaved, base
        As in `relative_score`.

    Returns
    -------
    float
        The score.
    """
    R_m, R_n = rotation_matrix([m, n], q.shape[-1], interleaved=interleaved, base=base)
    return float(as_float64(q) @ (R_m.T @ R_n) @ as_float64(k))


def score(  # a score has two sides, each with vector and position
    q: Floats, k: Floats, m: int, n: int, *, interleaved: bool, base: float = 10000.0
) -> float:
    """<R_m q, R_n k>: rotate each by its own position, then multiply (REL-1, REL-8).

    F-092, F-099, F-124; E-31, E-65.

    Parameters and result as in `score_by_transpose`.
    """
    left, right = (
        apply_rotary(as_float64(x)[np.newaxis, np.newaxis], [p], interleaved=interleaved, base=base)
        for x, p in ((q, m), (k, n))
    )
    return float((left * right).sum())


def complex_pairs(x: Floats, *, interleaved: bool) -> NDArray[np.complex128]:
    """Read the pairs of either layout as complex numbers (REL-2; F-094).

    Parameters
    ----------
    x : ndarray of float, shape (..., D)
        D even.
    interleaved : bool
        As in `relative_score`.

    Returns
    -------
    ndarray of complex128, shape (..., D/2)
        First component + i second component of pair i.
    """
    wide = as_float64(x)
    return to_complex(wide if interleaved else half_to_interleaved(wide)).astype(np.complex128)


class _Call(NamedTuple):
    """The checked arguments of a score."""

    offset: Integers
    base: float
    rotary_dim: int


def _read(
    q: Floats,
    k: Floats,
    offset: ArrayLike,
    *,
    interleaved: bool,
    base: float,
    rotary_dim: int | None = None,
) -> _Call:
    check_floats("q", q, ndim=1)
    check_floats("k", k, ndim=1)
    n_minus_m = as_positions(offset, "offset")
    check_flag("interleaved", interleaved)
    base = check_base(base)
    dim = check_rotary_dim(rotary_dim, q.shape[-1])
    check_same_dtype("k", facts(k), "q", facts(q))
    check_pair("k", facts(k), "q", facts(q))
    check_offset(facts(n_minus_m), q.shape[:-1])
    return _Call(n_minus_m, base, dim)


def _components(x: Floats, interleaved: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    wide, half = as_float64(x), x.shape[-1] // 2
    if interleaved:
        return wide[..., 0::2], wide[..., 1::2]
    return wide[..., :half], wide[..., half:]
