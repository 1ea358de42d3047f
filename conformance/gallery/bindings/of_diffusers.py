"""diffusers: `get_1d_rotary_pos_embed` and `apply_rotary_emb`, for one vector of positions."""

import torch
from diffusers.models.embeddings import apply_rotary_emb, get_1d_rotary_pos_embed


def flux(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x as Flux does, by float64 angles."""
    tables = get_1d_rotary_pos_embed(
        x.shape[-1], positions, use_real=True, freqs_dtype=torch.float64
    )
    return apply_rotary_emb(x, tables)


def half(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x as models of halves do (CogView 4)."""
    tables = get_1d_rotary_pos_embed(
        x.shape[-1], positions, use_real=True, repeat_interleave_real=False
    )
    return apply_rotary_emb(x, tables, use_real_unbind_dim=-2)


def lumina(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x by complex numbers, as Lumina does."""
    table = get_1d_rotary_pos_embed(x.shape[-1], positions)
    return apply_rotary_emb(x, table.unsqueeze(0), use_real=False)
