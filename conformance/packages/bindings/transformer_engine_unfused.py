"""transformer-engine: `RotaryPositionEmbedding` and `apply_rotary_pos_emb` with `fused=False`."""

import functools
from types import ModuleType

import torch

from ropespec.bench.speed.subjects.base import import_below_stubs

PROFILE = {
    "layouts": [True, False],
    "array": "torch",
    "dtypes": ["float32", "bfloat16", "float16"],
    "max_position": 32767,
    "negative_positions": False,
    "empty": False,
}

# Its kernels stand in the same module, and need a GPU.
FUSED = ModuleType("fused")
vars(FUSED)["QKVFormat"] = None
module = import_below_stubs(
    "transformer_engine.pytorch.attention.rope",
    transformer_engine_torch=ModuleType("kernels"),
    transformer_engine__pytorch__cpp_extensions__fused_attn=FUSED,
)
vars(torch.cuda)["current_device"] = lambda: "cpu"  # where it makes its frequencies


@functools.cache
def angles(head_dim: int, interleaved: bool) -> torch.Tensor:
    """Make the angles of 32768 positions, (32768, 1, 1, head_dim)."""
    return module.RotaryPositionEmbedding(head_dim, interleaved=interleaved)(32768)


def apply(x: torch.Tensor, positions: torch.Tensor, *, interleaved: bool) -> torch.Tensor:
    """Rotate x by rows of its table, one for each token."""
    rows = angles(x.shape[-1], interleaved)[positions.T].squeeze(2)  # (S, B, 1, D)
    return module.apply_rotary_pos_emb(x, rows, "bshd", interleaved=interleaved)
