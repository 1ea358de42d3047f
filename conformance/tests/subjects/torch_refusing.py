"""Rotations in torch that some transforms cannot go through, and that are right."""

import numpy as np
import torch

PROFILE = {"interleaved": False, "array": "torch", "dtypes": ["float32"], "max_position": 4095}


def _turned(x, positions):
    theta = 10000.0 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angle = (positions[..., None].float() * theta)[..., None, :]
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


def reads_positions(x, positions):
    """Look at the values of positions before turning."""
    assert int(positions.max()) < 5000
    return _turned(x, positions)


class _Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, positions):
        ctx.positions = positions
        return _turned(x, positions)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, cotangent):
        return _turned(cotangent, -ctx.positions), None


def once(x, positions):
    """Have a gradient, once, and no other transform."""
    return _Once.apply(x, positions)


def leaves_torch(x, positions):
    """Turn as NumPy does."""
    return torch.from_numpy(np.asarray(_turned(x.detach(), positions).numpy()))
