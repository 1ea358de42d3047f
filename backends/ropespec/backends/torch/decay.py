"""The decay curve (chapter `decay`)."""

import torch

from ropespec.backends.torch.arrays import Positions, base_of, on_device, positions_of
from ropespec.backends.torch.frequencies import unit_circle
from ropespec.spec.arguments import check_dim

__all__ = ["decay_bound"]


def decay_bound(offsets: Positions, dim: int, base: float = 10000.0) -> torch.Tensor:
    """Mean over j = 1..dim/2 of abs(S_j), S_j = sum of e^{i offset theta_i} over i < j (DEC-2).

    Parameters
    ----------
    offsets : tensor or array_like of int
        n - m; any shape, either sign.
    dim : int
        Even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    torch.Tensor of float64, shape of `offsets`
        (dim/2 + 1) / 2 at offset 0, and nowhere more. On the device of a tensor of offsets, else
        on the default one.

    Raises
    ------
    ArgumentTypeError
        If `offsets` or `dim` are not integers, or `base` is no number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    m = positions_of(offsets, "offsets")
    dim, base = check_dim(dim), base_of(base)
    cos, sin = unit_circle(on_device(m, None), dim, base, torch.float64)
    return torch.hypot(cos.cumsum(-1), sin.cumsum(-1)).mean(-1)
