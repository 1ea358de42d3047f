"""The operators as the chapter `rotation` calls them: arguments are checked there."""

from typing import cast

import torch
from torch.autograd import forward_ad

from ropespec.backends.torch import plain
from ropespec.backends.torch.operators.rules import linear

__all__ = ["rotate_positions", "rotate_tables"]


def rotate_positions(
    x: torch.Tensor,
    positions: torch.Tensor,
    turns: torch.Tensor,
    *,
    interleaved: bool,
    inverse: bool,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """R_m x with cos and sin made by exact phase, for each token once (ROT-6, ROT-7; FREQ-9).

    Parameters
    ----------
    x : torch.Tensor of float, shape (..., S, H, D)
        Any strides.
    positions : torch.Tensor of int64
        Broadcasts to x.shape[:-2]; on the device of `x`.
    turns : torch.Tensor of int64, shape (r/2,)
        T_i in units of 2^-64 turn per position; the first r components turn, the others pass
        through bit for bit (ROT-14). On the device of `x`.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    inverse : bool
        Turn by the opposite angle: the adjoint, which is also the inverse.
    out : torch.Tensor, optional
        Written to and returned: `x` itself, or a tensor of its shape and dtype with no memory in
        common with any argument.

    Returns
    -------
    torch.Tensor, shape, dtype and device of `x`
        Differentiable in `x`, unless written to `out`.

    Raises
    ------
    RuntimeError
        If `out` is given where a gradient would be recorded.
    """
    return _call("rotate_positions", x, positions, turns, interleaved, inverse, out)


def rotate_tables(
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    *,
    interleaved: bool,
    inverse: bool,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """R_m x with cos and sin from tables, taken as they are (ROT-22).

    Parameters
    ----------
    cos, sin : torch.Tensor of one floating-point dtype
        Broadcast to x.shape[:-2] + (r/2,); on the device of `x`.
    x, interleaved, out
        As in `rotate_positions`.
    inverse : bool
        Negate sin: the adjoint.

    Returns
    -------
    torch.Tensor, shape, dtype and device of `x`
        Differentiable in `x` alone, unless written to `out`.

    Raises
    ------
    RuntimeError
        If `out` is given where a gradient would be recorded.
    """
    return _call("rotate_tables", x, cos, sin, interleaved, inverse, out)


def _call(
    name: str,
    x: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    interleaved: bool,
    inverse: bool,
    out: torch.Tensor | None,
) -> torch.Tensor:
    operators = torch.ops.ropespec
    if out is None:
        operator = getattr(operators, name).default
        if _transformed():
            if not torch.compiler.is_compiling():
                return linear(operator, x, a, b, interleaved=interleaved, inverse=inverse)
            # A compiler would lose derivatives of an operator here; ordinary operations it fuses.
            operator = getattr(plain, name)
        return cast("torch.Tensor", operator(x, a, b, interleaved=interleaved, inverse=inverse))
    if torch.is_grad_enabled() and (x.requires_grad or out.requires_grad):
        msg = "rotation into out is not differentiable, but x or out requires a gradient"
        raise RuntimeError(msg)
    if _transformed():  # what is written has a derivative only where torch itself writes it
        return out.copy_(_call(name, x, a, b, interleaved, inverse, None))
    if _same(x, out):
        getattr(operators, f"{name}_").default(x, a, b, interleaved=interleaved, inverse=inverse)
    else:
        getattr(operators, f"{name}_out").default(
            x, a, b, out, interleaved=interleaved, inverse=inverse
        )
    return out


def _transformed() -> bool:
    """Tell whether forward-mode derivatives or `torch.func` are at work.

    Registered operators have no part in them; torch tells of them nowhere else.
    """
    active: bool = torch._C._are_functorch_transforms_active()  # noqa: SLF001  # see above
    return active or forward_ad._current_level >= 0  # noqa: SLF001  # see above


def _same(x: torch.Tensor, out: torch.Tensor) -> bool:
    """Tell whether `out` is `x`, or a view of just the same memory where memory is known."""
    if out is x or torch.compiler.is_compiling():
        return out is x
    return x.data_ptr() == out.data_ptr() and x.stride() == out.stride()
