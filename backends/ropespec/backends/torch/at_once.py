"""The commonest calls on a CPU, turned sooner than all that might be wrong with them is ruled out.

What follows from dtypes, shapes, strides and options is found out once for all calls that look
alike. When in doubt, a call is none of these, and the checks take their time.
"""

import functools
from typing import NamedTuple, TypeAlias, TypeGuard

import torch
from torch._C import _are_functorch_transforms_active as _transforms
from torch._C import _get_tracing_state as _tracing
from torch._C import _len_torch_dispatch_stack as _modes
from torch._C._functorch import is_legacy_batchedtensor as _older
from torch.autograd import forward_ad
from torch.compiler import is_compiling

from ropespec.backends.cpu.plan import Given, Plan, plan_of
from ropespec.backends.cpu.rotate import Turns, rotate, turns_of
from ropespec.backends.glance import is_plainly_apart
from ropespec.backends.torch import kernel
from ropespec.backends.torch.outputs import changed, reach
from ropespec.spec.arguments import (
    ArrayFacts,
    check_base,
    check_positions_fit,
    check_rotary_dim,
    check_tables,
)
from ropespec.spec.errors import ArgumentError, dtype_name

__all__ = ["turn_at_once"]

Form: TypeAlias = tuple[torch.dtype, tuple[int, ...], tuple[int, ...]]
"""dtype, shape and strides."""

Scale: TypeAlias = tuple[float, int | None]
"""The base and `rotary_dim`."""


class Look(NamedTuple):
    """What is the same for all calls that look alike.

    Attributes
    ----------
    plan : Plan
        How the rotation is cut.
    turns : Turns or None
        What positions are multiplied by.
    out, x, given, sin : int
        Bytes from the first element to the end of the last; 0 where there is no tensor.
    """

    plan: Plan
    turns: Turns | None
    out: int
    x: int
    given: int
    sin: int


def turn_at_once(
    x: object,
    given: object,
    other: object,
    *,
    interleaved: object,
    out: object,
) -> torch.Tensor | None:
    """Turn arguments of which nothing is known yet, if they are plainly right.

    `given` and `other` are positions and a tuple of the base and `rotary_dim`, or cos and sin.

    None is returned, and nothing is done, unless all are tensors on a CPU with a kernel, no
    gradient is recorded, nothing else looks on, and `out` is `x` or lies apart from all arguments.
    """
    # A compiler follows this as far as here.
    if is_compiling() or not (_is_plain(x) and _is_plain(given) and type(interleaved) is bool):
        return None
    more = _more(other)
    if more is None or x.requires_grad or _is_watched() or not kernel.has_kernel():
        return None
    if out is None:
        target = torch.empty_like(x)
    elif out is x or (_is_plain(out) and not out.requires_grad):
        target = out
    else:
        return None
    look = _look(_form(x), _form(target), _form(given), more, interleaved, out is not None)
    if look is None:
        return None
    source, start, first = x.data_ptr(), target.data_ptr(), given.data_ptr()
    second = other.data_ptr() if isinstance(other, torch.Tensor) else 0
    if out is not None and _reaches(look, start, 0 if out is x else source, first, second):
        return None
    rotate(look.plan, source, start, first, look.turns or second, kernel.team)
    if out is not None:
        changed(target)
    return target


def _reaches(look: Look, out: int, x: int, given: int, sin: int) -> bool:
    """Tell whether `out` has memory of an argument in part; an address of 0 is of none."""
    end = out + look.out
    return (
        (given < end and out < given + look.given)
        or (sin < end and out < sin + look.sin)
        or (x < end and out < x + look.x)
    )


def _is_plain(tensor: object) -> TypeGuard[torch.Tensor]:
    """Tell whether this is a tensor of no subclass, on a CPU, and as its memory has it."""
    if type(tensor) is not torch.Tensor:
        return False
    return tensor.is_cpu and not (tensor.is_neg() or _older(tensor))


def _more(other: object) -> Form | Scale | None:
    """Return what `_look` is to know of it; numbers are of their types, for 1e4 equals others."""
    if type(other) is tuple:
        base, dim = other
        return other if type(base) is float and (dim is None or type(dim) is int) else None
    return _form(other) if _is_plain(other) else None


def _is_watched() -> bool:
    """Tell whether anything but autograd looks on."""
    forward = forward_ad._current_level  # noqa: SLF001  # torch tells it nowhere else
    return _transforms() or _modes() > 0 or _tracing() is not None or forward >= 0


def _form(tensor: torch.Tensor) -> Form:
    return tensor.dtype, tensor.shape, tensor.stride()


@functools.lru_cache(maxsize=1024)
def _look(
    x: Form, out: Form, given: Form, other: Form | Scale, interleaved: bool, reused: bool
) -> Look | None:
    """Return what is the same for all such calls, or None where the checks do not allow them."""
    (dtype, shape, strides), (kind, rows, steps) = x, given
    if dtype not in kernel.NAMES or len(shape) < 3 or out[:2] != x[:2]:
        return None
    if not is_plainly_apart(*out[1:]):
        return None
    turns, sin = None, 0
    try:
        if len(other) == 3:
            check_tables(_facts(given), _facts(other), _facts(x))
            pairs, sin = rows[-1], reach(*other)
            look: Given = kernel.NAMES[kind], rows[:-1], steps, other[2]
        elif kind is torch.int64:
            base, dim = other
            check_positions_fit(_facts(given), shape[:-2])
            turns = turns_of(check_rotary_dim(dim, shape[-1]), check_base(base))
            pairs, look = turns.pairs, ("int64", rows, steps, ())
        else:
            return None
    except ArgumentError:
        return None
    cut = kernel.NAMES[dtype], shape, strides, out[2], look, 0, pairs
    plan = plan_of(*cut, interleaved, False, reused)
    return Look(plan, turns, reach(*out), reach(*x), reach(*given), sin)


def _facts(form: Form) -> ArrayFacts:
    dtype, shape, _ = form
    return ArrayFacts(tuple(shape), dtype_name(dtype))
