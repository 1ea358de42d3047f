"""cos and sin by exact phase (chapter `frequencies`)."""

import math

import torch

from ropespec.backends.torch.turns import turns_on

__all__ = ["circle_of", "unit_circle"]

RADIANS = math.ldexp(math.tau, -64)
"""Radians in one unit of phase, a 2^-64 turn."""


def unit_circle(
    positions: torch.Tensor, dim: int, base: float, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cos and sin of m * theta_i, without any check.

    (m * T_i) mod 2^64 is what int64 multiplication gives, and read as a signed number it is the
    angle reduced to half a turn. It becomes a float64 by one rounding; cos and sin of it are
    rounded once to `dtype`.

    Parameters
    ----------
    positions : torch.Tensor of int64
        Any shape.
    dim : int
        Even.
    base : float
        Above 1.
    dtype : torch.dtype
        float32 or float64.

    Returns
    -------
    cos, sin : torch.Tensor of `dtype`, shape positions.shape + (dim/2,)
        On the device of `positions`.
    """
    table = turns_on(positions.device, dim, base)
    angle = (positions[..., None] * table).to(torch.float64) * RADIANS
    return angle.cos().to(dtype), angle.sin().to(dtype)


def circle_of(
    positions: torch.Tensor, turns: torch.Tensor, gain: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return A cos and A sin of the sum of p_a * T_a over the position numbers of a token.

    Parameters
    ----------
    positions : torch.Tensor of int64, shape (...) or (n, ...)
        A row for each position number, if there are several.
    turns : torch.Tensor of int64, shape (r/2,) or (n, r/2)
        T_a in units of 2^-64 turn; sums and products wrap.
    gain : float
        A.

    Returns
    -------
    cos, sin : torch.Tensor of float64, shape (..., r/2)
        On the device of `positions`.
    """
    if turns.ndim == 1:
        positions, turns = positions[None], turns[None]
    units = positions[0, ..., None] * turns[0]
    for axis in range(1, turns.shape[0]):
        units = units + positions[axis, ..., None] * turns[axis]
    angle = units.to(torch.float64) * RADIANS
    cos, sin = angle.cos(), angle.sin()
    return (cos, sin) if gain == 1 else (cos * gain, sin * gain)
