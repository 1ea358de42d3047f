"""Transforms, tables and memory in torch; imported by a worker only, listed in `frameworks`."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from ropespec.conformance.zoo.torch_parts import half, rope

__all__ = [
    "torch_backward_in_numbers",
    "torch_compiled_path",
    "torch_function",
    "torch_jvp_backwards",
    "torch_map_of_one_row",
    "torch_tables",
    "torch_tables_learned",
    "torch_tables_learned_otherwise",
    "torch_tables_not_conjugated",
    "torch_writes_behind_autograd",
    "torch_writes_into_out",
]


class _Rotation(torch.autograd.Function):
    """A right rotation with all its rules."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, positions: Tensor) -> Tensor:
        """Rotate."""
        return rope(x, positions)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:  # noqa: ANN401  # the context of torch
        """Keep the positions."""
        del output
        ctx.save_for_backward(inputs[1])
        ctx.save_for_forward(inputs[1])

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:  # noqa: ANN401  # the context of torch
        """Turn back."""
        (positions,) = ctx.saved_tensors
        return torch_function(cotangents[0], -positions.long()), None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:  # noqa: ANN401  # the context of torch
        """Turn the tangent."""
        (positions,) = ctx.saved_tensors
        return rope(tangents[0], positions)


def torch_function(x: Tensor, positions: Tensor) -> Tensor:
    """Rotate by a function with rules of its own."""
    y: Tensor = _Rotation.apply(x, positions)  # type: ignore[no-untyped-call]  # untyped in torch
    return y


class _Backwards(_Rotation):
    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:  # noqa: ANN401  # the context of torch
        """Turn the tangent as a cotangent is turned."""
        (positions,) = ctx.saved_tensors
        return rope(tangents[0], -positions)


def torch_jvp_backwards(x: Tensor, positions: Tensor) -> Tensor:
    """Turn the tangent of forward mode by -m."""
    y: Tensor = _Backwards.apply(x, positions)  # type: ignore[no-untyped-call]  # untyped in torch
    return y


class _OneRow(_Rotation):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info: Any, dims: Sequence[int | None], x: Tensor, positions: Tensor) -> Any:  # noqa: ANN401  # of torch
        """Map x alone, with the first of the positions."""
        one = positions if dims[1] is None else positions.select(dims[1], 0)
        many = x.expand(info.batch_size, *x.shape) if dims[0] is None else x.movedim(dims[0], 0)
        return torch.stack([torch_map_of_one_row(item, one) for item in many]), 0


def torch_map_of_one_row(x: Tensor, positions: Tensor) -> Tensor:
    """Forget under vmap that positions are mapped."""
    y: Tensor = _OneRow.apply(x, positions)  # type: ignore[no-untyped-call]  # untyped in torch
    return y


class _Numbers(_Rotation):
    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:  # noqa: ANN401  # the context of torch
        """Turn back the values of the cotangent."""
        (positions,) = ctx.saved_tensors
        return rope(cotangents[0].detach(), -positions), None


def torch_backward_in_numbers(x: Tensor, positions: Tensor) -> Tensor:
    """Return gradients that have no history."""
    y: Tensor = _Numbers.apply(x, positions)  # type: ignore[no-untyped-call]  # untyped in torch
    return y


def torch_compiled_path(x: Tensor, positions: Tensor) -> Tensor:
    """Count tokens from 0 where the compiler looks."""
    if torch.compiler.is_compiling():
        return rope(x, torch.arange(positions.shape[-1]).expand(positions.shape))
    return rope(x, positions)


def torch_writes_behind_autograd(x: Tensor, positions: Tensor, out: Tensor | None = None) -> Tensor:
    """Write into out where autograd does not see it."""
    y = rope(x, positions)
    if out is None:
        return y
    _fit(x, out)
    out.data.copy_(y)
    return out


def torch_writes_into_out(x: Tensor, positions: Tensor, out: Tensor | None = None) -> Tensor:
    """Copy into out, which autograd records."""
    y = rope(x, positions)
    if out is None:
        return y
    _fit(x, out)
    return out.copy_(y)


def _fit(x: Tensor, out: Tensor) -> None:
    if out.shape != x.shape or out.dtype != x.dtype or 0 in out.stride():
        raise ValueError("out does not fit x")


def _by_tables(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn as many components as the tables are wide, in float32."""
    r = 2 * cos.shape[-1]
    return torch.cat([half(x[..., :r], cos.float(), sin.float()), x[..., r:]], dim=-1)


def _detached(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return _by_tables(x, cos.detach(), sin.detach())


class _Tables(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:  # noqa: ANN401  # the context of torch
        """Turn."""
        ctx.save_for_backward(cos, sin)
        return _by_tables(x, cos, sin)

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:  # noqa: ANN401  # the context of torch
        """Turn forward once more."""
        return _by_tables(cotangents[0], *ctx.saved_tensors), None, None


def _not_conjugated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    y: Tensor = _Tables.apply(x, cos, sin)  # type: ignore[no-untyped-call]  # untyped in torch
    return y


def _otherwise(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn; the gradient of sin has the wrong sign."""
    return _by_tables(x, cos, 2 * sin.detach() - sin)


torch_tables = SimpleNamespace(apply_rotary_cos_sin=_detached)
torch_tables_learned = SimpleNamespace(apply_rotary_cos_sin=_by_tables)
torch_tables_learned_otherwise = SimpleNamespace(apply_rotary_cos_sin=_otherwise)
torch_tables_not_conjugated = SimpleNamespace(apply_rotary_cos_sin=_not_conjugated)
