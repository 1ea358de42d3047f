"""The decay curve (chapter `decay`)."""

import cupy

from ropespec.backends.cupy.arrays import Array, device_of, on_device, positions_of
from ropespec.backends.xp import decay as generic
from ropespec.spec.arguments import check_base, check_dim

__all__ = ["decay_bound"]


def decay_bound(offsets: Array, dim: int, base: float = 10000.0) -> Array:
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
    cupy.ndarray of float64, shape of `offsets`
        (dim/2 + 1) / 2 at offset 0, and nowhere more. On the device of a CuPy array of offsets,
        else on the current one.

    Raises
    ------
    ArgumentTypeError
        If `offsets` or `dim` are not integers, or `base` is no number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    m = positions_of(offsets, "offsets")
    dim, base = check_dim(dim), check_base(base)
    with device_of(m):
        return generic.decay_bound(cupy, on_device(m), dim, base)
