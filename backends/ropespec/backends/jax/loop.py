"""The loop over x: forms of the rotation that XLA compiles into vector code.

The obvious forms read or write every other element, or choose the half of the result at every
step. These read and write x in order and choose between operands instead, and of more than one
token round to bfloat16 in integers, because XLA for CPUs widens and narrows a bfloat16 at every
step between.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ropespec.backends.jax.arrays import Array, arithmetic
from ropespec.backends.jax.tables import spread

__all__ = ["turned_pairs"]

Dtype = np.dtype[Any]


def turned_pairs(x: Array, cos: Array, sin: Array, *, interleaved: bool) -> Array:
    """Turn the first r components of x (..., S, H, D) by tables (..., S, r/2) and round once.

    Parameters
    ----------
    x : jax.Array of float, shape (..., S, H, D)
        Queries or keys.
    cos, sin : jax.Array, shape (S, r/2) or (..., S, r/2)
        In the arithmetic dtype of `x`.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.

    Returns
    -------
    jax.Array, shape and dtype of `x`
        Components from r on bit for bit.
    """
    bits, dim = _bits(x), 2 * cos.shape[-1]
    head = _part(bits, 0, dim)
    if x.shape[-3] == 1 and arithmetic(x.dtype) != x.dtype:
        turned = _one_token(_part(x, 0, dim), cos, sin, interleaved=interleaved)
    elif interleaved:
        turned = _neighbours(head, cos, sin, x.dtype)
    else:
        turned = _halves(head, cos, sin, x.dtype, whole=dim == x.shape[-1])
    if dim < x.shape[-1]:
        turned = _choose(_index(x) < dim, _put(turned, 0, x.shape[-1]), bits)
    return turned if turned.dtype == x.dtype else lax.bitcast_convert_type(turned, x.dtype)


def _one_token(head: Array, cos: Array, sin: Array, *, interleaved: bool) -> Array:
    """Widen first and narrow last, in the conversions of XLA; as `_bits`.

    For operations on integers as below it starts threads, which takes longer than a token.
    """
    wide = head.astype(arithmetic(head.dtype))
    return _bits(turned_pairs(wide, cos, sin, interleaved=interleaved).astype(head.dtype))


def _neighbours(head: Array, cos: Array, sin: Array, dtype: Dtype) -> Array:
    """Interleaved: x times cos, plus the other component of the pair times -sin or sin."""
    following, preceding = _put(head, -1, head.shape[-1]), _put(head, 1, head.shape[-1])
    other = _choose(_index(head) & 1 == 0, following, preceding)
    cos, sin = (_over_heads(table) for table in spread((cos, cos), (-sin, sin)))
    return _narrow(_wide(head, dtype) * cos + _wide(other, dtype) * sin, dtype)


def _halves(head: Array, cos: Array, sin: Array, dtype: Dtype, *, whole: bool) -> Array:
    """Half-split: each half of the result from both halves of x.

    Narrow dtypes are faster side by side, unless a tail follows: then, and in wide ones, choosing.
    """
    half, dim = cos.shape[-1], head.shape[-1]
    first, second = (_wide(_part(head, at, at + half), dtype) for at in (0, half))
    cos, sin = _over_heads(cos), _over_heads(sin)
    left, right = first * cos - second * sin, second * cos + first * sin
    if arithmetic(dtype) == dtype or not whole:
        turned = _choose(_index(head) < half, _put(left, 0, dim), _put(right, half, dim))
        return _narrow(turned, dtype)
    axis = head.ndim - 1
    rows = [lax.expand_dims(_narrow(part, dtype), (axis,)) for part in (left, right)]
    return lax.concatenate(rows, axis).reshape(head.shape)


def _put(part: Array, start: int, size: int) -> Array:
    """Place `part` in a last axis of this size; what surrounds it is zero and never chosen."""
    edges = [(0, 0, 0)] * (part.ndim - 1) + [(start, size - start - part.shape[-1], 0)]
    return lax.pad(part, np.zeros((), part.dtype), edges)


def _part(x: Array, start: int, end: int) -> Array:
    """Cut components out of the last axis."""
    return lax.slice_in_dim(x, start, end, axis=x.ndim - 1)


def _index(x: Array) -> Array:
    """Return the index of every component along the last axis: computed, where a table is read."""
    return lax.iota(np.int32, x.shape[-1])


def _choose(first: Array, one: Array, other: Array) -> Array:
    """Take the components marked in `first` (D,) from one array and the rest from the other."""
    return jnp.where(first, one, other)


def _over_heads(table: Array) -> Array:
    """Give a table an axis for the heads: all heads of a token share its angles."""
    return lax.expand_dims(table, (table.ndim - 1,))


def _bits(x: Array) -> Array:
    """Return a bfloat16 as its bits, anything else as it is."""
    return lax.bitcast_convert_type(x, jnp.uint16) if x.dtype == jnp.bfloat16 else x


def _wide(part: Array, dtype: Dtype) -> Array:
    """Read `_bits` in the arithmetic dtype: a bfloat16 is the upper half of a float32."""
    if dtype != jnp.bfloat16:
        return part.astype(arithmetic(dtype))
    return lax.bitcast_convert_type(part.astype(jnp.uint32) << 16, jnp.float32)


def _narrow(result: Array, dtype: Dtype) -> Array:
    """Round to the dtype, ties to even, as `_bits`; a NaN stays one."""
    if dtype != jnp.bfloat16:
        return result.astype(dtype)
    bits = lax.bitcast_convert_type(result, jnp.uint32)
    rounded = bits + (np.uint32(0x7FFF) + ((bits >> 16) & 1))
    quiet = bits | np.uint32(1 << 22)
    return (lax.select(jnp.isnan(result), quiet, rounded) >> 16).astype(jnp.uint16)
