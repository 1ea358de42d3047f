"""The absolute embedding of the Transformer paper (chapter `sinusoidal`)."""

import numpy as np
from numpy.typing import ArrayLike

from ropespec.backends.numpy.arrays import Array
from ropespec.backends.positions import read_positions
from ropespec.backends.xp import sinusoidal as generic
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
    ndarray of float64, shape positions.shape + (dim,)
        By exact phase (FREQ-9).

    Raises
    ------
    ArgumentTypeError
        If `positions` or `dim` are not integers, or `base` is no number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    m = read_positions(positions)
    dim, base = check_dim(dim), check_base(base)
    out: Array = generic.sinusoidal_embedding(np, m, dim, base)
    return out
