"""The absolute embedding of the Transformer paper (chapter `sinusoidal`)."""

from typing import Any

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
from ropespec.backends.jax.rotation import join_pairs
from ropespec.spec.arguments import check_base, check_dim

__all__ = ["sinusoidal_embedding"]


def sinusoidal_embedding(positions: ArrayLike, dim: int, base: float = 10000.0) -> Array:
    """sin(m theta_i) at component 2i, cos(m theta_i) at 2i+1 (SIN-1; F-025, F-026).

    Parameters
    ----------
    positions : array_like of int
        Any shape; either sign.
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    jax.Array, shape positions.shape + (dim,)
        By exact phase (FREQ-9): float64 if JAX has it switched on, else float32. On the device of
        a JAX array of positions, else on the default one.

    Raises
    ------
    ArgumentTypeError
        If `positions` or `dim` are not integers, or `base` is no number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    m = positions_of(positions)
    dim, base = check_dim(dim), check_base(base)
    return _embedding(limbs_of(m), turns_of(dim, base), default_dtype())


@traced("dtype")
def _embedding(positions: Limbs | Array, turn: Limbs, dtype: np.dtype[Any]) -> Array:
    cos, sin = unit_circle(positions, turn, dtype)
    return join_pairs(sin, cos, interleaved=True)
