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
from ropespec.backends.jax.tables import made_once, row, spread

__all__ = ["turned_pairs"]

Dtype = np.dtype[Any]

_SOON = 4096
"""On a CPU a loop over no more components ends before one that tables are written for begins."""


def turned_pairs(x: Array, cos: Array, sin: Array, *, interleaved: bool, backwards: bool) -> Array:
    """Turn the first r components of x (..., S, H, D) by tables (..., S, r/2) and round once.

    Parameters
    ----------
    x : jax.Array of float, shape (..., S, H, D)
        Queries or keys.
    cos, sin : jax.Array, shape (S, r/2) or (..., S, r/2)
        In the arithmetic dtype of `x`.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    backwards : bool
        By the opposite angle if True.

    Returns
    -------
    jax.Array, shape and dtype of `x`
        Components from r on bit for bit.
    """
    bits, dim = _bits(x), 2 * cos.shape[-1]
    head = _part(bits, 0, dim)
    if x.shape[-3] == 1 and arithmetic(x.dtype) != x.dtype:
        turned = _one_token(
            _part(x, 0, dim), cos, sin, interleaved=interleaved, backwards=backwards
        )
    elif interleaved:
        turned = _neighbours(head, cos, sin, x.dtype, backwards=backwards)
    else:
        whole = dim == x.shape[-1]
        turned = _halves(head, cos, sin, x.dtype, whole=whole, backwards=backwards)
    if dim < x.shape[-1]:
        turned = _choose(_before(dim, x), _put(turned, 0, x.shape[-1]), bits)
    return turned if turned.dtype == x.dtype else lax.bitcast_convert_type(turned, x.dtype)


def _one_token(head: Array, cos: Array, sin: Array, **how: bool) -> Array:
    """Widen first and narrow last, in the conversions of XLA; as `_bits`.

    For operations on integers as below it starts threads, which takes longer than a token.
    """
    wide = lax.convert_element_type(head, arithmetic(head.dtype))
    turned = turned_pairs(wide, cos, sin, **how)
    return _bits(lax.convert_element_type(turned, head.dtype))


def _neighbours(head: Array, cos: Array, sin: Array, dtype: Dtype, *, backwards: bool) -> Array:
    """Interleaved: x times cos, plus the other component of the pair times -sin or sin."""
    following, preceding = _put(head, -1, head.shape[-1]), _put(head, 1, head.shape[-1])
    even = lax.eq(lax.bitwise_and(_index(head), np.int32(1)), np.int32(0))
    x, other = _wide(head, dtype), _wide(_choose(even, following, preceding), dtype)
    both = lax.concatenate([lax.expand_dims(table, (0,)) for table in (cos, sin)], 0)
    both = spread(both, backwards=backwards)
    if not (isinstance(x.size, int) and x.size <= _SOON):  # it may be a symbol, as of `jax.export`
        both = made_once(both)
    cos, sin = (_over_heads(row(both, k), x) for k in range(2))
    return _narrow(lax.add(lax.mul(x, cos), lax.mul(other, sin)), dtype)


def _halves(
    head: Array, cos: Array, sin: Array, dtype: Dtype, *, whole: bool, backwards: bool
) -> Array:
    """Half-split: each half of the result from both halves of x.

    Narrow dtypes are faster side by side, unless a tail follows: then, and in wide ones, choosing.
    """
    half, dim = cos.shape[-1], head.shape[-1]
    first, second = (_wide(_part(head, at, at + half), dtype) for at in (0, half))
    cos, sin = _over_heads(cos, first), _over_heads(sin, first)
    less, plus = (lax.add, lax.sub) if backwards else (lax.sub, lax.add)
    left = less(lax.mul(first, cos), lax.mul(second, sin))
    right = plus(lax.mul(second, cos), lax.mul(first, sin))
    if arithmetic(dtype) == dtype or not whole:
        turned = _choose(_before(half, head), _put(left, 0, dim), _put(right, half, dim))
        return _narrow(turned, dtype)
    axis = head.ndim - 1
    rows = [lax.expand_dims(_narrow(part, dtype), (axis,)) for part in (left, right)]
    return lax.reshape(lax.concatenate(rows, axis), head.shape)


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


def _before(end: int, x: Array) -> Array:
    """Mark the components before one."""
    return lax.lt(_index(x), np.int32(end))


def _choose(first: Array, one: Array, other: Array) -> Array:
    """Take the components marked in `first` (D,) from one array and the rest from the other."""
    return lax.select(lax.broadcast_in_dim(first, one.shape, (one.ndim - 1,)), one, other)


def _over_heads(table: Array, x: Array) -> Array:
    """Give a table the shape of x: all heads of a token share its angles."""
    tokens = range(x.ndim - 1 - table.ndim, x.ndim - 2)
    return lax.broadcast_in_dim(table, x.shape, (*tokens, x.ndim - 1))


def _bits(x: Array) -> Array:
    """Return a bfloat16 as its bits, anything else as it is."""
    return lax.bitcast_convert_type(x, np.uint16) if x.dtype == jnp.bfloat16 else x


def _wide(part: Array, dtype: Dtype) -> Array:
    """Read `_bits` in the arithmetic dtype: a bfloat16 is the upper half of a float32."""
    if dtype != jnp.bfloat16:
        return lax.convert_element_type(part, arithmetic(dtype))
    upper = lax.shift_left(lax.convert_element_type(part, np.uint32), np.uint32(16))
    return lax.bitcast_convert_type(upper, np.float32)


def _narrow(result: Array, dtype: Dtype) -> Array:
    """Round to the dtype, ties to even, as `_bits`; a NaN stays one."""
    if dtype != jnp.bfloat16:
        return lax.convert_element_type(result, dtype)
    bits = lax.bitcast_convert_type(result, np.uint32)
    last = lax.bitwise_and(lax.shift_right_logical(bits, np.uint32(16)), np.uint32(1))
    rounded = lax.add(bits, lax.add(last, np.uint32(0x7FFF)))
    quiet = lax.bitwise_or(bits, np.uint32(1 << 22))
    kept = lax.select(lax.ne(result, result), quiet, rounded)
    return lax.convert_element_type(lax.shift_right_logical(kept, np.uint32(16)), np.uint16)
