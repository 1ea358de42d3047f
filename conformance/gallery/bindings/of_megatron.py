"""megatron-core: angles of its modules and `_apply_rotary_pos_emb_bshd`, unfused."""

import functools
from types import SimpleNamespace
from typing import Any

import torch
from below import below, stubs

stubs("megatron.core.parallel_state", "megatron.core.transformer")
stubs("megatron.core.utils", internal_api=lambda function: function)
stubs("megatron.core.extensions", "megatron.core.extensions.transformer_engine")
rope = below("megatron.core.models.common.embeddings.rope_utils")
plain_module = below("megatron.core.models.common.embeddings.rotary_pos_embedding")
yarn_module = below("megatron.core.models.common.embeddings.yarn_rotary_pos_embedding")
vars(torch.cuda)["current_device"] = lambda: "cpu"  # where it makes its frequencies

Array = torch.Tensor


@functools.cache
def _angles(head_dim: int, *, interleaved: bool) -> Array:
    words: dict[str, Any] = {"rotary_percent": 1.0, "rotary_interleaved": interleaved}
    made = plain_module.RotaryEmbedding(
        head_dim, seq_len_interpolation_factor=None, use_cpu_initialization=True, **words
    )
    return made.get_emb(32768)[:, 0, 0]


def apply(x: Array, positions: Array, *, interleaved: bool) -> Array:
    """Rotate x (S, B, H, D)."""
    angles = _angles(x.shape[-1], interleaved=interleaved)[positions.T].unsqueeze(2)
    return rope._apply_rotary_pos_emb_bshd(x, angles, interleaved)  # noqa: SLF001  # its unfused form


@functools.cache
def _yarn(head_dim: int) -> tuple[Array, float]:
    alone = SimpleNamespace(size=lambda: 1, rank=lambda: 0)  # a group of one process
    made = yarn_module.YarnRotaryEmbedding(
        head_dim, scaling_factor=8.0, use_cpu_initialization=True, cp_group=alone
    )
    angles, gain = made.get_emb(32768)
    return angles[:, 0, 0], gain


def yarn(x: Array, positions: Array) -> Array:
    """Rotate x (S, B, H, D) by YaRN: factor 8, original length 4096."""
    angles, gain = _yarn(x.shape[-1])
    rows = angles[positions.T].unsqueeze(2)
    return rope._apply_rotary_pos_emb_bshd(x, rows, mscale=gain)  # noqa: SLF001  # as above
