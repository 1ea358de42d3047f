"""Rotations as they are called elsewhere, retyped: parameters that are not x and positions."""

import torch
from torch import Tensor, nn

WIDTH = 64


def half(x, positions):
    """Rotate half-split pairs of x (B, S, H, D) by positions (B, S)."""
    n = x.shape[-1] // 2
    angle = positions[..., None, None] * 10000.0 ** (-torch.arange(n) / n)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., :n], x[..., n:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def rotate_half(x):
    """Exchange the halves, and negate one."""
    n = x.shape[-1] // 2
    return torch.cat((-x[..., n:], x[..., :n]), dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin, position_ids=None, unsqueeze_dim=1):
    """Rotate as transformers does, (B, H, S, D)."""
    assert position_ids is None
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)


class Rotary(nn.Module):
    """The tables of transformers."""

    @torch.no_grad()
    def forward(self, x, position_ids):
        """Return cos and sin, (B, S, D)."""
        dim = x.shape[-1]
        inv_freq = 1.0 / (10000.0 ** (torch.arange(0, dim, 2).float() / dim))
        freqs = position_ids[:, :, None].float() @ inv_freq[None, None, :]
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos().to(dtype=x.dtype), emb.sin().to(dtype=x.dtype)


class Halved(Rotary):
    """The same, as wide as there are pairs."""

    def forward(self, x, position_ids):
        """Return cos and sin, (B, S, D/2)."""
        cos, sin = super().forward(x, position_ids)
        return cos[..., : x.shape[-1] // 2], sin[..., : x.shape[-1] // 2]


def apply_rotary_emb(xq, xk, freqs_cis):
    """Rotate as Meta does, by a complex table (S, D/2)."""
    as_pairs = (x.float().reshape(*x.shape[:-1], -1, 2) for x in (xq, xk))
    xq_, xk_ = (torch.view_as_complex(one) for one in as_pairs)
    assert freqs_cis.shape == (xq_.shape[1], xq_.shape[-1])
    table = freqs_cis.view(1, xq_.shape[1], 1, xq_.shape[-1])
    rotated = (torch.view_as_real(x * table).flatten(3) for x in (xq_, xk_))
    return tuple(y.type_as(x) for y, x in zip(rotated, (xq, xk), strict=True))


def flash(x, cos, sin, interleaved=False, inplace=False, seqlen_offsets=0):
    """Rotate as flash-attn does, by tables (S, D/2)."""
    assert (interleaved, inplace, seqlen_offsets) == (False, False, 0)
    assert cos.dtype == x.dtype
    cos, sin = (torch.cat([one, one], -1)[:, None] for one in (cos, sin))
    return x * cos + rotate_half(x) * sin


def gptj(tensor, sin, cos):
    """Rotate neighbours as GPT-J does, by tables (B, S, D/2)."""
    sin, cos = (one[:, :, None].repeat_interleave(2, 3) for one in (sin, cos))
    pairs = torch.stack((-tensor[..., 1::2], tensor[..., ::2]), dim=-1)
    return tensor * cos + pairs.flatten(-2) * sin


def vllm(positions, query, key):
    """Rotate as vLLM does: in place, tokens in one line, heads beside each other."""
    for one in (query, key):
        view = one.view(1, len(positions), -1, WIDTH)
        view.copy_(half(view, positions[None]))


def vllm_native(positions, query, key):
    """Return what the other one writes."""
    vllm(positions, query, key)
    return query, key


class Cached(nn.Module):
    """Rotates a sequence that begins at an offset."""

    def forward(self, x, offset=0):
        """Count on from the offset."""
        return half(x, offset + torch.arange(x.shape[1])[None])


class CachedHeadsFirst(Cached):
    """The same for (B, H, S, D)."""

    def forward(self, x, offset=0):
        """Count on from the offset."""
        return super().forward(x.transpose(1, 2), offset).transpose(1, 2)


def two(x, positions):
    """Return the result twice."""
    return half(x, positions), half(x, positions)


def in_place(x, positions):
    """Write, and return nothing."""
    x.copy_(half(x, positions))


def heads_first(x, positions):
    """Return (B, H, S, D)."""
    return half(x, positions).transpose(1, 2)


def weighted(tensor, amount, weights):
    """Need something that nobody can guess."""
    return tensor * amount * weights


def described(x, positions):
    """Return a mapping."""
    return {"y": half(x, positions)}


class Bound(nn.Module):
    """Takes positions by a keyword of its own, as torchtune does."""

    def forward(self, x: Tensor, *, input_pos: Tensor | None = None) -> Tensor:
        """Rotate."""
        assert input_pos is not None
        return half(x, input_pos)


def positions_first(positions, x, base=10000.0):
    """Take positions first."""
    assert base == 10000.0
    return half(x, positions)


def offset_between(x, offset=None, position_ids=None):
    """Take positions third."""
    assert offset is None
    return half(x, position_ids)
