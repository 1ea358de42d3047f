"""softmax(QK^T / sqrt(D)) V with rotated q and k (chapter `attention`)."""

import functools

import cupy

from ropespec.backends.cupy.arrays import (
    Array,
    check_array,
    check_floats,
    device_of,
    on_device,
    positions_of,
)
from ropespec.backends.cupy.rotation import apply_rotary
from ropespec.backends.xp import attention as generic
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
    query_positions: Array,
    key_positions: Array,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    mask: Array | None = None,
) -> tuple[Array, Array]:
    """softmax(QK^T / sqrt(D)) V with rotated q and k; v is not rotated (ATT-1 to ATT-4; F-183).

    Parameters
    ----------
    q : cupy.ndarray of float, shape (..., S, H, D)
        Queries, not rotated.
    k : cupy.ndarray, shape (..., T, G, D)
        Keys; query head h attends with key head h // (H/G).
    v : cupy.ndarray, shape (..., T, G, E)
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
    mask : cupy.ndarray of bool, optional
        Broadcasts to (..., H, S, T); True where a query may attend.

    Returns
    -------
    output : cupy.ndarray, shape (..., S, H, E)
        Zeros in a row that may attend nowhere.
    weights : cupy.ndarray, shape (..., H, S, T)
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
    rotate = functools.partial(apply_rotary, interleaved=interleaved, base=base, rotary_dim=dim)
    with device_of(q):
        return generic.attention(
            cupy,
            q,
            k,
            v,
            rotate,
            query_positions=on_device(m),
            key_positions=on_device(n),
            mask=mask,
        )
