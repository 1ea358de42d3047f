"""Whether a result may be written where the caller wants it (ROT-23)."""

import numpy as np
import torch

from ropespec.backends.torch.arrays import check_array
from ropespec.backends.torch.turns import is_plain
from ropespec.spec.arguments import check_out, facts, refuse_overlap
from ropespec.spec.errors import ArgumentValueError

__all__ = ["check_output", "is_recorded"]

_transforms = torch._C._are_functorch_transforms_active  # noqa: SLF001  # torch tells it nowhere else


def check_output(out: object, x: torch.Tensor, *others: object) -> None:
    """Require `out` to be `x` itself or a tensor like it that shares no memory.

    While gradients are recorded, only an `x` that is the result of something may be overwritten,
    and only by itself. Where there are no addresses, as while a compiler traces the call, none are
    compared.

    Parameters
    ----------
    out : object
        What the caller passed.
    x : torch.Tensor
        Checked.
    *others : object
        What `out` must not overlap: positions or tables.

    Raises
    ------
    ArgumentTypeError
        If `out` is no tensor of the dtype of `x`.
    ArgumentValueError
        If its shape or device is another, it overlaps, or autograd would lose the rotation.
    """
    if _clearly_fits(out, x, others):
        return
    if out is not x:
        _check_like(out, x)
    assert isinstance(out, torch.Tensor)
    if torch.is_grad_enabled() and (x.requires_grad or out.requires_grad):
        _check_recorded(out, x)
    if out.is_meta or not is_plain(x, out) or out.numel() == 0:
        return
    if out is not x and (out.data_ptr() != x.data_ptr() or out.stride() != x.stride()):
        others = (*others, x)
    if _overlaps_itself(out) or _overlaps(out, others):
        refuse_overlap(out)


def is_recorded(x: torch.Tensor) -> bool:
    """Whether autograd records what is done to `x`."""
    return x.requires_grad and torch.is_grad_enabled()


def _check_like(out: object, x: torch.Tensor) -> None:
    if type(out) is not torch.Tensor:
        check_array("out", out)
    assert isinstance(out, torch.Tensor)
    if out.dtype != x.dtype or out.shape != x.shape:
        check_out(out, facts(x))
    if out.device != x.device:
        raise ArgumentValueError("out", f"on the device of x, {x.device}", out)


def _check_recorded(out: torch.Tensor, x: torch.Tensor) -> None:
    if out is not x:
        must = "x itself, or left out, while gradients are recorded"
        raise ArgumentValueError("out", must, out)
    if torch.compiler.is_compiling():
        return
    root = x if x._base is None else x._base  # noqa: SLF001  # of which x is a view
    if root.is_leaf and root.requires_grad:
        must = "no leaf that requires a gradient, nor a view of one, while gradients are recorded"
        raise ArgumentValueError("out", must, out)


def _clearly_fits(out: object, x: torch.Tensor, others: tuple[object, ...]) -> bool:
    """Whether the commonest `out` is plainly right: on a CPU, in one piece, apart from all else."""
    if (
        type(out) is not torch.Tensor
        or torch.compiler.is_compiling()
        or not (out.is_cpu and out.is_contiguous() and x.is_cpu and x.is_contiguous())
        or out.dtype is not x.dtype
        or out.shape != x.shape
        or x.requires_grad
        or out.requires_grad
        or _transforms()
    ):
        return False
    start = out.data_ptr()
    end = start + out.nbytes
    for other in others if out is x else (*others, x):
        if type(other) is not torch.Tensor or not other.is_contiguous():
            return False
        first = other.data_ptr()
        if first < end and start < first + other.nbytes:
            return False
    return True


def _overlaps(out: torch.Tensor, others: tuple[object, ...]) -> bool:
    """Whether `out` shares an element with another array; by address alone, on any device."""
    start = out.data_ptr()
    end = start + _reach(out)
    for other in others:
        if isinstance(other, torch.Tensor):
            first = other.data_ptr()
            near = first < end and start < first + _reach(other)
            if near and out.device == other.device and np.shares_memory(_Bytes(out), _Bytes(other)):
                return True
        elif isinstance(other, np.ndarray) and out.is_cpu and np.shares_memory(_Bytes(out), other):
            return True
    return False


def _reach(tensor: torch.Tensor) -> int:
    """Return how many bytes there are from the first element to the end of the last."""
    if tensor.is_contiguous():
        return tensor.nbytes
    reach = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    return (reach + 1) * tensor.itemsize if tensor.numel() else 0


def _overlaps_itself(out: torch.Tensor) -> bool:
    """Whether two indices may name one element: steps that are not each longer than all before."""
    if out.is_contiguous():
        return False
    reach = 0
    for stride, length in sorted(zip(out.stride(), out.shape, strict=True)):
        if length > 1:
            if stride <= reach:
                return True
            reach += (length - 1) * stride
    return False


class _Bytes:
    """The memory of a tensor as NumPy would see it; it is never read."""

    def __init__(self, tensor: torch.Tensor) -> None:
        size = tensor.itemsize
        self.__array_interface__ = {
            "version": 3,
            "data": (tensor.data_ptr(), True),
            "shape": tuple(tensor.shape),
            "strides": tuple(s * size for s in tensor.stride()),
            "typestr": f"|V{size}",
        }
