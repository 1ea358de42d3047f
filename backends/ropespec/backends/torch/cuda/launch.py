"""Launching the Triton kernels.

Loading this module does not load Triton; the first launch does.
"""

import functools
import importlib.util
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias

import torch

from ropespec.backends.torch.cuda.plan import WARPS, Plan, Shapes, plan

__all__ = ["OPTIONS", "has_triton", "launch_positions", "launch_tables"]

OPTIONS = {"num_warps": WARPS, "num_stages": 1, "enable_fp_fusion": True}
"""How both kernels are compiled. Fused multiply-add, said aloud because its default differs
between versions, halves the arithmetic and stays within the budget (JDG-2)."""

ALIGNMENT = 16
"""Bytes: addresses that are multiples of it make a kernel of their own."""

Tensors = tuple[torch.Tensor, ...]

Kernel: TypeAlias = Any  # Triton publishes no types


@functools.cache
def has_triton() -> bool:
    """Tell whether Triton is installed, without loading it."""
    return importlib.util.find_spec("triton") is not None


def launch_positions(
    x: torch.Tensor,
    positions: torch.Tensor,
    turns: torch.Tensor,
    out: torch.Tensor,
    *,
    interleaved: bool,
    inverse: bool,
) -> None:
    """Write R_m x to `out`, cos and sin by exact phase (FREQ-9).

    Parameters
    ----------
    x, out : torch.Tensor of float, shape (..., S, H, D)
        Any strides; the same memory, or none in common.
    positions : torch.Tensor of int64
        Broadcasts to x.shape[:-2].
    turns : torch.Tensor of int64, shape (r/2,)
        T_i, contiguous.
    interleaved : bool
        The layout.
    inverse : bool
        Turn by the opposite angle.
    """
    from ropespec.backends.torch.cuda import kernels  # noqa: PLC0415  # loads Triton, if at all

    kernel, others = kernels.rotate_positions_kernel, (turns.contiguous(),)
    flags = {"interleaved": interleaved, "inverse": inverse}
    _launch(kernel, x, out, (positions,), others, turns.shape[0], **flags)


def launch_tables(
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    out: torch.Tensor,
    *,
    interleaved: bool,
    inverse: bool,
) -> None:
    """Write R_m x to `out`, cos and sin as they are given (ROT-22).

    Parameters
    ----------
    cos, sin : torch.Tensor of float
        Broadcast to x.shape[:-2] + (r/2,).
    x, out, interleaved, inverse
        As in `launch_positions`.
    """
    from ropespec.backends.torch.cuda import kernels  # noqa: PLC0415  # loads Triton, if at all

    if cos.shape != sin.shape or cos.stride() != sin.stride():
        shape = (*x.shape[:-2], cos.shape[-1])
        cos, sin = cos.expand(shape).contiguous(), sin.expand(shape).contiguous()
    flags = {"interleaved": interleaved, "inverse": inverse}
    _launch(kernels.rotate_tables_kernel, x, out, (cos, sin), (), cos.shape[-1], **flags)


def _launch(
    kernel: Kernel,
    x: torch.Tensor,
    out: torch.Tensor,
    angles: Tensors,
    others: Tensors,
    pairs: int,
    *,
    interleaved: bool,
    inverse: bool,
) -> None:
    """Launch once, or for every index of the first axis where leading axes are no single one."""
    if x.numel() == 0:
        return
    a, tables = angles[0], not others
    strides, out_strides = x.stride(), out.stride()
    in_place = x.data_ptr() == out.data_ptr() and strides == out_strides
    shapes = Shapes(
        x.shape, strides, out_strides, x.element_size(), a.shape, a.stride(), tables, pairs,
        interleaved, in_place,
    )  # fmt: skip  # in the order of the fields
    found = plan(shapes)
    if found is None:
        rows = (*x.shape[:-2], pairs) if tables else x.shape[:-2]
        angles = tuple(angle.expand(rows).contiguous() for angle in angles)  # small beside x
        a = angles[0]
        found = plan(shapes._replace(angles=a.shape, angle_strides=a.stride()))
    if found is None:
        for i in range(x.shape[0]):
            here = tuple(angle[i] for angle in angles)
            flags = {"interleaved": interleaved, "inverse": inverse}
            _launch(kernel, x[i], out[i], here, others, pairs, **flags)
        return
    _start(kernel, (x, out, *angles, *others), found, inverse=inverse)


def _start(kernel: Kernel, memory: Tensors, found: Plan, *, inverse: bool) -> None:
    """Start what Triton compiled for a call like this one, or have it compiled.

    Triton takes longer to find out that it knows a call than everything else takes together.
    """
    x, angle = memory[0], memory[2]
    addresses = [tensor.data_ptr() for tensor in memory]
    offsets = [address % ALIGNMENT for address in addresses]
    kind = (x.device, x.dtype, angle.dtype, inverse, *offsets)
    known = found.compiled.get(kind)
    with _current(x.device) if x.is_cuda else nullcontext():
        if known is not None:
            start, rest = known
            start(*addresses, *rest)
            return
        flags = {"INVERSE": inverse} | found.constants
        compiled = kernel[found.grid](*memory, *found.numbers, **flags, **OPTIONS)
    if compiled is not None and _starts_again():  # an interpreter returns nothing
        found.compiled[kind] = compiled[found.grid], (*found.numbers, *flags.values())


def _current(device: torch.device) -> AbstractContextManager[Any]:
    """Make a device the current one, where Triton launches, if it is not."""
    here = device.index == torch.cuda.current_device()
    return nullcontext() if here else torch.cuda.device(device)


@functools.cache
def _starts_again() -> bool:
    """Tell whether what Triton compiled is started with constants too, as it is since 3.4.

    For ROCm it is one kernel or another by the size of the memory behind a view as well.
    """
    import triton  # noqa: PLC0415  # loaded by a launch

    version = tuple(map(int, triton.__version__.split(".")[:2]))
    return torch.version.hip is None and version >= (3, 4)
