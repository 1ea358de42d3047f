"""Tables that XLA makes once, and not anew for every head.

Whatever is cheap, XLA repeats inside the loop that uses it: for a table of cos and sin that is
once for every head and every row of the batch, and for a table written twice an access to every
other element. `lax.optimization_barrier` is gone by then. A sum is never repeated, so a table is
passed through a sum of two terms, one of them zero, in integers: no bit changes.
"""

import jax.numpy as jnp
import numpy as np
from jax import lax

from ropespec.backends.jax.arrays import Array

__all__ = ["made_once", "spread"]


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
    return _through_a_sum(table, np.zeros(table.shape[-1:], dtype=np.int64))


def spread(*pairs: tuple[Array, Array]) -> list[Array]:
    """Interleave pairs of tables, before the loop that reads them.

    Parameters
    ----------
    *pairs : tuple of jax.Array of float32 or float64, shapes (..., p)
        What stands at components 2i, and what stands at 2i+1; leading axes broadcast.

    Returns
    -------
    list of jax.Array, shape (..., 2p)
        One for each pair: the same bits.
    """
    parts = jnp.broadcast_arrays(*(part for pair in pairs for part in pair))
    table = jnp.stack([jnp.stack(parts[k : k + 2], axis=-1) for k in range(0, len(parts), 2)])
    table = table.reshape(*table.shape[:-2], 2 * table.shape[-2])
    wide = _through_a_sum(table, np.arange(table.shape[-1]) % 2)
    return [lax.index_in_dim(wide, k, keepdims=False) for k in range(len(pairs))]


def _through_a_sum(table: Array, term: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Array:
    """Add zero to each element, which is term 0 or 1 of the two as `term` says."""
    kind = np.dtype(f"u{table.dtype.itemsize}")
    bits = lax.bitcast_convert_type(table, kind)[..., None]
    terms = jnp.where(term[:, None] == np.arange(2), bits, jnp.zeros((), kind))
    whole = lax.reduce(terms, np.zeros((), kind), lax.bitwise_or, (terms.ndim - 1,))
    return lax.bitcast_convert_type(whole, table.dtype)
