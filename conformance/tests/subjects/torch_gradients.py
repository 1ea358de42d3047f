"""Rotations in torch that are wrong backward, most of them only there."""

import torch


def turned(x, positions, sign=1):
    """Rotate half-split pairs."""
    dim = x.shape[-1]
    theta = 10000.0 ** (-torch.arange(0, dim, 2) / dim)
    angle = (sign * positions[..., None].float() * theta)[..., None, :]
    c, s = angle.cos(), angle.sin()
    a, b = x[..., : dim // 2], x[..., dim // 2 :]
    return torch.cat([a * c - b * s, b * c + a * s], -1).to(x.dtype)


class _Forward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, positions):
        ctx.positions = positions
        return turned(x, positions)

    @staticmethod
    def backward(ctx, cotangent):
        return turned(cotangent, ctx.positions), None


class _Ones(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, positions):
        ctx.positions = positions
        return torch.cat([turned(x[..., :16], positions), x[..., 16:]], -1)

    @staticmethod
    def backward(ctx, cotangent):
        back = turned(cotangent[..., :16], ctx.positions, -1)
        return torch.cat([back, torch.ones_like(cotangent[..., 16:])], -1), None


def not_conjugated(x, positions):
    """Turn the cotangent forward."""
    return _Forward.apply(x, positions)


def constant_tail(x, positions):
    """Give the tail a gradient of one."""
    return _Ones.apply(x, positions)


def detached(x, positions):
    """Lose the way back."""
    return turned(x.detach(), positions)


def another_base(x, positions):
    """Rotate by other frequencies, with the gradient that this rotation has."""
    dim = x.shape[-1]
    theta = 500.0 ** (-torch.arange(0, dim, 2) / dim)
    angle = (positions[..., None].float() * theta)[..., None, :]
    c, s = angle.cos(), angle.sin()
    a, b = x[..., : dim // 2], x[..., dim // 2 :]
    return torch.cat([a * c - b * s, b * c + a * s], -1).to(x.dtype)
