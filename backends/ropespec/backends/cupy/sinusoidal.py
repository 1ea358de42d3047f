"""The absolute embedding of the Transformer paper (chapter `sinusoidal`)."""

import cupy

from ropespec.backends.cupy.arrays import Array, device_of, on_device, positions_of
from ropespec.backends.xp import sinusoidal as generic
from ropespec.spec.arguments import check_base, check_dim

__all__ = ["sinusoidal_embedding"]


def sinusoidal_embedding(positions: Array, dim: int, base: float = 10000.0) -> Array:
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
    cupy.ndarray of float64, shape positions.shape + (dim,)
        By exact phase (FREQ-9).
        On the device of a CuPy array of positions, else on the current one.

    Raises
    ------
    ArgumentTypeError
        If `positions` or `dim` are not integers, or `base` is no number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    m = positions_of(positions)
    dim, base = check_dim(dim), check_base(base)
    with device_of(m):
        return generic.sinusoidal_embedding(cupy, on_device(m), dim, base)
