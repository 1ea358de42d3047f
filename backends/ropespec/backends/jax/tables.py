"""Tables that XLA makes once, and not anew for every head.

Whatever is cheap, XLA repeats inside the loop that uses it: for a table of cos and sin that is
once for every head and every row of the batch, and for a table written twice an access to every
other element. `lax.optimization_barrier` is gone by then. A sum is never repeated, so a table is
passed through a sum of two terms, one of them zero, in integers: no bit changes.
"""

import numpy as np
from jax import lax

from ropespec.backends.jax.arrays import Array

__all__ = ["made_once", "row", "spread"]


def made_once(table: Array) -> Array:
    """Return the same table, made before the loop that reads it.

    Parameters
    ----------
    table : jax.Array of float32 or float64, any shape but ()
        What must not be made again.

    Returns
    -------
    jax.Array
        The same bits.
    """
    kind = np.dtype(f"u{table.dtype.itemsize}")
    shape, axes = (*table.shape, 2), range(table.ndim)
    bits = lax.broadcast_in_dim(lax.bitcast_convert_type(table, kind), shape, axes)
    ones = np.array([np.iinfo(kind).max, 0], kind)
    terms = lax.bitwise_and(bits, lax.broadcast_in_dim(ones, shape, (table.ndim,)))
    whole = lax.reduce(terms, np.zeros((), kind), lax.bitwise_or, (table.ndim,))
    return lax.bitcast_convert_type(whole, table.dtype)


def spread(both: Array, *, backwards: bool) -> Array:
    """Write cos twice, and sin with either sign.

    Parameters
    ----------
    both : jax.Array of float32 or float64, shape (2, ..., p)
        cos and sin.
    backwards : bool
        sin and -sin if True, -sin and sin if False.

    Returns
    -------
    jax.Array, shape (2, ..., 2p)
        What components 2i and 2i+1 of a pair are multiplied by, and what each has from the other.
    """
    *lead, pairs = both.shape
    twice = lax.broadcast_in_dim(both, (*lead, pairs, 2), range(both.ndim))
    twice = lax.reshape(twice, (*lead, 2 * pairs))
    negated = np.arange(2 * pairs) % 2 == backwards
    opposite = lax.broadcast_in_dim(
        np.stack([np.zeros_like(negated), negated]), twice.shape, (0, len(lead))
    )
    return lax.select(opposite, lax.neg(twice), twice)


def row(tables: Array, k: int) -> Array:
    """Take one of the tables that are in one array."""
    return lax.index_in_dim(tables, k, keepdims=False)
