"""The decay curve (chapter `decay`)."""

import numpy as np
from numpy.typing import ArrayLike

from ropespec.backends.numpy.arrays import Array
from ropespec.backends.positions import read_positions
from ropespec.backends.xp import decay as generic
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
    ndarray of float64, shape of `offsets`
        (dim/2 + 1) / 2 at offset 0, and nowhere more.

    Raises
    ------
    ArgumentTypeError
        If `offsets` or `dim` are not integers, or `base` is no number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    m = read_positions(offsets, "offsets")
    dim, base = check_dim(dim), check_base(base)
    out: Array = generic.decay_bound(np, m, dim, base)
    return out
