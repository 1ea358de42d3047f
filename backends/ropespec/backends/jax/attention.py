"""softmax(QK^T / sqrt(D)) V with rotated q and k (chapter `attention`)."""

import math

import jax
import jax.numpy as jnp
from jax import lax
from numpy.typing import ArrayLike

from ropespec.backends.jax.arrays import (
    EXACT,
    Array,
    arithmetic,
    beside,
    check_array,
    check_floats,
    positions_of,
    traced,
)
from ropespec.backends.jax.frequencies import Circle, circle_of
from ropespec.backends.jax.rotation import rotate
from ropespec.spec.arguments import (
    check_attention,
    check_base,
    check_flag,
    check_mask,
    check_positions_fit,
    check_rotary_dim,
    facts,
)

__all__ = ["attention"]


def attention(  # the shared signature
    q: Array,
    k: Array,
    v: Array,
    *,
    query_positions: ArrayLike,
    key_positions: ArrayLike,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    mask: Array | None = None,
) -> tuple[Array, Array]:
    """softmax(QK^T / sqrt(D)) V with rotated q and k; v is not rotated (ATT-1 to ATT-4; F-183).

    Parameters
    ----------
    q : jax.Array of float, shape (..., S, H, D)
        Queries, not rotated.
    k : jax.Array, shape (..., T, G, D)
        Keys; query head h attends with key head h // (H/G).
    v : jax.Array, shape (..., T, G, E)
        Values.
    query_positions, key_positions : array_like of int, shapes (S,) or (..., S), (T,) or (..., T)
        Either sign.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        r, even: the first r components of q and k rotate (ROT-14); D by default. The scale stays
        sqrt(D).
    mask : jax.Array of bool, optional
        Broadcasts to (..., H, S, T); True where a query may attend.

    Returns
    -------
    output : jax.Array, shape (..., S, H, E)
        Zeros in a row that may attend nowhere.
    weights : jax.Array, shape (..., H, S, T)
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
    base = check_base(base)
    if mask is not None:
        check_array("mask", mask)
    check_attention(queries, keys, values)
    dim = check_rotary_dim(rotary_dim, queries.shape[-1])
    check_positions_fit(facts(m), queries.shape[:-2], "query_positions")
    check_positions_fit(facts(n), keys.shape[:-2], "key_positions")
    if mask is not None:
        *batch, length, heads, _ = queries.shape
        check_mask(mask, (*batch, heads, length, keys.shape[-3]))
    return _attend(
        q,
        k,
        v,
        queries=circle_of(beside(m, q), dim, base, q.dtype),
        keys=circle_of(beside(n, k), dim, base, q.dtype),
        mask=mask,
        interleaved=bool(interleaved),
    )


@traced("interleaved")
def _attend(  # every array of the call, traced by name
    q: Array,
    k: Array,
    v: Array,
    *,
    queries: Circle,
    keys: Circle,
    mask: Array | None,
    interleaved: bool,
) -> tuple[Array, Array]:
    work, dtype = arithmetic(q.dtype), q.dtype
    *batch, length, heads, dim = q.shape
    count, groups, width = v.shape[-3:]
    share = heads // groups if groups else 0
    q = rotate(q.astype(work), queries, interleaved=interleaved)
    k = rotate(k.astype(work), keys, interleaved=interleaved)
    q = q.reshape(*batch, length, groups, share, dim)  # each key head serves `share` query heads
    scores = jnp.einsum("...sgrd,...tgd->...grst", q, k, precision=EXACT) / math.sqrt(dim)
    weights = _softmax(scores.reshape(*batch, heads, length, count), mask)
    spread = weights.reshape(*batch, groups, share, length, count)
    output = jnp.einsum("...grst,...tge->...sgre", spread, v.astype(work), precision=EXACT)
    output = output.reshape(*batch, length, heads, width)
    return output.astype(dtype), weights.astype(dtype)


def _softmax(scores: Array, mask: Array | None) -> Array:
    """Softmax over the last axis among the allowed keys; a row with none of them is zero."""
    if scores.shape[-1] == 0:
        return scores
    if mask is None:
        return jax.nn.softmax(scores, axis=-1)
    allowed = jnp.where(mask, scores, -jnp.inf)
    top = lax.stop_gradient(allowed.max(axis=-1, keepdims=True))
    # In an empty row all is -inf; 0 in its place keeps NaN out of values and gradients.
    raised = jnp.exp(allowed - jnp.where(top == -jnp.inf, 0, top))
    total = raised.sum(axis=-1, keepdims=True)
    return jnp.where(mask, raised / jnp.where(total == 0, 1, total), 0)
