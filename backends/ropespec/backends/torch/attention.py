"""softmax(QK^T / sqrt(D)) V with rotated q and k (chapter `attention`)."""

import math

import torch

from ropespec.backends.torch.arrays import (
    Positions,
    arithmetic,
    base_of,
    check_array,
    check_floats,
    on_device,
    positions_of,
)
from ropespec.backends.torch.rotation import rotate
from ropespec.spec.arguments import (
    check_attention,
    check_flag,
    check_mask,
    check_positions_fit,
    check_rotary_dim,
    facts,
)

__all__ = ["attention"]


def attention(  # the shared signature
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    query_positions: Positions,
    key_positions: Positions,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """softmax(QK^T / sqrt(D)) V with rotated q and k; v is not rotated (ATT-1 to ATT-4; F-183).

    Parameters
    ----------
    q : torch.Tensor of float, shape (..., S, H, D)
        Queries, not rotated.
    k : torch.Tensor, shape (..., T, G, D)
        Keys; query head h attends with key head h // (H/G).
    v : torch.Tensor, shape (..., T, G, E)
        Values.
    query_positions : tensor or array_like of int, shape (S,) or (..., S)
        Either sign.
    key_positions : tensor or array_like of int, shape (T,) or (..., T)
        Either sign.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        r, even: the first r components of q and k rotate (ROT-14); D by default. The scale stays
        sqrt(D).
    mask : torch.Tensor of bool, optional
        Broadcasts to (..., H, S, T); True where a query may attend.

    Returns
    -------
    output : torch.Tensor, shape (..., S, H, E)
        Zeros in a row that may attend nowhere.
    weights : torch.Tensor, shape (..., H, S, T)
        Both of the dtype and on the device of q, rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If an argument has the wrong type or dtype, or the dtypes differ.
    ArgumentValueError
        If a value or shape is not allowed, or the shapes do not fit each other.
    """
    queries, keys = check_floats("q", q, ndim=3), check_floats("k", k, ndim=3)
    values = check_floats("v", v, ndim=3)
    m = positions_of(query_positions, "query_positions")
    n = positions_of(key_positions, "key_positions")
    check_flag("interleaved", interleaved)
    base = base_of(base)
    if mask is not None:
        check_array("mask", mask)
    check_attention(queries, keys, values)
    dim = check_rotary_dim(rotary_dim, queries.shape[-1])
    check_positions_fit(facts(m), queries.shape[:-2], "query_positions")
    check_positions_fit(facts(n), keys.shape[:-2], "key_positions")
    if mask is not None:
        *batch, length, heads, _ = queries.shape
        check_mask(mask, (*batch, heads, length, keys.shape[-3]))
    work = arithmetic(q.dtype)
    m, n = on_device(m, q.device), on_device(n, k.device)
    output, weights = _attend(
        rotate(q.to(work), m, interleaved=interleaved, base=base, rotary_dim=dim),
        rotate(k.to(work), n, interleaved=interleaved, base=base, rotary_dim=dim),
        v.to(work),
        mask,
    )
    return output.to(q.dtype), weights.to(q.dtype)


def _attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    *batch, length, heads, dim = q.shape
    count, groups, width = v.shape[-3:]
    share = heads // groups if groups else 0
    # (..., G, H/G, S, D) against (..., G, 1, D, T): each key head serves H/G query heads.
    q = q.reshape(*batch, length, groups, share, dim).movedim(-4, -2)
    k, v = k.movedim(-3, -1).unsqueeze(-3), v.movedim(-3, -2).unsqueeze(-3)
    scores = (q @ k).reshape(*batch, heads, length, count) / math.sqrt(dim)
    weights = _masked_softmax(scores, mask)
    output = weights.reshape(*batch, groups, share, length, count) @ v
    return output.movedim(-2, -4).reshape(*batch, length, heads, width), weights


def _masked_softmax(scores: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    if mask is None:
        return scores.softmax(-1)
    # The second filling clears rows of -inf alone, of which softmax makes NaN; the gradients of
    # both fillings are zero where they fill.
    weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
    return weights.masked_fill(~mask, 0.0)
