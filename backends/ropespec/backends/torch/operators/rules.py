"""What tracing, autograd and vmap know of the operators.

The rotation is linear in x, so its gradient is the operator itself, turning the other way (ROT-20),
and can be differentiated again. No gradient reaches positions, turns or tables.
"""

from collections.abc import Callable
from typing import Any

import torch

from ropespec.backends.torch.operators.define import LIBRARY, OPERATORS

__all__ = ["linear", "register"]

Operator = Callable[..., torch.Tensor]
Dims = tuple[int | None, ...]
Arguments = tuple[torch.Tensor, ...]


class Linear(torch.autograd.Function):
    """An operator with forward-mode derivatives, which registered operators cannot have."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        operator: Operator,
        x: torch.Tensor,
        a: torch.Tensor,
        b: torch.Tensor,
        interleaved: bool,
        inverse: bool,
    ) -> torch.Tensor:
        """Call the operator."""
        return operator(x, a, b, interleaved=interleaved, inverse=inverse)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:  # noqa: ANN401, ARG004  # torch's own
        """Keep what the operator takes beside x."""
        ctx.operator, _, a, b, ctx.interleaved, ctx.inverse = inputs
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN401  # torch's own
        """Turn the cotangent the other way."""
        (cotangent,) = cotangents
        turned = linear(
            ctx.operator,
            cotangent,
            *ctx.saved_tensors,
            interleaved=ctx.interleaved,
            inverse=not ctx.inverse,
        )
        return None, turned, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> torch.Tensor:  # noqa: ANN401  # torch's own
        """Turn the tangent of x."""
        return linear(
            ctx.operator,
            tangents[1],
            *ctx.saved_tensors,
            interleaved=ctx.interleaved,
            inverse=ctx.inverse,
        )


def linear(
    operator: Operator,
    x: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    interleaved: bool,
    inverse: bool,
) -> torch.Tensor:
    """Call an operator so that forward mode and `torch.func` can differentiate it in any order."""
    turned: torch.Tensor = Linear.apply(operator, x, a, b, interleaved, inverse)  # type: ignore[no-untyped-call]  # torch's own
    return turned


def register() -> None:
    """Register the rules of every operator; importing the package does it once."""
    for name in OPERATORS:
        axes = {"rotate_positions": (2, None), "rotate_tables": (1, 1)}[name]
        full = f"ropespec::{name}"
        operators = torch.ops.ropespec
        torch.library.register_fake(full, _like_x, lib=LIBRARY)
        torch.library.register_autograd(
            full, _gradient(getattr(operators, name)), setup_context=_save, lib=LIBRARY
        )
        torch.library.register_vmap(full, _mapped(getattr(operators, name), axes), lib=LIBRARY)
        for suffix, written in (("_", 0), ("_out", 3)):
            torch.library.register_fake(full + suffix, _nothing, lib=LIBRARY)
            mapped = _mapped(getattr(operators, name + suffix), axes, written)
            torch.library.register_vmap(full + suffix, mapped, lib=LIBRARY)


def _like_x(x: torch.Tensor, *_arguments: torch.Tensor, **_flags: bool) -> torch.Tensor:
    return torch.empty_like(x)


def _nothing(*_arguments: torch.Tensor, **_flags: bool) -> None:
    return None


def _save(
    ctx: Any,  # noqa: ANN401  # torch's own
    inputs: Arguments,
    keyword_only_inputs: dict[str, bool],
    output: torch.Tensor,  # noqa: ARG001  # torch passes it by name
) -> None:
    ctx.save_for_backward(*inputs[1:])
    ctx.flags = keyword_only_inputs


def _gradient(operator: Operator) -> Callable[..., tuple[torch.Tensor | None, ...]]:
    def backward(ctx: Any, cotangent: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN401  # torch's own
        interleaved, inverse = ctx.flags["interleaved"], ctx.flags["inverse"]
        turned = operator(
            cotangent, *ctx.saved_tensors, interleaved=interleaved, inverse=not inverse
        )
        return turned, None, None

    return backward


def _mapped(
    operator: Operator, axes: tuple[int | None, ...], written: int | None = None
) -> Callable[..., tuple[torch.Tensor | None, int | None]]:
    """Return the operator over one more leading axis, which every form takes as a batch axis.

    `axes` says of each argument beside x how many axes fewer than x it has, None for one that
    cannot be mapped over; `written` is the argument that the operator writes to.
    """

    def mapped(
        info: Any,  # noqa: ANN401  # torch's own
        in_dims: Dims,
        *arguments: torch.Tensor,
        **flags: bool,
    ) -> tuple[torch.Tensor | None, int | None]:
        if written is not None and in_dims[written] is None:
            msg = "vmap: a rotation in place needs the mapped axis in the tensor that it writes to"
            raise RuntimeError(msg)
        if any(d is not None and n is None for d, n in zip(in_dims[1:3], axes, strict=True)):
            msg = "vmap: turns cannot be mapped over"
            raise RuntimeError(msg)
        x = arguments[0]
        rank = x.ndim - (in_dims[0] is not None)
        ranks = (rank, *(0 if n is None else rank - n for n in axes), rank)
        moved = [
            value if d is None else _lead(value, d, n)
            for value, d, n in zip(arguments, in_dims, ranks, strict=False)
        ]
        if in_dims[0] is None:
            moved[0] = x.expand(info.batch_size, *x.shape)
        return operator(*moved, **flags), (0 if written is None else None)

    return mapped


def _lead(value: torch.Tensor, dim: int, rank: int) -> torch.Tensor:
    """Move axis `dim` to the front, `rank` axes before the end; the result is a view."""
    value = value.movedim(dim, 0)
    return value[(slice(None), *[None] * (rank + 1 - value.ndim))]
