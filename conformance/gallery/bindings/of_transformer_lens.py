"""transformer-lens: `NativeRotary.apply_rope` with position_ids."""

import functools
from types import SimpleNamespace
from typing import Any

import torch
from below import below, stubs

stubs("transformer_lens.config", "transformer_lens.utilities")
stubs("transformer_lens.utilities.activation_functions")
module = below("transformer_lens.model_bridge.sources.native.model")


@functools.cache
def rotary(head_dim: int) -> Any:  # noqa: ANN401  # its class has no types here
    """Make the tables of a model of 32768 tokens."""
    config = SimpleNamespace(
        d_head=head_dim, rotary_dim=None, n_ctx=32768, rotary_base=10000, rope_scaling=None
    )
    return module.NativeRotary(config)


def apply(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x as q is."""
    return rotary(x.shape[-1]).apply_rope(x, x, position_ids=positions)[0]
