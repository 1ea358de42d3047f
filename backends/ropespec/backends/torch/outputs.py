"""Whether a result may be written where the caller wants it (ROT-23)."""

import numpy as np
import torch

from ropespec.backends.glance import is_plainly_apart
from ropespec.backends.torch.arrays import check_array
from ropespec.backends.torch.turns import is_plain
from ropespec.spec.arguments import check_out, facts, refuse_overlap
from ropespec.spec.errors import ArgumentValueError

__all__ = ["changed", "check_output", "is_recorded", "reach"]

Shape = tuple[int, ...]


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
    if out is not x:
        _check_like(out, x)
    assert isinstance(out, torch.Tensor)
    if torch.is_grad_enabled() and (x.requires_grad or out.requires_grad):
        _check_recorded(out, x)
    if out.is_meta or not is_plain(x, out) or out.numel() == 0:
        return
    if out is not x and (out.data_ptr() != x.data_ptr() or out.stride() != x.stride()):
        others = (*others, x)
    if not is_plainly_apart(out.shape, out.stride()) or _overlaps(out, others):
        refuse_overlap(out)


def is_recorded(x: torch.Tensor) -> bool:
    """Whether autograd records what is done to `x`."""
    return x.requires_grad and torch.is_grad_enabled()


def changed(out: torch.Tensor) -> None:
    """Let autograd see that `out`, which it may have saved, was written to by a kernel."""
    if not out.is_inference():
        torch.autograd.graph.increment_version(out)


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


def reach(dtype: torch.dtype, shape: Shape, strides: Shape) -> int:
    """Return how many bytes there are from the first element to the end of the last."""
    if 0 in shape:
        return 0
    return (sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + 1) * dtype.itemsize


def _reach(tensor: torch.Tensor) -> int:
    return reach(tensor.dtype, tensor.shape, tensor.stride())


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
