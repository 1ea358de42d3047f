"""softmax(QK^T / sqrt(D)) V with rotated q and k (chapter `attention`)."""

import math

from ropespec.backends.derived.part import Array, Bound, Part
from ropespec.spec.api import ArrayT, Positions
from ropespec.spec.arguments import (
    check_attention,
    check_flag,
    check_mask,
    check_positions_fit,
    check_rotary_dim,
    facts,
)

__all__ = ["Attention"]


class Attention(Part[ArrayT]):
    """The chapter's function."""

    def attention(
        self,
        q: ArrayT,
        k: ArrayT,
        v: ArrayT,
        *,
        query_positions: Positions[ArrayT],
        key_positions: Positions[ArrayT],
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
        mask: ArrayT | None = None,
    ) -> tuple[ArrayT, ArrayT]:
        of = self._of
        queries, keys = of.check_floats("q", q, ndim=3), of.check_floats("k", k, ndim=3)
        values = of.check_floats("v", v, ndim=3)
        m = of.positions_of(query_positions, "query_positions")
        n = of.positions_of(key_positions, "key_positions")
        paired, base = check_flag("interleaved", interleaved), of.base_of(base)
        if mask is not None:
            of.check_array("mask", mask)
        check_attention(queries, keys, values)
        dim = check_rotary_dim(rotary_dim, queries.shape[-1])
        check_positions_fit(facts(m), queries.shape[:-2], "query_positions")
        check_positions_fit(facts(n), keys.shape[:-2], "key_positions")
        if mask is not None:
            *batch, length, heads, _ = queries.shape
            check_mask(mask, (*batch, heads, length, keys.shape[-3]))

        def turned(x: Array, positions: Array) -> Array:
            turning = of.turning(positions, dim, base, x)
            return of.rotate(of.cast(x, of.work(x.dtype)), turning, interleaved=paired)

        return of.run(_attend, turned(q, m), turned(k, n), v, mask)


def _attend(of: Bound, q: Array, k: Array, v: Array, mask: Array | None) -> tuple[Array, Array]:
    """Keep all in the dtype of q and k, that of the arithmetic, until the one rounding."""
    xp, work, dtype = of.xp, q.dtype, v.dtype
    *batch, length, heads, dim = q.shape
    count, groups, width = v.shape[-3:]
    share = heads // groups if groups else 0
    # (..., G, H/G * S, D) against (..., G, D, T): each key head serves the rows of H/G query heads.
    rows = share * length
    q = xp.swapaxes(q, -3, -2).reshape(*batch, groups, rows, dim)
    k = xp.swapaxes(xp.swapaxes(k, -3, -2), -2, -1)
    scores = of.matmul(q, k).reshape(*batch, heads, length, count) / math.sqrt(dim)
    weights = of.softmax(scores, mask)
    spread = weights.reshape(*batch, groups, rows, count)
    output = of.matmul(spread, xp.swapaxes(of.cast(v, work), -3, -2))
    output = xp.swapaxes(output.reshape(*batch, heads, length, width), -3, -2)
    return of.cast(output, dtype), of.cast(weights, dtype)
