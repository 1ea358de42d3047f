"""Right torch that needs a claim, or leaves traces a check may stumble over; see `frameworks`."""

from types import SimpleNamespace

import torch
from torch import Tensor

from ropespec.conformance.zoo.torch_parts import half, rope

__all__ = [
    "torch_for_inference",
    "torch_guarded",
    "torch_tables_recorded",
    "torch_tail_through_float32",
]


@torch.inference_mode()
def torch_for_inference(x: Tensor, positions: Tensor) -> Tensor:
    """Record nothing."""
    return rope(x, positions)


def torch_tail_through_float32(x: Tensor, positions: Tensor) -> Tensor:
    """Convert all of x and back: a NaN of bfloat16 comes back with another payload."""
    wide = x.float()
    return torch.cat([rope(wide[..., :8], positions), wide[..., 8:]], dim=-1).to(x.dtype)


class _Guarded:
    """May not be called again before it has returned, and forgets that it may have raised."""

    def __init__(self) -> None:
        self.busy = False

    def __call__(self, x: Tensor, positions: Tensor) -> Tensor:
        """Look at a position, which vmap does not allow."""
        if self.busy:
            raise RuntimeError("called again before it has returned")
        self.busy = True
        largest = positions.abs().max().item() if positions.numel() else 0
        y = rope(x, positions) if largest >= 0 else x
        self.busy = False
        return y


torch_guarded = _Guarded()


def _by_tables(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    r = 2 * cos.shape[-1]
    return torch.cat([half(x[..., :r], cos.float(), sin.float()), x[..., r:]], dim=-1)


torch_tables_recorded = SimpleNamespace(apply_rotary_cos_sin=_by_tables)
