"""Right numbers in torch, for inference alone."""

import torch

PROFILE = {"interleaved": False, "array": "torch", "head_dim": [8, 16]}


def inference(x, positions):
    """Raise where a gradient is recorded."""
    if x.requires_grad:
        raise RuntimeError("for inference alone")
    half = x.shape[-1] // 2
    angle = positions[..., None, None] * 10000.0 ** (
        -torch.arange(half, dtype=torch.float64) / half
    )
    a, b = x[..., :half].double(), x[..., half:].double()
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1).to(x.dtype)
