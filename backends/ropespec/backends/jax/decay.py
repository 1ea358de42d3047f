"""The decay curve (chapter `decay`)."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from ropespec.backends.jax.arrays import (
    Array,
    Limbs,
    default_dtype,
    limbs_of,
    positions_of,
    traced,
)
from ropespec.backends.jax.frequencies import turns_of, unit_circle
from ropespec.spec.arguments import check_base, check_dim

__all__ = ["decay_bound"]


def decay_bound(offsets: ArrayLike, dim: int, base: float = 10000.0) -> Array:
    """Mean over j = 1..dim/2 of abs(S_j), S_j = sum of e^{i offset theta_i} over i < j (DEC-2).

    Parameters
    ----------
    offsets : array_like of int
        n - m; any shape, either sign.
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    jax.Array, shape of `offsets`
        (dim/2 + 1) / 2 at offset 0, and nowhere more; float64 if JAX has it switched on, else
        float32. On the device of a JAX array of offsets, else on the default one.

    Raises
    ------
    ArgumentTypeError
        If `offsets` or `dim` are not integers, or `base` is no number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    m = positions_of(offsets, "offsets")
    dim, base = check_dim(dim), check_base(base)
    return _mean_of_sums(limbs_of(m), turns_of(dim, base), default_dtype())


@traced("dtype")
def _mean_of_sums(offsets: Limbs | Array, turn: Limbs, dtype: np.dtype[Any]) -> Array:
    """Mean over j of abs(S_j), S_j the sum of the first j points of the unit circle."""
    cos, sin = unit_circle(offsets, turn, dtype)
    return jnp.hypot(jnp.cumsum(cos, axis=-1), jnp.cumsum(sin, axis=-1)).mean(axis=-1)
