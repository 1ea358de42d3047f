"""A module of a model of several parts: its configuration has none of the sizes, one beside has."""

from dataclasses import dataclass

import torch
from fake_llama import rotate_half
from torch import nn


@dataclass
class FakeQwenConfig:
    """What the whole model is made of."""

    text_config: dict
    vision_config: dict


@dataclass
class FakeQwenTextConfig:
    """What the part is made of that rotates."""

    hidden_size: int
    num_attention_heads: int
    rope_parameters: dict


class FakeQwenRotaryEmbedding(nn.Module):
    """Cosines and sines of three position numbers."""

    def __init__(self, config: FakeQwenConfig):
        super().__init__()
        dim = config.hidden_size // config.num_attention_heads
        base = config.rope_parameters["rope_theta"]
        self.sections = config.rope_parameters["mrope_section"]
        self.inv_freq = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)

    def forward(self, x, position_ids):
        """Return both, (B, S, D), each section by its own number."""
        angle = position_ids[..., None].float() * self.inv_freq
        angle = torch.cat([one[i] for i, one in enumerate(angle.split(self.sections, -1))], -1)
        angle = torch.cat((angle, angle), dim=-1)
        return angle.cos().to(x.dtype), angle.sin().to(x.dtype)


def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
    """Rotate both, (B, H, S, D)."""
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)
