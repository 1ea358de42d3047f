"""The absolute embedding of the Transformer paper (chapter `sinusoidal`)."""

import torch

from ropespec.backends.torch.arrays import Positions, base_of, on_device, positions_of
from ropespec.backends.torch.frequencies import unit_circle
from ropespec.backends.torch.rotation import join_pairs
from ropespec.spec.arguments import check_dim

__all__ = ["sinusoidal_embedding"]


def sinusoidal_embedding(positions: Positions, dim: int, base: float = 10000.0) -> torch.Tensor:
    """sin(m theta_i) at component 2i, cos(m theta_i) at 2i+1 (SIN-1; F-025, F-026).

    Parameters
    ----------
    positions : tensor or array_like of int
        Any shape; either sign.
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    torch.Tensor of float64, shape positions.shape + (dim,)
        By exact phase (FREQ-9). On the device of a tensor of positions, else on the default one.

    Raises
    ------
    ArgumentTypeError
        If `positions` or `dim` are not integers, or `base` is no number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    m = positions_of(positions)
    dim, base = check_dim(dim), base_of(base)
    cos, sin = unit_circle(on_device(m, None), dim, base, torch.float64)
    return join_pairs(sin, cos, interleaved=True)
