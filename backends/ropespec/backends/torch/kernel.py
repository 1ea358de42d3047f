"""The kernel for CPUs, which sees tensors by their addresses and strides."""

import ctypes
import functools
from pathlib import Path

import numpy as np
import torch

from ropespec.backends.cpu.machine import is_able
from ropespec.backends.cpu.plan import Given, plan_of
from ropespec.backends.cpu.rotate import Turns, rotate, turns_of
from ropespec.backends.cpu.threads import Team

__all__ = [
    "NAMES",
    "has_kernel",
    "rotate_positions",
    "rotate_straight",
    "rotate_tables",
    "team",
]

NAMES = {
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.float32: "float32",
    torch.float64: "float64",
}
"""The dtypes that the kernel takes."""


def has_kernel() -> bool:
    """Tell whether there is a kernel here: one that is kept, or Numba to compile it."""
    return is_able()


# As torch.compiler.assume_constant_result does, which would load the compiler with this module.
vars(has_kernel)["_dynamo_marked_constant"] = True


def rotate_positions(
    x: torch.Tensor,
    positions: torch.Tensor,
    turns: torch.Tensor,
    out: torch.Tensor,
    *,
    interleaved: bool,
    inverse: bool,
    reused: bool = False,
) -> None:
    """Write R_m x to `out`; arguments as in the operator of this name."""
    values = _turns(turns.contiguous().numpy().tobytes())
    given = "int64", positions.shape, positions.stride(), ()
    angles = positions.data_ptr(), values, values.pairs
    _rotate(x, out, given, *angles, interleaved, inverse, reused)


def rotate_straight(
    x: torch.Tensor,
    positions: torch.Tensor,
    dim: int,
    base: float,
    out: torch.Tensor,
    *,
    interleaved: bool,
    inverse: bool,
    reused: bool = False,
) -> None:
    """Write R_m x to `out`, with T_i as they are kept on the host."""
    given = "int64", positions.shape, positions.stride(), ()
    turns = turns_of(dim, base)
    angles = positions.data_ptr(), turns, turns.pairs
    _rotate(x, out, given, *angles, interleaved, inverse, reused)


def rotate_tables(
    x: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    out: torch.Tensor,
    *,
    interleaved: bool,
    inverse: bool,
    reused: bool = False,
) -> None:
    """Write R_m x to `out`; arguments as in the operator of this name."""
    cos, sin = cos.resolve_neg(), sin.resolve_neg()
    if sin.shape != cos.shape:
        cos, sin = torch.broadcast_tensors(cos, sin)  # type: ignore[no-untyped-call]  # torch's
    *rows, pairs = cos.shape
    given = NAMES[cos.dtype], tuple(rows), cos.stride(), sin.stride()
    angles = cos.data_ptr(), sin.data_ptr(), pairs
    _rotate(x, out, given, *angles, interleaved, inverse, reused)


def _rotate(
    x: torch.Tensor,
    out: torch.Tensor,
    given: Given,
    angles: int,
    other: Turns | int,
    pairs: int,
    interleaved: bool,
    inverse: bool,
    reused: bool,
) -> None:
    source, target = x, out
    if x.is_neg() or out.is_neg():
        source, target = x.resolve_neg(), out.resolve_neg()
    steps = source.stride(), target.stride()
    look = NAMES[x.dtype], x.shape, *steps, given, 0, pairs
    plan = plan_of(*look, interleaved, inverse, reused)
    rotate(plan, source.data_ptr(), target.data_ptr(), angles, other, team)
    if target is not out:
        out.copy_(target)


@functools.lru_cache(maxsize=64)
def _turns(values: bytes) -> Turns:
    return Turns(np.frombuffer(values, dtype=np.int64))


def team() -> Team:
    """Return the threads of torch, as many as it may use."""
    return Team(torch.get_num_threads(), _parallel())


@functools.cache
def _parallel() -> int:
    """Return the address of `GOMP_parallel` in the OpenMP of torch; 0 if it is not GNU's."""
    for path in (Path(torch.__file__).parent / "lib").glob("libgomp*.so*"):
        try:
            function = ctypes.CDLL(str(path)).GOMP_parallel
        except (OSError, AttributeError):
            continue
        return ctypes.cast(function, ctypes.c_void_p).value or 0
    return 0
