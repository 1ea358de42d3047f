"""Frequencies, angles, and cos and sin by exact phase (chapter `frequencies`)."""

import math

import torch

from ropespec.backends.torch.arrays import (
    Device,
    Positions,
    base_of,
    check_array,
    on_device,
    positions_of,
    read_device,
)
from ropespec.backends.torch.turns import turns_on
from ropespec.spec.arguments import check_dim, check_inv_freq

__all__ = ["angles", "cos_sin", "inv_freq", "unit_circle"]

RADIANS = math.ldexp(math.tau, -64)
"""Radians in one unit of phase, a 2^-64 turn."""


def inv_freq(dim: int, base: float = 10000.0, *, device: Device = None) -> torch.Tensor:
    """theta_i = base^(-2i/dim), i = 0..dim/2-1 (FREQ-2; F-001).

    Parameters
    ----------
    dim : int
        Even, at least 2.
    base : float
        Above 1.
    device : torch.device, str or int, optional
        Where the result lies; torch's default device by default.

    Returns
    -------
    torch.Tensor of float64, shape (dim/2,)
        Radians per position.

    Raises
    ------
    ArgumentTypeError
        If `dim` is not an integer, `base` not a real number, or `device` no device.
    ArgumentValueError
        If `dim` is odd or below 2, `base` not finite or not above 1, or `device` unknown to torch.
    """
    dim, base = check_dim(dim), base_of(base)
    i = torch.arange(0, dim, 2, dtype=torch.float64, device=read_device(device))
    return torch.pow(base, i / -dim)


def angles(positions: Positions, inv_freq: torch.Tensor) -> torch.Tensor:
    """Angles m * theta_i for every position m and frequency theta_i (FREQ-7; F-017).

    Parameters
    ----------
    positions : tensor or array_like of int
        Any shape; either sign.
    inv_freq : torch.Tensor of float, shape (dim/2,)
        Radians per position.

    Returns
    -------
    torch.Tensor of float64, shape positions.shape + (dim/2,)
        Radians, not reduced to one turn; on the device of a tensor of positions, else on that of
        `inv_freq`.

    Raises
    ------
    ArgumentTypeError
        If `positions` are not integers, or `inv_freq` is no float tensor.
    ArgumentValueError
        If `inv_freq` does not have exactly one axis.
    """
    m = positions_of(positions)
    check_array("inv_freq", inv_freq)
    check_inv_freq(inv_freq)
    m = on_device(m, None if isinstance(m, torch.Tensor) else inv_freq.device)
    return m[..., None].to(torch.float64) * inv_freq.to(m.device, torch.float64)


def cos_sin(
    positions: Positions, dim: int, base: float = 10000.0
) -> tuple[torch.Tensor, torch.Tensor]:
    """cos(m theta_i) and sin(m theta_i) by exact phase (FREQ-9).

    Parameters
    ----------
    positions : tensor or array_like of int
        Any shape; either sign.
    dim, base
        As in `inv_freq`.

    Returns
    -------
    cos, sin : torch.Tensor of float64, shape positions.shape + (dim/2,)
        As accurate at position 2^31 as at 3, but for the rounding of T_i: |m| * 2^-65 turns.
        On the device of a tensor of positions, else on the default device.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `angles` and `inv_freq` do.
    """
    m = positions_of(positions)
    dim, base = check_dim(dim), base_of(base)
    return unit_circle(on_device(m, None), dim, base, torch.float64)


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
