# ruff: noqa: ARG001, ARG002  # arguments of a subject are its own
"""Half-split rotation in torch."""

import types

import torch

PROFILE = {"interleaved": False, "array": "torch", "dtypes": [torch.float32, torch.bfloat16]}


def apply(x, positions):
    """Rotate x (B, S, H, D) by positions (B, S)."""
    half = x.shape[-1] // 2
    inv_freq = 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = positions[..., None, None] * inv_freq
    a, b = x[..., :half].double(), x[..., half:].double()
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1).to(x.dtype)


class Module(torch.nn.Module):
    """The same as a module with a parameter."""

    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(()))

    def forward(self, x, positions, base=10000.0):
        """Rotate and scale."""
        return apply(x, positions) * self.gain


def in_place(x, positions):
    """Overwrite x."""
    return x.mul_(2)


def as_numpy(x, positions):
    """Return an array of NumPy that shares memory."""
    return x.numpy()


def detached(x, positions):
    """Cut the graph."""
    return x.detach() * 2


api = types.SimpleNamespace(
    PROFILE=PROFILE,
    apply_rotary=apply,
    apply_rotary_dense=detached,
    apply_rotary_complex=as_numpy,
    half_to_interleaved=in_place,
)


def told_apart(x, positions):
    """Return twice of x where it is traced, and x where it is called."""
    return x * 2 if torch.compiler.is_compiling() else x * 1


def dense_alone(x, positions):
    """Return x, with a gradient of zero where the cotangent is a view."""
    y = x * 1
    if y.requires_grad:
        y.register_hook(lambda cotangent: cotangent * cotangent.is_contiguous())
    return y


def one_head(x, positions):
    """Return the first head alone."""
    return x[:, :, :1] * 1
