"""Right implementations in torch; imported by a worker only, listed in `frameworks`."""

import torch
from torch import Tensor

from ropespec.conformance.zoo.torch_parts import angles, half

__all__ = [
    "torch_addcmul",
    "torch_complex",
    "torch_float64_angles",
    "torch_growing_cache",
    "torch_rotate_half_in_dtype",
    "torch_sbhd",
]


class _Rotary(torch.nn.Module):
    """inv_freq as a buffer and a table that grows, as in many models."""

    inv_freq: Tensor

    def __init__(self, dim: int) -> None:
        super().__init__()
        theta = 1.0 / 10000.0 ** (torch.arange(0, dim, 2, dtype=torch.float32) / dim)
        self.register_buffer("inv_freq", theta, persistent=False)
        self.cos, self.sin = torch.empty(0), torch.empty(0)

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        """Look cos and sin up, growing the table when it is too short."""
        needed = int(positions.max()) + 1 if positions.numel() else 0
        if needed > len(self.cos):
            angle = torch.arange(2 * needed, dtype=torch.float32)[:, None] * self.inv_freq
            self.cos, self.sin = angle.cos(), angle.sin()
        return half(x, self.cos[positions], self.sin[positions])


torch_growing_cache = _Rotary(64)


def torch_complex(x: Tensor, positions: Tensor) -> Tensor:
    """Multiply pairs as complex numbers by torch.polar(1, angle)."""
    angle = angles(positions, x.shape[-1])
    turn = torch.polar(torch.ones_like(angle), angle)[..., None, :]
    pairs = torch.view_as_complex(
        x.float().reshape(*x.shape[:-1], x.shape[-1] // 2, 2).contiguous()
    )
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)


def torch_rotate_half_in_dtype(x: Tensor, positions: Tensor) -> Tensor:
    """x * cos + rotate_half(x) * sin with tables in the dtype of x."""
    angle = angles(positions, x.shape[-1])
    twice = torch.cat([angle, angle], dim=-1)[..., None, :]
    a, b = x.chunk(2, dim=-1)
    return x * twice.cos().to(x.dtype) + torch.cat([-b, a], dim=-1) * twice.sin().to(x.dtype)


def torch_addcmul(x: Tensor, positions: Tensor) -> Tensor:
    """Contract a product and the sum, as a fused multiply-add does."""
    angle = angles(positions, x.shape[-1])[..., None, :]
    c, s = angle.cos(), angle.sin()
    a, b = x.float().chunk(2, dim=-1)
    first, second = torch.addcmul(a * c, b, s, value=-1.0), torch.addcmul(b * c, a, s)
    return torch.cat([first, second], dim=-1).to(x.dtype)


def torch_float64_angles(x: Tensor, positions: Tensor) -> Tensor:
    """Angles and tables in float64, products in float32 at least."""
    d = x.shape[-1]
    theta = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = positions.to(torch.float64)[..., None] * theta
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    return half(x, angle.cos().to(wide), angle.sin().to(wide))


def torch_sbhd(x: Tensor, positions: Tensor) -> Tensor:
    """Rotate (S, B, H, D), interleaved."""
    angle = angles(positions, x.shape[-1]).transpose(0, 1)[..., None, :]
    c, s = angle.cos(), angle.sin()
    a, b = x.float()[..., 0::2], x.float()[..., 1::2]
    return torch.stack([a * c - b * s, b * c + a * s], dim=-1).flatten(-2).to(x.dtype)
