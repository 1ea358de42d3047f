"""The rotation in ordinary operations: what runs where no kernel does, and what tracers see.

Plain rather than fast: it gives the operators a meaning on every device.
"""

import math

import torch

__all__ = ["rotate_positions", "rotate_tables", "unit_circle"]

RADIANS = math.ldexp(math.tau, -64)
"""Radians in one unit of phase, a 2^-64 turn."""


def unit_circle(
    positions: torch.Tensor, turns: torch.Tensor, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cos and sin by exact phase (FREQ-9): int64 wraps, so it keeps the angle in one turn.

    Parameters
    ----------
    positions : torch.Tensor of int64
        Any shape.
    turns : torch.Tensor of int64, shape (r/2,)
        T_i in units of 2^-64 turn.
    dtype : torch.dtype
        Of the result.

    Returns
    -------
    cos, sin : torch.Tensor of `dtype`, shape positions.shape + (r/2,)
        Rounded once from float64.
    """
    angle = (positions[..., None] * turns).to(torch.float64) * RADIANS
    return angle.cos().to(dtype), angle.sin().to(dtype)


def rotate_positions(
    x: torch.Tensor,
    positions: torch.Tensor,
    turns: torch.Tensor,
    *,
    interleaved: bool,
    inverse: bool,
) -> torch.Tensor:
    """R_m x with cos and sin by exact phase; arguments as in the operator of this name."""
    work = torch.float64 if x.dtype == torch.float64 else torch.float32
    cos, sin = unit_circle(positions, turns, work)
    return rotate_tables(x, cos, sin, interleaved=interleaved, inverse=inverse)


def rotate_tables(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, *, interleaved: bool, inverse: bool
) -> torch.Tensor:
    """R_m x with cos and sin from tables; arguments as in the operator of this name."""
    work = torch.float64 if x.dtype == torch.float64 else torch.float32
    pairs = cos.shape[-1]
    c, s = cos.to(work)[..., None, :], sin.to(work)[..., None, :]
    s = -s if inverse else s
    if interleaved:
        places = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
    else:
        places = slice(0, pairs), slice(pairs, 2 * pairs)
    first, second = (x[..., place].to(work) for place in places)
    turned = (first * c - second * s).to(x.dtype), (second * c + first * s).to(x.dtype)
    if interleaved:  # not by `flatten`, which the older batching does not know
        head = torch.stack(turned, dim=-1).reshape(*x.shape[:-1], 2 * pairs)
    else:
        head = torch.cat(turned, dim=-1)
    return head if 2 * pairs == x.shape[-1] else torch.cat((head, x[..., 2 * pairs :]), dim=-1)
