"""nanotron: `RotaryEmbedding` of Llama with `position_ids`, on a table of float32 angles."""

import functools

import torch
from below import below, stubs

stubs(*(f"nanotron.{one}" for one in ("config", "logging", "distributed", "random", "generation")))
stubs(*(f"nanotron.{one}" for one in ("nn.activations", "nn.layer_norm", "utils")))
stubs("flash_attn", "flash_attn.flash_attn_interface", "flash_attn.layers")
stubs("flash_attn.layers.rotary")
stubs("nanotron.parallel", "nanotron.parallel.context", "nanotron.parallel.parameters")
stubs("nanotron.parallel.pipeline_parallel", "nanotron.parallel.pipeline_parallel.block")
stubs("nanotron.parallel.pipeline_parallel.p2p", "nanotron.parallel.tensor_parallel")
stubs("nanotron.parallel.tensor_parallel.functional", "nanotron.parallel.tensor_parallel.nn")
stubs("nanotron.parallel.pipeline_parallel.tensor_pointer", "nanotron.scaling")
stubs("nanotron.scaling.parametrization")
stubs("nanotron.generation.generate_store", AttachableStore=object)
stubs("nanotron.models.base", NanotronModel=torch.nn.Module)
below("nanotron.models")  # what its base class is, is no matter
module = below("nanotron.models.llama")


@functools.cache
def embedding(head_dim: int) -> torch.nn.Module:
    """Make the module of a model of 32768 tokens; what it makes on a GPU alone is made here."""
    made = module.RotaryEmbedding(head_dim, 32768)
    theta = 1.0 / 10000.0 ** (torch.arange(0, head_dim, 2, dtype=torch.float) / head_dim)
    angles = torch.outer(torch.arange(32768), theta)
    made.freqs_cis = torch.stack([angles.cos(), angles.sin()], dim=-1)
    made._initialized_buffer = True  # noqa: SLF001  # it is now
    return made


def apply(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotate x."""
    return embedding(x.shape[-1])(x, positions)
