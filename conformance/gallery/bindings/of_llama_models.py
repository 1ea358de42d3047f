"""llama-models: `precompute_freqs_cis` and `apply_rotary_emb` of Llama 3."""

import functools

import torch
from below import below, stubs

stubs("fairscale", "fairscale.nn", "fairscale.nn.model_parallel")
stubs("fairscale.nn.model_parallel.initialize", "fairscale.nn.model_parallel.layers")
stubs("llama_models.llama3.args")
module = below("llama_models.llama3.model")


@functools.cache
def _table(head_dim: int, *, scaled: bool) -> torch.Tensor:
    theta = 500000.0 if scaled else 10000.0
    return module.precompute_freqs_cis(head_dim, 32768, theta, scaled)


def plain(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x."""
    return module.apply_rotary_emb(x, x, _table(x.shape[-1], scaled=False)[positions])[0]


def scaled(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x as Llama 3.1 does."""
    return module.apply_rotary_emb(x, x, _table(x.shape[-1], scaled=True)[positions])[0]
