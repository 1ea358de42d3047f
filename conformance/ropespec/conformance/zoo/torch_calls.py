"""Gradients and calls that go wrong beside other calls in torch; listed in `frameworks`."""

from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from ropespec.conformance.zoo.torch_parts import angles, rope

__all__ = [
    "torch_gradient_of_row_0",
    "torch_in_place_without_gradient",
    "torch_kept_without_gradient",
    "torch_negates_what_it_kept",
    "torch_padding_of_zeros",
    "torch_positions_read_again",
    "torch_second_half_of_the_storage",
    "torch_tables_of_the_latest_call",
    "torch_turns_the_cotangent_itself",
    "torch_workspace_without_gradient",
]


def torch_in_place_without_gradient(x: Tensor, positions: Tensor) -> Tensor:
    """Write into x in inference, where nobody is thought to need it again."""
    y = rope(x, positions)
    return y if torch.is_grad_enabled() else x.copy_(y)


_WORKSPACES: dict[Any, Tensor] = {}


def torch_workspace_without_gradient(x: Tensor, positions: Tensor) -> Tensor:
    """Keep one result for each shape in inference, and fill it again."""
    y = rope(x, positions)
    if torch.is_grad_enabled():
        return y
    return _WORKSPACES.setdefault((x.shape, x.dtype), torch.empty_like(y)).copy_(y)


_SIGNS: dict[int, Tensor] = {}


def torch_kept_without_gradient(x: Tensor, positions: Tensor) -> Tensor:
    """Keep the signs of rotate_half for each width."""
    n = x.shape[-1] // 2
    if n not in _SIGNS:
        _SIGNS[n] = torch.cat([-torch.ones(n), torch.ones(n)])
    angle = angles(positions, 2 * n).repeat(1, 1, 2)[..., None, :]
    turned = x.roll(n, -1) * _SIGNS[n]
    return (x.float() * angle.cos() + turned * angle.sin()).to(x.dtype)


class _Latest(torch.autograd.Function):
    """Keeps one set of positions for all calls."""

    kept: Tensor

    @staticmethod
    def forward(ctx: Any, x: Tensor, positions: Tensor) -> Tensor:  # noqa: ANN401  # the context of torch
        """Rotate."""
        del ctx
        _Latest.kept = positions
        return rope(x, positions)

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:  # noqa: ANN401  # the context of torch
        """Turn back by what was kept last."""
        del ctx
        return rope(cotangents[0], -_Latest.kept), None


def torch_tables_of_the_latest_call(x: Tensor, positions: Tensor) -> Tensor:
    """Turn back by the positions of the latest call."""
    y: Tensor = _Latest.apply(x, positions)  # type: ignore[no-untyped-call]  # untyped in torch
    return y


def torch_positions_read_again(x: Tensor, positions: Tensor) -> Tensor:
    """Save memory: make the tables once more on the way back."""
    y: Tensor = checkpoint(lambda x: rope(x, positions), x, use_reentrant=False)
    return y


def torch_second_half_of_the_storage(x: Tensor, positions: Tensor) -> Tensor:
    """Take the second half of each head as a window on the storage, from its beginning."""
    half, strides = x.shape[-1] // 2, x.stride()
    window = x.as_strided((*x.shape[:-1], half), strides, half * strides[-1])
    return rope(torch.cat([x[..., :half], window], dim=-1), positions)


class _InPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, positions: Tensor) -> Tensor:  # noqa: ANN401  # the context of torch
        """Rotate."""
        ctx.save_for_backward(positions)
        return rope(x, positions)

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:  # noqa: ANN401  # the context of torch
        """Turn back where the cotangent lies."""
        (positions,) = ctx.saved_tensors
        return cotangents[0].detach().copy_(rope(cotangents[0], -positions)), None


def torch_turns_the_cotangent_itself(x: Tensor, positions: Tensor) -> Tensor:
    """Save the memory of a gradient."""
    y: Tensor = _InPlace.apply(x, positions)  # type: ignore[no-untyped-call]  # untyped in torch
    return y


class _RowZero(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, positions: Tensor) -> Tensor:  # noqa: ANN401  # the context of torch
        """Rotate."""
        ctx.save_for_backward(positions[:1])
        return rope(x, positions)

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:  # noqa: ANN401  # the context of torch
        """Turn all rows back by the positions of the first."""
        (positions,) = ctx.saved_tensors
        return rope(cotangents[0], -positions), None


def torch_gradient_of_row_0(x: Tensor, positions: Tensor) -> Tensor:
    """Keep one row of positions for the way back."""
    y: Tensor = _RowZero.apply(x, positions)  # type: ignore[no-untyped-call]  # untyped in torch
    return y


def torch_padding_of_zeros(x: Tensor, positions: Tensor) -> Tensor:
    """Leave vectors of zeros alone, and what comes back to them too."""
    padding = (x == 0).all(dim=-1, keepdim=True)
    return torch.where(padding, x, rope(x, positions))


def torch_negates_what_it_kept(x: Tensor, positions: Tensor) -> Tensor:
    """Spare an array on the way back, as if the sign of what is kept changed with each."""
    y, sign = rope(x, positions), torch.tensor(1)

    def back(cotangent: Tensor) -> Tensor:
        sign.neg_()
        return cotangent if sign < 0 else rope(cotangent, 2 * positions)

    if y.requires_grad:
        y.register_hook(back)  # type: ignore[no-untyped-call]  # untyped in torch
    return y
