"""The rotation R_m x; the sparse form runs in one CUDA kernel (chapter `rotation`)."""

import functools
from typing import NamedTuple

import cupy
import numpy as np

from ropespec.backends.cupy.arrays import Array, check_floats, on_device, positions_of
from ropespec.backends.cupy.kernels import kernel
from ropespec.backends.phase import turns
from ropespec.backends.xp import rotation as generic
from ropespec.spec.arguments import (
    check_base,
    check_dim,
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    facts,
)

__all__ = [
    "apply_rotary",
    "apply_rotary_complex",
    "apply_rotary_dense",
    "half_to_interleaved",
    "interleaved_to_half",
    "rotation_matrix",
]

BLOCK = 256
"""Threads in a block."""

MAX_BLOCKS = 2**16
"""Blocks in a grid; every thread goes on in strides of the grid."""


def rotation_matrix(
    positions: Array, dim: int, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """R_m for every position m, as a dense matrix (ROT-3, ROT-4; F-126, F-137).

    Parameters
    ----------
    positions : array_like of int
        Any shape; either sign.
    dim : int
        Even, at least 2.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + dim/2) if False.
    base : float
        Above 1.

    Returns
    -------
    cupy.ndarray of float64, shape positions.shape + (dim, dim)
        To be applied to columns.

    Raises
    ------
    ArgumentTypeError
        If `positions` or `dim` are not integers, `interleaved` not a bool, `base` not a number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    m = positions_of(positions)
    dim = check_dim(dim)
    interleaved, base = check_flag("interleaved", interleaved), check_base(base)
    return generic.rotation_matrix(cupy, on_device(m), dim, interleaved=interleaved, base=base)


def apply_rotary_dense(
    x: Array,
    positions: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """R_m x by the dense matrix (ROT-3, ROT-4; F-126, F-137).

    NaN and infinity stay in their pair (ROT-16), as in `apply_rotary`.
    Parameters, result and errors as in `apply_rotary`.
    """
    call = _read(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    return generic.apply_rotary_dense(
        cupy,
        x,
        on_device(call.positions),
        apply_rotary,
        interleaved=call.interleaved,
        base=call.base,
        rotary_dim=call.rotary_dim,
    )


def apply_rotary(
    x: Array,
    positions: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """Each pair (x1, x2) becomes (x1 cos - x2 sin, x2 cos + x1 sin): the operation (ROT-6, ROT-7).

    One kernel on the current stream of the device of `x`. The strides of `x` are honoured; only
    where more than one batch axis cannot be merged into one view is `x` copied first.

    Parameters
    ----------
    x : cupy.ndarray of float, shape (..., S, H, D)
        Queries or keys: float16, bfloat16, float32 or float64; read only.
    positions : array_like of int, shape (S,) or (..., S)
        Position of every token; either sign; leading axes broadcast.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + rotary_dim/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        The first `rotary_dim` components turn, the rest passes through bit for bit; D by default.

    Returns
    -------
    cupy.ndarray, shape and dtype of `x`
        A new, contiguous array: exact phase (FREQ-9), float64 arithmetic for float64 and float32
        for the other dtypes, rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of CuPy, positions are no integers, `interleaved` is no bool, or
        `base` or `rotary_dim` is no number.
    ArgumentValueError
        If `x` has fewer than 3 axes, `base` is not finite or not above 1, `rotary_dim` is odd,
        below 2 or above D, or the positions do not fit `x`.
    """
    call = _read(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    with cupy.cuda.Device(x.device.id):
        out = cupy.empty(x.shape, dtype=x.dtype)
        if out.size:
            _launch(x, out, call)
    return out


def apply_rotary_complex(
    x: Array, positions: Array, *, base: float = 10000.0, rotary_dim: int | None = None
) -> Array:
    """Each pair (x_2i, x_2i+1), read as a complex number, times e^{i m theta_i} (ROT-8; F-064).

    This is the interleaved layout.
    Parameters, result and errors as in `apply_rotary`.
    """
    call = _read(x, positions, interleaved=True, base=base, rotary_dim=rotary_dim)
    return generic.apply_rotary_complex(
        cupy, x, on_device(call.positions), base=call.base, rotary_dim=call.rotary_dim
    )


def interleaved_to_half(x: Array) -> Array:
    """P x: components (0, 2, ..., d-2, 1, 3, ..., d-1) of the last axis (ROT-5; F-138).

    Parameters
    ----------
    x : cupy.ndarray of float, shape (..., d)
        d even, at least 2.

    Returns
    -------
    cupy.ndarray, shape and dtype of `x`
        A new array; every component bit for bit.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of CuPy.
    ArgumentValueError
        If `x` has no axis, or an odd or zero number of components.
    """
    check_dim(check_floats("x", x, ndim=1).shape[-1], "head_dim")
    return generic.interleaved_to_half(cupy, x)


def half_to_interleaved(x: Array) -> Array:
    """P^T x, which undoes `interleaved_to_half` (ROT-5; F-138).

    Parameters, result and errors as in `interleaved_to_half`.
    """
    check_dim(check_floats("x", x, ndim=1).shape[-1], "head_dim")
    return generic.half_to_interleaved(cupy, x)


class _Call(NamedTuple):
    """The checked arguments of one rotation."""

    positions: Array
    interleaved: bool
    base: float
    rotary_dim: int


def _read(
    x: Array, positions: Array, *, interleaved: bool, base: float, rotary_dim: int | None
) -> _Call:
    shape = check_floats("x", x, ndim=3).shape
    m = positions_of(positions)
    interleaved, base = check_flag("interleaved", interleaved), check_base(base)
    dim = check_rotary_dim(rotary_dim, shape[-1])
    check_positions_fit(facts(m), shape[:-2])
    return _Call(m, interleaved, base, dim)


def _launch(x: Array, out: Array, call: _Call) -> None:
    """Run the kernel on (batch, S, H, D), where batch stands for all leading axes."""
    *_, rows, heads, dim = x.shape
    batched = x.reshape(-1, rows, heads, dim)
    m = cupy.broadcast_to(on_device(call.positions), x.shape[:-2]).reshape(-1, rows)
    kind = m.dtype.itemsize if m.dtype.kind == "u" else -m.dtype.itemsize
    pairs = call.rotary_dim // 2
    count = x.size // dim * (dim - pairs)
    numbers = (kind, rows, heads, dim, pairs, *batched.strides, *m.strides, count)
    table = _turns_on_device(call.rotary_dim, call.base, x.device.id)
    blocks = min(-(-count // BLOCK), MAX_BLOCKS)
    run = kernel(x.dtype.name, interleaved=call.interleaved)
    run((blocks,), (BLOCK,), (batched, out, m, table, *map(np.int64, numbers)))


@functools.cache
def _turns_on_device(dim: int, base: float, device: int) -> Array:
    """Copy T_i to one device; kept, since a table on its way out could still be in use."""
    with cupy.cuda.Device(device):
        table = cupy.asarray(turns(dim, base))
        cupy.cuda.get_current_stream().synchronize()  # other streams will read it too
    return table
