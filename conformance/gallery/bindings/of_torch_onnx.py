"""torch: `torch.onnx.ops.rotary_embedding` on tables of exact angles."""

import functools

import torch


@functools.cache
def _tables(head_dim: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    theta = 10000.0 ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    angles = torch.outer(torch.arange(32768, dtype=torch.float64), theta)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def apply(x: torch.Tensor, positions: torch.Tensor, *, interleaved: bool) -> torch.Tensor:
    """Rotate x."""
    cos, sin = _tables(x.shape[-1], x.dtype)
    return torch.onnx.ops.rotary_embedding(x, cos, sin, positions, interleaved=interleaved)
