"""The rotation by given cos and sin, in the form that suits who is looking.

Large tensors on the CPU are turned block by block inside one autograd function. Small ones,
subclasses, other devices, and what a compiler or tracer sees are turned by ordinary operations,
which give the same bits; of neighbouring pairs in a large tensor a compiler would make a loop
slower than the blocks, so it gets them as one operator.
"""

from typing import Any

import torch

from ropespec.backends.torch.arrays import arithmetic
from ropespec.backends.torch.blocks import turn_blocks
from ropespec.backends.torch.composite import by_row, fusible, small
from ropespec.backends.torch.outputs import is_recorded
from ropespec.backends.torch.tables import is_plain, runs_blocks, wide_row

__all__ = ["turn", "turn_into", "turn_token"]

LARGE = 2**18
"""Elements from which on blocks are faster than ordinary operations."""


def turn(
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    *,
    interleaved: bool,
    inverse: bool = False,
) -> torch.Tensor:
    """R_m x for checked arguments; differentiable in `x`, and never in the tables.

    Parameters
    ----------
    x : torch.Tensor of float, shape (..., S, H, D)
        Read only.
    cos, sin : torch.Tensor of float32, or float64 for float64 x
        Broadcastable to (..., S, r/2); on the device of `x`.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    inverse : bool
        Turn by the opposite angle: the adjoint (ROT-20).

    Returns
    -------
    torch.Tensor, shape, dtype and device of `x`
        A new tensor.
    """
    if cos.requires_grad or sin.requires_grad:
        cos, sin = cos.detach(), sin.detach()
    compiling = torch.compiler.is_compiling()  # first: a size that is looked at is compiled in
    if compiling and interleaved and _stays_whole(x):
        from ropespec.backends.torch import operators  # noqa: PLC0415  # loaded by who compiles

        return operators.rotate_tables(x, cos, sin, interleaved=True, inverse=inverse)
    if not compiling and x.numel() >= LARGE and runs_blocks(x):
        options = (interleaved, inverse, False)
        return _Turn.apply(x, cos, sin, *options)  # type: ignore[no-any-return, no-untyped-call]  # torch declares no types for it
    if inverse:
        sin = -sin
    form = fusible if compiling else small
    return form(x, cos, sin, interleaved=interleaved)


def turn_token(
    x: torch.Tensor,
    positions: Any,  # noqa: ANN401  # a tensor or an array
    base: float,
) -> torch.Tensor | None:
    """R_m x in the half-split layout, all components, for a token in generation.

    Parameters
    ----------
    x : torch.Tensor of float, shape (..., S, H, D)
        Read only.
    positions : tensor or array of int
        Checked.
    base : float
        Above 1.

    Returns
    -------
    torch.Tensor, shape, dtype and device of `x`, or None
        None where it is no such token, and `turn` is to be asked.
    """
    row = wide_row(x, positions, x.shape[-1], base, arithmetic(x.dtype))
    return None if row is None or x.numel() >= LARGE else by_row(x, *row)


def turn_into(
    out: torch.Tensor, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, *, interleaved: bool
) -> torch.Tensor:
    """Write R_m x into `out` and return it; both and the tables are checked.

    Parameters
    ----------
    out : torch.Tensor
        `x` itself, or a tensor like it of other memory, which takes no gradient.
    x, cos, sin, interleaved
        As in `turn`.

    Returns
    -------
    torch.Tensor
        `out`.
    """
    if is_plain(out, cos, sin) and x.numel() >= LARGE and runs_blocks(x):
        if is_recorded(x):
            return _Turn.apply(x, cos, sin, interleaved, False, True)  # type: ignore[no-any-return, no-untyped-call]  # as above
        with torch.no_grad():
            turn_blocks(x, cos, sin, out, interleaved=interleaved)
        return out
    if torch.compiler.is_compiling() and interleaved and _stays_whole(x) and not is_recorded(x):
        from ropespec.backends.torch import operators  # noqa: PLC0415  # as above

        return operators.rotate_tables(x, cos, sin, interleaved=True, inverse=False, out=out)
    return out.copy_(turn(x, cos, sin, interleaved=interleaved))


def _stays_whole(x: torch.Tensor) -> bool:
    """Whether compiled code is to call an operator for `x`; exported code is to need none.

    A size is looked at last, for what is looked at is compiled in; one that depends on data counts
    as small.
    """
    if torch.compiler.is_exporting() or not x.is_cpu:
        return False
    from torch.fx.experimental.symbolic_shapes import (  # noqa: PLC0415  # a compiler has loaded it
        guard_or_false,
    )

    return guard_or_false(x.numel() >= LARGE)


class _Turn(torch.autograd.Function):
    """The blocks with their derivatives; of x nothing is saved, of the tables all."""

    @staticmethod
    def forward(
        x: torch.Tensor,
        cos: torch.Tensor,
        sin: torch.Tensor,
        interleaved: bool,
        inverse: bool,
        in_place: bool,
    ) -> torch.Tensor:
        out = x if in_place else torch.empty_like(x)
        turn_blocks(x, cos, -sin if inverse else sin, out, interleaved=interleaved)
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:  # noqa: ANN401  # torch adds attributes
        _, cos, sin, ctx.interleaved, ctx.inverse, ctx.in_place = inputs
        if ctx.in_place:
            ctx.mark_dirty(output)
        ctx.save_for_backward(cos, sin)
        ctx.save_for_forward(cos, sin)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN401  # as above
        cos, sin = ctx.saved_tensors
        back = turn(gradient, cos, sin, interleaved=ctx.interleaved, inverse=not ctx.inverse)
        return back, None, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: torch.Tensor, *_: object) -> torch.Tensor:  # noqa: ANN401  # as above
        cos, sin = ctx.saved_tensors
        turned = turn(tangent, cos, sin, interleaved=ctx.interleaved, inverse=ctx.inverse)
        return tangent.copy_(turned) if ctx.in_place else turned

    @staticmethod
    def vmap(
        info: Any,  # noqa: ANN401  # torch names no type
        in_dims: tuple[int | None, ...],
        x: torch.Tensor,
        cos: torch.Tensor,
        sin: torch.Tensor,
        interleaved: bool,
        inverse: bool,
        in_place: bool,
    ) -> tuple[torch.Tensor, int]:
        assert not in_place, "only plain tensors are turned in place by blocks"
        axis, *table_axes = in_dims[:3]
        x = x.expand(info.batch_size, *x.shape) if axis is None else x.movedim(axis, 0)
        cos, sin = (
            _batched(table, at, x.ndim - 1)
            for table, at in zip((cos, sin), table_axes, strict=True)
        )
        return turn(x, cos, sin, interleaved=interleaved, inverse=inverse), 0


def _batched(table: torch.Tensor, axis: int | None, ndim: int) -> torch.Tensor:
    """Bring a table's batch axis to the front of `ndim` axes; without one it broadcasts."""
    if axis is None:
        return table
    table = table.movedim(axis, 0)
    missing = ndim - table.ndim
    return table.reshape(table.shape[0], *[1] * missing, *table.shape[1:])
