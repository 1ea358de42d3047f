"""Attention with rotated queries and keys (chapter `attention`).

softmax(Q K^T / sqrt(D)) V, where the rows of Q and K are rotated by their positions and V is not.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, as_float64, as_positions, check_floats, round_to
from ropespec.reference.rotation import apply_rotary
from ropespec.spec.arguments import (
    check_array_type,
    check_attention,
    check_base,
    check_flag,
    check_mask,
    check_positions_fit,
    check_rotary_dim,
    facts,
)

__all__ = ["attention", "attention_plain", "scaled_scores", "softmax"]

Mask = NDArray[np.bool_]
"""True where a query may attend."""


def attention(  # three inputs and a position for each side, as the API has it
    q: Floats,
    k: Floats,
    v: Floats,
    *,
    query_positions: ArrayLike,
    key_positions: ArrayLike,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    mask: Mask | None = None,
) -> tuple[Floats, Floats]:
    """softmax((R Q)(R K)^T / sqrt(D)) V, with V not rotated.

    Clauses ATT-1, ATT-2, ATT-3, ATT-4, ATT-5; F-149, F-183, F-184, F-185, F-186; E-08, E-65.

    Parameters
    ----------
    q : ndarray of float, shape (..., S, H, D)
        Queries.
    k : ndarray, shape (..., T, G, D)
        Keys; H is a multiple of G, and query head h attends with key head h // (H/G).
    v : ndarray, shape (..., T, G, E)
        Values; E may be odd.
    query_positions : array_like of int, shape (S,) or (..., S)
        Either sign.
    key_positions : array_like of int, shape (T,) or (..., T)
        Either sign.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        r: the first r components of each head rotate (ROT-14); D by default. The scale stays
        sqrt(D).
    mask : ndarray of bool or None
        Broadcasts to (..., H, S, T); True = may attend. None allows everything.

    Returns
    -------
    output : ndarray, shape (..., S, H, E), dtype of `q`
        Zero in a row that may attend nowhere.
    weights : ndarray, shape (..., H, S, T), dtype of `q`
        At least 0; a row sums to 1, or is zero if it may attend nowhere.
        Both are float64 arithmetic, rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If `q`, `k` or `v` is no float array of NumPy, their dtypes differ, positions are no
        integers, `interleaved` is no bool, `base` or `rotary_dim` is no number, or `mask` is no
        bool array.
    ArgumentValueError
        If shapes, numbers of heads, positions or mask do not fit, `rotary_dim` is odd, below 2 or
        above D, or `base` is not finite or not above 1.
    """
    for name, array in (("q", q), ("k", k), ("v", v)):
        check_floats(name, array, ndim=3)
    m = as_positions(query_positions, "query_positions")
    n = as_positions(key_positions, "key_positions")
    check_flag("interleaved", interleaved)
    base = check_base(base)
    if mask is not None:
        check_array_type("mask", mask, np.ndarray, "numpy.ndarray")
    check_attention(facts(q), facts(k), facts(v))
    dim = check_rotary_dim(rotary_dim, q.shape[-1])
    check_positions_fit(facts(m), q.shape[:-2], "query_positions")
    check_positions_fit(facts(n), k.shape[:-2], "key_positions")
    *batch, length, heads, _ = q.shape
    if mask is not None:
        check_mask(mask, (*batch, heads, length, k.shape[-3]))
    rotated_q, rotated_k = (
        apply_rotary(as_float64(x), at, interleaved=interleaved, base=base, rotary_dim=dim)
        for x, at in ((q, m), (k, n))
    )
    output, weights = attention_plain(
        _heads_first(rotated_q),
        _heads_first(_share_heads(rotated_k, heads)),
        _heads_first(_share_heads(as_float64(v), heads)),
        mask,
    )
    return round_to(_heads_first(output), q.dtype), round_to(weights, q.dtype)


def attention_plain(
    Q: NDArray[np.float64],
    K: NDArray[np.float64],
    V: NDArray[np.float64],
    mask: Mask | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """softmax(Q K^T / sqrt(d_k)) V without positions, blind to the order of tokens.

    Clauses ATT-1, ATT-5; F-183, F-222.

    Parameters
    ----------
    Q : ndarray of float64, shape (..., S, d_k)
        Rows of queries.
    K, V : ndarray of float64, shapes (..., T, d_k) and (..., T, d_v)
        Rows of keys and of values.
    mask : ndarray of bool or None
        Broadcasts to (..., S, T); True = may attend.

    Returns
    -------
    output : ndarray of float64, shape (..., S, d_v)
        Sums of the rows of V.
    weights : ndarray of float64, shape (..., S, T)
        Of each query for each key.
    """
    weights = softmax(scaled_scores(Q, K), mask)
    with np.errstate(invalid="ignore"):
        return np.asarray(weights @ V), weights


def scaled_scores(Q: NDArray[np.float64], K: NDArray[np.float64]) -> NDArray[np.float64]:
    """Q K^T / sqrt(d_k) (ATT-1; F-183).

    Parameters as in `attention_plain`.

    Returns
    -------
    ndarray of float64, shape (..., S, T)
        [m, n] belongs to query m and key n.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(Q @ np.swapaxes(K, -2, -1) / math.sqrt(Q.shape[-1]))


def softmax(scores: NDArray[np.float64], mask: Mask | None = None) -> NDArray[np.float64]:
    """e^s / sum e^s over the last axis, -inf standing where the mask is False.

    Clauses ATT-1, ATT-2; F-186; E-58, E-59.

    Parameters
    ----------
    scores : ndarray of float64, shape (..., T)
        Logits.
    mask : ndarray of bool or None
        Broadcasts to `scores`; True = may attend.

    Returns
    -------
    ndarray of float64, shape (..., T)
        At least 0; a row sums to 1, or is zero if nothing is allowed in it.
    """
    allowed = np.broadcast_to(np.True_ if mask is None else mask, scores.shape)
    logits = np.where(allowed, scores, -np.inf)
    highest = np.max(logits, axis=-1, keepdims=True, initial=-np.inf)
    # where nothing is allowed the highest is -inf, and -inf less -inf would be NaN
    highest = np.where(allowed.any(axis=-1, keepdims=True), highest, 0.0)
    with np.errstate(invalid="ignore"):
        powers = np.where(allowed, np.exp(logits - highest), 0.0)
    total = powers.sum(axis=-1, keepdims=True)
    return np.asarray(powers / np.where(total == 0.0, 1.0, total))


def _share_heads(x: NDArray[np.float64], heads: int) -> NDArray[np.float64]:
    groups = x.shape[-2]
    return np.repeat(x, heads // groups if groups else 1, axis=-2)


def _heads_first(x: Floats) -> Floats:
    """(..., S, H, D) to (..., H, S, D), and back."""
    return np.swapaxes(x, -3, -2)
