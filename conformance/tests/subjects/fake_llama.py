"""A module as transformers has them: a configuration, a module of tables, and a function."""

from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class FakeConfig:
    """What a model is made of."""

    hidden_size: int = 4096
    num_attention_heads: int = 32
    head_dim: int = 128
    rope_parameters: dict = field(default_factory=dict)


class FakeRotaryEmbedding(nn.Module):
    """Cosines and sines of a model."""

    def __init__(self, config: FakeConfig, device=None):
        super().__init__()
        dim = int(config.head_dim * config.rope_parameters.get("partial_rotary_factor", 1))
        base = config.rope_parameters["rope_theta"]
        self.inv_freq = 1.0 / base ** (torch.arange(0, dim, 2, device=device).float() / dim)

    @torch.no_grad()
    def forward(self, x, position_ids):
        """Return both, (B, S, D), in the dtype of x."""
        angle = position_ids[..., None].float() * self.inv_freq
        angle = torch.cat((angle, angle), dim=-1)
        return angle.cos().to(x.dtype), angle.sin().to(x.dtype)


def rotate_half(x):
    """Exchange the halves, and negate one."""
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
    """Rotate both, (B, H, S, D)."""
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)


class FakeAttention(nn.Module):
    """What else a module has."""
