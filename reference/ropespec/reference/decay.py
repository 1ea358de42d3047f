"""The Abel bound, the decay curve, and the curves that show what is not true (chapter `decay`).

`offset` is n - m as everywhere; every bound here is the same for both of its signs.
"""

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, as_positions
from ropespec.reference.complex_plane import euler
from ropespec.reference.frequencies import angles, inv_freq
from ropespec.reference.relative import complex_pairs, relative_score

__all__ = [
    "abel_bound",
    "abel_sum",
    "cosine_sum",
    "decay_bound",
    "decay_curve",
    "pair_products",
    "partial_sums",
    "trace",
    "trivial_bound",
    "window_means",
]


def decay_bound(offsets: ArrayLike, dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """B(offset) = mean of |S_j| over j = 1..dim/2 (DEC-2, DEC-3; F-205).

    Parameters
    ----------
    offsets : array_like of int
        Any shape; either sign.
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    ndarray of float64, shape of `offsets`
        At most (dim/2 + 1)/2, which is the value at 0.

    Raises
    ------
    ArgumentTypeError
        If `offsets` or `dim` are not integers, or `base` is no number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    return np.asarray(np.abs(partial_sums(offsets, dim, base)).mean(axis=-1))


def partial_sums(offsets: ArrayLike, dim: int, base: float = 10000.0) -> NDArray[np.complex128]:
    """S_j = sum of e^{i(m-n) theta_i} over i < j, for j = 1..dim/2 (DEC-1, DEC-2; F-204).

    Parameters and errors as in `decay_bound`.

    Returns
    -------
    ndarray of complex128, shape offsets.shape + (dim/2,)
        S_1, ..., S_{dim/2}; S_0 = 0 is not listed.
    """
    n_minus_m = as_positions(offsets, "offsets")
    factors = euler(-angles(n_minus_m, inv_freq(dim, base)))
    return np.asarray(np.cumsum(factors, axis=-1))


def pair_products(q: Floats, k: Floats, *, interleaved: bool) -> NDArray[np.complex128]:
    """h_i = q_i k_i*, i = 0..D/2-1 (DEC-1; F-204).

    Parameters
    ----------
    q, k : ndarray of float, shape (..., D)
        D even.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + D/2) if False.

    Returns
    -------
    ndarray of complex128, shape (..., D/2)
        h_{D/2} = 0 is not listed.
    """
    left, right = (
        complex_pairs(q, interleaved=interleaved),
        complex_pairs(k, interleaved=interleaved),
    )
    return np.asarray(left * right.conj())


def abel_sum(
    q: Floats, k: Floats, offset: ArrayLike, *, interleaved: bool, base: float = 10000.0
) -> NDArray[np.complex128]:
    """Sum h_i e^{i(m-n) theta_i} by parts, as -(sum of S_j (h_j - h_{j-1})).

    Clauses DEC-1, DEC-3; F-204.

    Parameters and errors as in `ropespec.reference.relative.relative_score`.

    Returns
    -------
    ndarray of complex128
        The broadcast shape; the real part is the score.
    """
    relative_score(q, k, offset, interleaved=interleaved, base=base)  # refuses what does not fit
    steps = _steps(pair_products(q, k, interleaved=interleaved))
    return np.asarray(-(partial_sums(offset, q.shape[-1], base) * steps).sum(axis=-1))


def abel_bound(
    q: Floats, k: Floats, offset: ArrayLike, *, interleaved: bool, base: float = 10000.0
) -> NDArray[np.float64]:
    """max_i |h_{i+1} - h_i| times the sum of |S_j|: no score is larger (DEC-1, DEC-3; F-204).

    Parameters and errors as in `ropespec.reference.relative.relative_score`.

    Returns
    -------
    ndarray of float64
        The broadcast shape of `offset` and the leading axes of `q`.
    """
    relative_score(q, k, offset, interleaved=interleaved, base=base)  # refuses what does not fit
    largest = np.abs(_steps(pair_products(q, k, interleaved=interleaved))).max(axis=-1)
    return np.asarray(largest * np.abs(partial_sums(offset, q.shape[-1], base)).sum(axis=-1))


def trivial_bound(q: Floats, k: Floats, *, interleaved: bool) -> NDArray[np.float64]:
    """Sum of |h_i|: the score at any offset is not larger (DEC-1, DEC-3).

    Parameters as in `pair_products`.

    Returns
    -------
    ndarray of float64, the leading axes of `q`
        Mostly far below `abel_bound`.
    """
    return np.asarray(np.abs(pair_products(q, k, interleaved=interleaved)).sum(axis=-1))


def decay_curve(
    max_seq_len: int, dim: int, base: float = 10000.0, *, q: Floats | None = None
) -> NDArray[np.float64]:
    """C(D) = <q, R_D k> with q at 0 and k = q at D = 0..max_seq_len.

    Clauses DEC-2, DEC-3; F-201, F-202; E-25.

    Parameters
    ----------
    max_seq_len : int
        The last distance.
    dim, base
        As in `decay_bound`.
    q : ndarray of float, shape (dim,), or None
        The one vector of both sides, interleaved; None stands for all components equal to one.

    Returns
    -------
    ndarray of float64, shape (max_seq_len + 1,)
        Scores, which oscillate; rounded to the dtype of `q` before.
    """
    vector = np.ones(dim) if q is None else q
    distances = np.arange(max_seq_len + 1)
    curve = relative_score(vector, vector, distances, interleaved=True, base=base)
    return np.asarray(curve, dtype=np.float64)


def cosine_sum(offsets: ArrayLike, dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """Sum of cos(offset theta_i): half of C for all components one (DEC-2, DEC-3; F-202).

    Parameters and errors as in `decay_bound`.

    Returns
    -------
    ndarray of float64, shape of `offsets`
        dim/2 at 0, negative now and then.
    """
    return np.asarray(
        np.cos(angles(as_positions(offsets, "offsets"), inv_freq(dim, base))).sum(axis=-1)
    )


def trace(offsets: ArrayLike, dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """Trace of R_offset, 2 sum of cos(offset theta_i): mean score of q = k normal.

    Clause DEC-3; F-203; E-29.

    Parameters, result and errors as in `cosine_sum`.
    """
    return 2.0 * cosine_sum(offsets, dim, base)


def window_means(curve: NDArray[np.float64], edges: tuple[int, ...]) -> NDArray[np.float64]:
    """Average a curve over [edges[0], edges[1]), [edges[1], edges[2]), ... (DEC-2; P-44).

    Parameters
    ----------
    curve : ndarray of float64, one axis
        Values at the distances 0, 1, 2, ...
    edges : tuple of int
        Rising, at most the length of the curve.

    Returns
    -------
    ndarray of float64, shape (len(edges) - 1,)
        One mean a window.
    """
    return np.array([curve[low:high].mean() for low, high in itertools.pairwise(edges)])


def _steps(h: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """h_j - h_{j-1} for j = 1..D/2, with h_{D/2} = 0."""
    end = np.zeros((*h.shape[:-1], 1), dtype=np.complex128)
    return np.diff(np.concatenate([h, end], axis=-1), axis=-1)
