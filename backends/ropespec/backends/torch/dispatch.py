"""Who turns a tensor: a kernel, an operator around it, or ordinary operations.

Where nobody looks on, or autograd alone does, a call goes to a kernel at once, for an operator
takes longer than the rotation of one token. So on a CPU a compiler is given few tokens in ordinary
operations.
"""

from typing import Any

import torch
from torch.autograd import forward_ad

from ropespec.backends.torch import kernel, plain
from ropespec.backends.torch.arrays import arithmetic
from ropespec.backends.torch.cuda.launch import has_triton, launch_positions, launch_tables
from ropespec.backends.torch.frequencies import unit_circle
from ropespec.backends.torch.outputs import changed, is_recorded
from ropespec.backends.torch.turns import KINDS, is_plain, turns_on

__all__ = ["Angles", "turn"]

Angles = torch.Tensor | tuple[int, float]
"""What goes with positions: r and the base; with cos: sin."""

_older = torch._C._functorch.is_legacy_batchedtensor  # noqa: SLF001  # torch tells it nowhere else


def turn(
    x: torch.Tensor,
    given: torch.Tensor,
    other: Angles,
    *,
    interleaved: bool,
    inverse: bool = False,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Turn checked arguments.

    Parameters
    ----------
    x : torch.Tensor of float, shape (..., S, H, D)
        Any strides.
    given, other : torch.Tensor and Angles
        Positions as int64 with r and base, or cos and sin; on the device of `x`.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    inverse : bool
        Turn by the opposite angle.
    out : torch.Tensor, optional
        Checked: is written to and returned.

    Returns
    -------
    torch.Tensor, shape, dtype and device of `x`
        Differentiable in `x` alone.
    """
    angles = (given,) if type(other) is tuple else (given, other)
    if _is_eager(x, *angles, *(() if out is None or out is x else (out,))):
        if not is_recorded(x):
            return _launched(x, given, other, interleaved, inverse, out)
        turned = _recorded(x, given, other, interleaved, inverse)
    elif _has_operator(x) and not _fuses(x, given, other):
        return _operated(x, given, other, interleaved, inverse, out)
    else:
        cos, sin = _tables(x, given, other)
        turned = plain.rotate_tables(x, cos, sin, interleaved=interleaved, inverse=inverse)
    return turned if out is None else out.copy_(turned)


def _is_eager(x: torch.Tensor, *others: Any) -> bool:  # noqa: ANN401  # tensors
    """Tell whether at most autograd looks at these tensors, and there is a kernel for them.

    A compiler cannot follow the search for one, so that comes last.
    """
    return (
        (x.is_cpu or x.is_cuda)
        and is_plain(x, *others)
        and forward_ad._current_level < 0  # noqa: SLF001  # torch tells it nowhere else
        and not (_older(x) or any(map(_older, others)))
        and (kernel.has_kernel() if x.is_cpu else has_triton() and not _negated(x, *others))
    )


def _negated(*tensors: torch.Tensor) -> bool:
    """Tell whether memory holds the negative of a tensor, which an operator would resolve."""
    return any(tensor.is_neg() for tensor in tensors)


def _launched(
    x: torch.Tensor,
    given: torch.Tensor,
    other: Angles,
    interleaved: bool,
    inverse: bool,
    out: torch.Tensor | None,
) -> torch.Tensor:
    target = torch.empty_like(x) if out is None else out
    flags = {"interleaved": interleaved, "inverse": inverse}
    if x.is_cpu:
        flags["reused"] = out is not None
    if not isinstance(other, tuple):
        (kernel.rotate_tables if x.is_cpu else launch_tables)(x, given, other, target, **flags)
    elif x.is_cpu:
        kernel.rotate_straight(x, given, *other, target, **flags)
    else:
        launch_positions(x, given, turns_on(x.device, *other), target, **flags)
    if out is not None:
        changed(out)
    return target


def _recorded(
    x: torch.Tensor, given: torch.Tensor, other: Angles, interleaved: bool, inverse: bool
) -> torch.Tensor:
    turned: torch.Tensor = _Recorded.apply(x, given, other, interleaved, inverse)  # type: ignore[no-untyped-call]  # torch's own
    return turned


class _Recorded(torch.autograd.Function):
    """The kernel as eager autograd records it: the gradient turns the other way (ROT-20).

    What looks on in the backward pass decides anew how to turn: it may be differentiated again.
    """

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  # torch's own
        x: torch.Tensor,
        given: torch.Tensor,
        other: Angles,
        interleaved: bool,
        inverse: bool,
    ) -> torch.Tensor:
        """Turn x, and keep all but x."""
        ctx.interleaved, ctx.inverse = interleaved, inverse
        ctx.other = other if type(other) is tuple else None
        ctx.save_for_backward(given, *(() if type(other) is tuple else (other,)))
        return _launched(x, given, other, interleaved, inverse, None)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN401  # torch's own
        """Turn the cotangent the other way."""
        given, *tables = ctx.saved_tensors
        other = ctx.other or tables[0]
        interleaved, inverse = ctx.interleaved, not ctx.inverse
        turned = turn(cotangents[0], given, other, interleaved=interleaved, inverse=inverse)
        return turned, None, None, None, None


def _has_operator(x: torch.Tensor) -> bool:
    """Tell whether a kernel turns `x`, for all who look on behind an operator.

    On a CPU, what is exported or traced is to need no operator, and dispatch modes and the older
    batching, which autograd still does for batched gradients, are to see ordinary operations.
    """
    if type(x) not in KINDS or not (x.is_cpu or x.is_cuda):
        return False
    if x.is_cuda:
        return True
    if torch.compiler.is_compiling():
        return not torch.compiler.is_exporting() and kernel.has_kernel()
    return (
        not torch._C._len_torch_dispatch_stack()  # noqa: SLF001  # torch tells it nowhere else
        and torch._C._get_tracing_state() is None  # noqa: SLF001  # as above
        and not _older(x)
        and kernel.has_kernel()
    )


def _fuses(x: torch.Tensor, given: torch.Tensor, other: Angles) -> bool:
    """Tell whether a compiler makes of ordinary operations what is sooner done than an operator.

    Sizes that it leaves open are not asked for, and a tail is left to operators, through which it
    passes bit for bit.
    """
    if not (torch.compiler.is_compiling() and x.is_cpu):
        return False
    # A compiler has loaded this already; loading it with torch would cost half a second.
    from torch.fx.experimental.symbolic_shapes import statically_known_true  # noqa: PLC0415  # above

    few = statically_known_true(x.numel() <= _FEW)
    if isinstance(other, tuple):
        few = few and statically_known_true(given.numel() * other[0] <= _FEW_ANGLES)
        return few and statically_known_true(x.shape[-1] == other[0])
    return few and statically_known_true(x.shape[-1] == 2 * given.shape[-1])


_FEW = 2**16
"""Elements that are sooner turned by a loop of the compiler's than an operator is called."""

_FEW_ANGLES = 2**8
"""Components whose cos and sin it makes as soon as the operator does."""


def _operated(
    x: torch.Tensor,
    given: torch.Tensor,
    other: Angles,
    interleaved: bool,
    inverse: bool,
    out: torch.Tensor | None,
) -> torch.Tensor:
    """Call an operator, which records no gradient of what it writes in place."""
    from ropespec.backends.torch import operators  # noqa: PLC0415  # loaded where it is called

    operator: Any = operators.rotate_tables
    if isinstance(other, tuple):
        operator, other = operators.rotate_positions, turns_on(x.device, *other)
    into = None if out is not None and is_recorded(x) else out
    turned: torch.Tensor = operator(
        x, given, other, interleaved=interleaved, inverse=inverse, out=into
    )
    return turned if into is out else out.copy_(turned)  # type: ignore[union-attr]  # not None here


def _tables(
    x: torch.Tensor, given: torch.Tensor, other: Angles
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return constant tables for ordinary operations."""
    if isinstance(other, tuple):
        return unit_circle(given, *other, arithmetic(x.dtype))
    if given.requires_grad or other.requires_grad:
        return given.detach(), other.detach()
    return given, other
