"""softmax(QK^T / sqrt(D)) V with rotated q and k for NumPy and CuPy (ATT-1 to ATT-4)."""

import math
from collections.abc import Callable

from ropespec.backends.xp import Array, Namespace
from ropespec.backends.xp.dtypes import arithmetic

__all__ = ["attention", "masked_softmax"]


def masked_softmax(xp: Namespace, scores: Array, mask: Array | None) -> Array:
    """Softmax over the last axis among the allowed keys; a row with none of them is zero."""
    if scores.shape[-1] == 0:
        return scores
    floor = xp.asarray(-math.inf, dtype=scores.dtype)
    if mask is not None:
        scores = xp.where(mask, scores, floor)
    top = xp.max(scores, axis=-1, keepdims=True)
    weights = xp.exp(scores - top)
    weights /= xp.sum(weights, axis=-1, keepdims=True)
    if mask is not None:
        # Also where the row is empty (inf - inf): nothing comes from a key that is masked.
        weights = xp.where(mask, weights, xp.zeros((), dtype=scores.dtype))
    return weights


def attention(
    xp: Namespace,
    q: Array,
    k: Array,
    v: Array,
    rotate: Callable[..., Array],
    *,
    query_positions: Array,
    key_positions: Array,
    mask: Array | None,
) -> tuple[Array, Array]:
    """Return output (..., S, H, E) and weights (..., H, S, T), both of the dtype of q.

    q (..., S, H, D), k (..., T, G, D), v (..., T, G, E); query head h attends with key head
    h // (H/G). `rotate` is the backend's `apply_rotary` with all its options. Scores, weights and
    sums stay in the arithmetic dtype until the one rounding.
    """
    work, dtype = arithmetic(xp, q.dtype), q.dtype
    *batch, length, heads, dim = q.shape
    count, groups, width = v.shape[-3:]
    share = heads // groups if groups else 0
    q = rotate(q.astype(work, copy=False), query_positions)
    k = rotate(k.astype(work, copy=False), key_positions)
    # (..., G, H/G, S, D) against (..., G, 1, D, T): each key head serves H/G query heads.
    q = xp.moveaxis(q.reshape(*batch, length, groups, share, dim), -4, -2)
    k = xp.moveaxis(k, -3, -1)[..., None, :, :]
    scores = xp.matmul(q, k).reshape(*batch, heads, length, count) / work.type(math.sqrt(dim))
    weights = masked_softmax(xp, scores, mask)
    spread = weights.reshape(*batch, groups, share, length, count)
    values = xp.moveaxis(v.astype(work, copy=False), -3, -2)[..., None, :, :]
    output = xp.moveaxis(xp.matmul(spread, values), -2, -4)
    return (
        output.reshape(*batch, length, heads, width).astype(dtype, copy=False),
        weights.astype(dtype, copy=False),
    )
