"""flash-attn: its plain torch form, and its Triton kernel where there is a GPU."""

import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ropespec.bench.speed.case import Case
from ropespec.bench.speed.subjects.base import UnavailableError, import_below_stubs
from ropespec.bench.speed.subjects.torch_base import TorchSubject

__all__ = ["FlashTorch", "FlashTriton"]

KERNEL = "flash_attn.ops.triton.rotary"


class FlashTorch(TorchSubject):
    """`apply_rotary_emb_torch`: both layouts, tables and arithmetic in the dtype of x."""

    def tables(self, case: Case, positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """cos and sin (S, D/2) of float32 angles, as its RotaryEmbedding makes them."""
        head_dim = case.shape[-1]
        inv_freq = 1.0 / 10000.0 ** (torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)
        angles = torch.outer(torch.from_numpy(positions).float(), inv_freq)
        dtype = getattr(torch, case.dtype)
        return angles.cos().to(self.device, dtype), angles.sin().to(self.device, dtype)

    def function(self, case: Case) -> Callable[..., Any]:
        """Return the function."""
        # The plain form stands beside the kernel, whose module cannot be imported without Triton.
        kernel = ModuleType(KERNEL)
        vars(kernel)["apply_rotary"] = None
        module = import_below_stubs(
            "flash_attn.layers.rotary", **{KERNEL.replace(".", "__"): kernel}
        )
        interleaved = case.interleaved

        def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> Any:  # noqa: ANN401  # no types
            return module.apply_rotary_emb_torch(x, cos, sin, interleaved)

        return rotate


class FlashTriton(FlashTorch):
    """`apply_rotary_emb`, the Triton kernel with its autograd; needs a GPU."""

    def function(self, case: Case) -> Callable[..., Any]:
        """Return the function."""
        if self.device != "cuda":
            raise UnavailableError("a Triton kernel needs a GPU")
        module = importlib.import_module("flash_attn.layers.rotary")
        interleaved = case.interleaved

        def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> Any:  # noqa: ANN401  # no types
            return module.apply_rotary_emb(x, cos, sin, interleaved)

        return rotate
