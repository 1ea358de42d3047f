"""The usual rotation in torch, in float32; imported by a worker only."""

import torch
from torch import Tensor

__all__ = ["angles", "half", "rope"]


def angles(positions: Tensor, dim: int, base: float = 10000.0) -> Tensor:
    """float32(positions) * float32(inv_freq)."""
    exponent = torch.arange(0, dim, 2, dtype=torch.float32, device=positions.device) / dim
    return positions.to(torch.float32)[..., None] * (1.0 / base**exponent)


def half(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn pairs (i, i+d/2) of x (..., S, H, D) by tables (..., S, D/2)."""
    c, s = cos[..., None, :], sin[..., None, :]
    a, b = x.to(c.dtype).chunk(2, dim=-1)
    return torch.cat([a * c - b * s, b * c + a * s], dim=-1).to(x.dtype)


def rope(x: Tensor, positions: Tensor) -> Tensor:
    """Rotate x half-split."""
    angle = angles(positions, x.shape[-1])
    return half(x, angle.cos(), angle.sin())
