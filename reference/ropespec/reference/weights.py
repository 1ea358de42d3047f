"""Weights, caches and adapters moved from interleaved to half-split pairs (chapter `weights`).

W_q and W_k have shape (heads * D, d_in): the rows of head h are h * D to (h + 1) * D - 1. What has
one entry or one row per component (biases, scales, weights of a norm, B of LoRA) moves as they do.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, as_float64, check_floats
from ropespec.reference.rotation import apply_rotary
from ropespec.reference.rotation_dense import permutation
from ropespec.spec.arguments import check_rotary_dim, check_size
from ropespec.spec.errors import ArgumentValueError

__all__ = [
    "FusedRows",
    "Order",
    "component_order",
    "fused_rows",
    "fused_to_half",
    "keys_to_half",
    "rms_norm",
    "rotated_scores",
    "rows_to_half",
    "rows_to_interleaved",
]

Order = Literal["stacked", "per head", "per group"]
"""How the rows of q, k and v lie in one fused weight."""


class FusedRows(NamedTuple):
    """Row numbers in a fused weight.

    Attributes
    ----------
    q : ndarray of int64, shape (H, D)
        The row of component j of query head h.
    k, v : ndarray of int64, shape (G, D)
        The same of the key heads and of the value heads.
    """

    q: NDArray[np.int64]
    k: NDArray[np.int64]
    v: NDArray[np.int64]


def component_order(head_dim: int, rotary_dim: int | None = None) -> NDArray[np.int64]:
    """List the interleaved component that stands at each half-split place (WGT-1, WGT-4).

    (0, 2, ..., r-2, 1, 3, ..., r-1, r, r+1, ..., D-1): P on the first r, the tail as it is.

    Parameters
    ----------
    head_dim : int
        D.
    rotary_dim : int or None
        r, even and at most D; None for all of D.

    Returns
    -------
    ndarray of int64, shape (head_dim,)
        A permutation.

    Raises
    ------
    ArgumentTypeError
        If a dimension is no integer.
    ArgumentValueError
        If r is odd, below 2 or above D, or D is odd without `rotary_dim`.
    """
    r = check_rotary_dim(rotary_dim, head_dim)
    return np.concatenate([permutation(r), np.arange(r, head_dim)])


def rows_to_half(weight: Floats, heads: int, *, rotary_dim: int | None = None) -> Floats:
    """P W in each head: row j of a head is its old row `component_order[j]` (WGT-1, WGT-2, WGT-4).

    Parameters
    ----------
    weight : ndarray of float, shape (heads * D, ...)
        W_q, with the number of query heads; W_k, with that of key heads (WGT-3). A bias, a scale
        per row (WGT-8), the weight of a norm (WGT-5), or B of LoRA (WGT-7).
    heads : int
        How many heads its rows make; 1 for what all heads share.
    rotary_dim : int or None
        r, where only the first r components of a head are rotated.

    Returns
    -------
    ndarray, shape and dtype of `weight`
        A new array; every entry bit for bit.

    Raises
    ------
    ArgumentTypeError
        If `weight` is no float array of NumPy.
    ArgumentValueError
        If `heads` does not divide the rows; for `rotary_dim` as in `component_order`.
    """
    split = _split_heads(weight, heads)
    moved = split[:, component_order(split.shape[1], rotary_dim)]
    return moved.reshape(weight.shape)


def rows_to_interleaved(weight: Floats, heads: int, *, rotary_dim: int | None = None) -> Floats:
    """P^T W in each head, which undoes `rows_to_half` (WGT-1).

    Parameters, result and errors as in `rows_to_half`.
    """
    split = _split_heads(weight, heads)
    moved = np.empty_like(split)
    moved[:, component_order(split.shape[1], rotary_dim)] = split
    return moved.reshape(weight.shape)


def fused_rows(order: Order, heads: int, key_heads: int, head_dim: int) -> FusedRows:
    """Say where the rows of q, k and v lie in a fused weight (WGT-6).

    Parameters
    ----------
    order : {"stacked", "per head", "per group"}
        All of q, all of k, all of v; or q, k, v of one head after the other, which needs G = H; or
        the H/G query heads of a group, its key head and its value head, group after group.
    heads, key_heads : int
        H and G; H is a multiple of G.
    head_dim : int
        D.

    Returns
    -------
    FusedRows
        The three tables; together they hold every row from 0 to (H + 2G) D - 1 once.

    Raises
    ------
    ArgumentTypeError
        If `head_dim` is no integer.
    ArgumentValueError
        If it is below 1, `order` is none of the three, or the heads do not fit it.
    """
    if check_size("head_dim", head_dim) < 1:
        raise ArgumentValueError("head_dim", "at least 1", head_dim)
    if key_heads < 1 or heads % key_heads:
        raise ArgumentValueError("key_heads", f"a divisor of heads, {heads}", key_heads)
    blocks = np.arange((heads + 2 * key_heads) * head_dim).reshape(-1, head_dim)
    if order == "stacked":
        q, k, v = np.split(blocks, [heads, heads + key_heads])
        return FusedRows(q, k, v)
    if order == "per head" and key_heads != heads:
        raise ArgumentValueError("key_heads", f"{heads} if the order is per head", key_heads)
    if order not in {"per head", "per group"}:
        raise ArgumentValueError("order", "stacked, per head or per group", order)
    groups = blocks.reshape(key_heads, heads // key_heads + 2, head_dim)
    return FusedRows(groups[:, :-2].reshape(-1, head_dim), groups[:, -2], groups[:, -1])


def fused_to_half(  # a fused weight has an order and three sizes
    weight: Floats,
    order: Order,
    *,
    heads: int,
    key_heads: int,
    head_dim: int,
    rotary_dim: int | None = None,
) -> Floats:
    """Permute the rows of q and k in a fused weight, and leave those of v (WGT-6).

    Parameters
    ----------
    weight : ndarray of float, shape ((H + 2G) * D, ...)
        A fused weight, or its bias.
    order, heads, key_heads, head_dim
        As in `fused_rows`, errors too.
    rotary_dim : int or None
        As in `rows_to_half`.

    Returns
    -------
    ndarray, shape and dtype of `weight`
        A new array.

    Raises
    ------
    ArgumentTypeError
        If `weight` is no float array of NumPy.
    ArgumentValueError
        If `weight` has not (H + 2G) * D rows.
    """
    check_floats("weight", weight, ndim=1)
    rows = fused_rows(order, heads, key_heads, head_dim)
    if len(weight) != (heads + 2 * key_heads) * head_dim:
        must = f"of {(heads + 2 * key_heads) * head_dim} rows, (heads + 2 key_heads) head_dim"
        raise ArgumentValueError("weight", must, weight)
    moved = weight.copy()
    for part in (rows.q, rows.k):
        moved[part] = weight[part[:, component_order(head_dim, rotary_dim)]]
    return moved


def keys_to_half(keys: Floats, *, rotary_dim: int | None = None) -> Floats:
    """P k~ for rotated keys: components of the last axis, whatever their positions (WGT-9).

    Parameters
    ----------
    keys : ndarray of float, shape (..., D)
        Keys rotated as interleaved pairs, as they lie in a cache.
    rotary_dim : int or None
        r, where only the first r components were rotated.

    Returns
    -------
    ndarray, shape and dtype of `keys`
        What rotating the permuted keys as half-split pairs would give.

    Raises
    ------
    ArgumentTypeError
        If `keys` is no float array of NumPy.
    ArgumentValueError
        As in `component_order`.
    """
    check_floats("keys", keys, ndim=1)
    return keys[..., component_order(keys.shape[-1], rotary_dim)]


def rms_norm(x: Floats, weight: Floats, epsilon: float = 1e-6) -> NDArray[np.float64]:
    """Weight times x / sqrt(mean(x^2) + epsilon), over the last axis (WGT-5).

    Parameters
    ----------
    x : ndarray of float, shape (..., N)
        N is D for a norm of each head, heads * D for a norm across the heads.
    weight : ndarray of float, shape (N,)
        One factor per component.
    epsilon : float
        Added to the mean square.

    Returns
    -------
    ndarray of float64, shape of `x`
        The normalised vectors.
    """
    wide = as_float64(x)
    mean_square = np.mean(wide**2, axis=-1, keepdims=True)
    scaled: NDArray[np.float64] = as_float64(weight) * wide / np.sqrt(mean_square + epsilon)
    return scaled


def rotated_scores(  # two sides with heads of their own, and the conventions of the rotation
    q: Floats,
    k: Floats,
    positions: ArrayLike,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> NDArray[np.float64]:
    """Take the scores of every head, (R_m q_h)^T R_n k_g with g = h // (H/G) (WGT-1, WGT-3).

    Parameters
    ----------
    q : ndarray of float, shape (S, H, D)
        Queries, not rotated.
    k : ndarray of float, shape (S, G, D)
        Keys of the same tokens, not rotated; H is a multiple of G.
    positions : array_like of int, shape (S,)
        Those of the tokens.
    interleaved, base, rotary_dim
        As in `apply_rotary`, errors too.

    Returns
    -------
    ndarray of float64, shape (H, S, S)
        Entry (h, a, b): query a with key b.
    """
    rotated_q, rotated_k = (
        apply_rotary(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
        for x in (as_float64(q), as_float64(k))
    )
    shared = np.repeat(rotated_k, q.shape[-2] // k.shape[-2], axis=-2)
    scores: NDArray[np.float64] = np.einsum("ahd,bhd->hab", rotated_q, shared)
    return scores


def _split_heads(weight: Floats, heads: int) -> Floats:
    check_floats("weight", weight, ndim=1)
    if heads < 1 or len(weight) % heads:
        raise ArgumentValueError("heads", f"a divisor of the {len(weight)} rows of weight", heads)
    return weight.reshape(heads, len(weight) // heads, *weight.shape[1:])
