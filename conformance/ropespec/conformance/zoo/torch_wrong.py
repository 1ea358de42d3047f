"""Wrong implementations in torch; imported by a worker only, listed in `frameworks`."""

from typing import Any

import torch
from torch import Tensor

from ropespec.conformance.profile import HEAD_DIMS
from ropespec.conformance.zoo.torch_parts import angles, half, rope

__all__ = [
    "autocast_angles",
    "backward_not_conjugated",
    "buffer_in_bfloat16",
    "cotangent_read_as_contiguous",
    "detached",
    "graph_in_the_cache",
    "overwrites_x_in_torch",
    "promoted_in_torch",
    "tail_gradient_of_one",
]


def detached(x: Tensor, positions: Tensor) -> Tensor:
    """Cut the graph."""
    return rope(x, positions).detach()


class _Forward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, positions: Tensor) -> Tensor:  # noqa: ANN401  # the context of torch
        """Rotate."""
        ctx.save_for_backward(positions)
        return rope(x, positions)

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401  # the context of torch
        """Rotate again."""
        (positions,) = ctx.saved_tensors
        return rope(cotangents[0], positions), None


def backward_not_conjugated(x: Tensor, positions: Tensor) -> Tensor:
    """Turn forward in the backward pass."""
    y: Tensor = _Forward.apply(x, positions)  # type: ignore[no-untyped-call]  # untyped in torch
    return y


class _OnesInTail(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:  # noqa: ANN401  # the context of torch
        """Copy."""
        del ctx
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Tensor:  # noqa: ANN401  # the context of torch
        """Return ones."""
        del ctx
        return torch.ones_like(cotangents[0])


def tail_gradient_of_one(x: Tensor, positions: Tensor) -> Tensor:
    """Pass the tail through a function whose gradient is 1 whatever comes."""
    tail: Tensor = _OnesInTail.apply(x[..., 8:])  # type: ignore[no-untyped-call]  # untyped in torch
    return torch.cat([rope(x[..., :8], positions), tail], dim=-1)


class _Cache:
    """Frequencies that are learned in name, and a table that keeps their graph."""

    def __init__(self) -> None:
        self.scale = torch.ones((), requires_grad=True)
        self.tables: dict[int, Tensor] = {}

    def __call__(self, x: Tensor, positions: Tensor) -> Tensor:
        """Look the angles up."""
        d = x.shape[-1]
        if d not in self.tables:
            self.tables[d] = angles(torch.arange(4096), d) * self.scale
        turned = torch.sign(positions)[..., None] * self.tables[d][positions.abs()]
        return half(x, turned.cos(), turned.sin())


graph_in_the_cache = _Cache()


def autocast_angles(x: Tensor, positions: Tensor) -> Tensor:
    """Multiply positions and frequencies as matrices under autocast."""
    theta = angles(torch.ones(1, dtype=torch.int64), x.shape[-1])[0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        angle = torch.matmul(positions.float()[..., None], theta[None, :]).float()
    return half(x, angle.cos(), angle.sin())


class _Module(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        for d in HEAD_DIMS:
            theta = angles(torch.ones(1, dtype=torch.int64), d)[0]
            self.register_buffer(f"inv_freq_{d}", theta, persistent=False)

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        """Use the buffer in float32."""
        theta = self.get_buffer(f"inv_freq_{x.shape[-1]}").float()
        angle = positions.float()[..., None] * theta
        return half(x, angle.cos(), angle.sin())


buffer_in_bfloat16 = _Module().to(torch.bfloat16)


class _ReadsContiguous(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, positions: Tensor) -> Tensor:  # noqa: ANN401  # the context of torch
        """Rotate."""
        ctx.save_for_backward(positions)
        return rope(x, positions)

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401  # the context of torch
        """Rotate back what lies at the address of the cotangent."""
        (positions,), (c,) = ctx.saved_tensors, cotangents
        if c.untyped_storage().size() >= c.numel() * c.element_size():
            c = c.as_strided(c.shape, torch.empty(c.shape, device="meta").stride())
        return rope(c, -positions), None


def cotangent_read_as_contiguous(x: Tensor, positions: Tensor) -> Tensor:
    """Hand the address of the cotangent to a kernel, and not its strides."""
    y: Tensor = _ReadsContiguous.apply(x, positions)  # type: ignore[no-untyped-call]  # untyped in torch
    return y


def overwrites_x_in_torch(x: Tensor, positions: Tensor) -> Tensor:
    """Write the result into the memory of x."""
    return x.copy_(rope(x, positions)) if not x.requires_grad else rope(x, positions)


def promoted_in_torch(x: Tensor, positions: Tensor) -> Tensor:
    """Multiply by a table in float32 and leave it there."""
    return rope(x.float(), positions)
