"""The rotation R_m x; the sparse form runs in one CUDA kernel (chapter `rotation`)."""

import functools
from typing import NamedTuple

import cupy

from ropespec.backends.cupy.arrays import Array, check_floats, device_of, on_device, positions_of
from ropespec.backends.cupy.launch import Turn, launch
from ropespec.backends.cupy.overlap import check_target
from ropespec.backends.phase import turns
from ropespec.backends.xp import rotation as generic
from ropespec.backends.xp.dtypes import arithmetic
from ropespec.spec.arguments import (
    check_base,
    check_dim,
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    check_tables,
    facts,
)

__all__ = [
    "apply_rotary",
    "apply_rotary_complex",
    "apply_rotary_cos_sin",
    "apply_rotary_dense",
    "apply_rotary_vjp",
    "half_to_interleaved",
    "interleaved_to_half",
    "rotation_matrix",
]


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
        To be applied to columns. On the device of a CuPy array of positions, else on the current
        one.

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
    with device_of(m):
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

    For finite x: a NaN or an infinity may reach every rotated component of its token and head,
    and nothing else (ROT-16).
    Parameters, result and errors as in `apply_rotary`.
    """
    call = _read(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    with device_of(x):
        return generic.apply_rotary_dense(
            cupy,
            x,
            on_device(call.positions),
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
    out: Array | None = None,
) -> Array:
    """Each pair (x1, x2) becomes (x1 cos - x2 sin, x2 cos + x1 sin): the operation (ROT-6, ROT-7).

    One kernel on the current stream of the device of `x`; as many where batch axes have strides
    that cannot be read as those of one axis. Nothing of the size of `x` is allocated beside the
    result.

    Parameters
    ----------
    x : cupy.ndarray of float, shape (..., S, H, D)
        Queries or keys: float16, bfloat16, float32 or float64; any strides; only
        `out` is written.
    positions : array_like of int, shape (S,) or (..., S)
        Position of every token; either sign; leading axes broadcast.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + rotary_dim/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        The first `rotary_dim` components rotate, the rest passes through bit for bit; D by default.
    out : cupy.ndarray, shape, dtype and device of `x`, optional
        Where to write the result, any strides: `x` itself, or memory apart from all arguments
        (ROT-23).

    Returns
    -------
    cupy.ndarray, shape, dtype and device of `x`
        `out`, or a new, contiguous array: exact phase (FREQ-9), float64 arithmetic
        for float64 and float32 for the other dtypes, rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of CuPy, positions are no integers, `interleaved` is no bool,
        `base` or `rotary_dim` is no number, or `out` is no array of the dtype of `x`.
    ArgumentValueError
        If `x` has fewer than 3 axes, `base` is not finite or not above 1, `rotary_dim` is odd,
        below 2 or above D, the positions do not fit `x`, or `out` has another shape or device or
        shares memory without being `x`.
    """
    call = _read(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    return _by_positions(x, call, out, inverse=False)


def apply_rotary_vjp(
    cotangent: Array,
    positions: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    out: Array | None = None,
) -> Array:
    """Pull a cotangent of `apply_rotary` back to `x`: the same kernel, turning back (ROT-20).

    Parameters, result and errors as in `apply_rotary`, with `cotangent` for `x`.
    """
    call = _read(cotangent, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    return _by_positions(cotangent, call, out, inverse=True)


def apply_rotary_cos_sin(
    x: Array, cos: Array, sin: Array, *, interleaved: bool, out: Array | None = None
) -> Array:
    """R_m x with cos(m theta_i) and sin(m theta_i) given as tables (ROT-22).

    The tables are taken as they are: scaled ones scale the result.

    Parameters
    ----------
    x : cupy.ndarray of float, shape (..., S, H, D)
        As in `apply_rotary`.
    cos, sin : cupy.ndarray of float, shape (S, r/2) or (..., S, r/2)
        One row a token, one column a pair; one dtype; leading axes broadcast.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    out : cupy.ndarray, shape, dtype and device of `x`, optional
        As in `apply_rotary`.

    Returns
    -------
    cupy.ndarray, shape, dtype and device of `x`
        As in `apply_rotary`, with r for `rotary_dim`; the tables are read in the dtype of the
        arithmetic.

    Raises
    ------
    ArgumentTypeError
        If `x` or a table is no float array of CuPy, the dtypes of the tables differ,
        `interleaved` is no bool, or `out` is no array of the dtype of `x`.
    ArgumentValueError
        If `x` has fewer than 3 axes, the shapes of the tables differ, they do not fit `x`, r is
        below 2 or above D, or `out` is refused as in `apply_rotary`.
    """
    found = check_floats("x", x, ndim=3)
    check_floats("cos", cos, ndim=1)
    check_floats("sin", sin, ndim=1)
    interleaved = check_flag("interleaved", interleaved)
    dim = check_tables(cos, sin, found)
    with device_of(x):
        out = _target(x, out, cos, sin)
        if x.size:
            shape = (*x.shape[:-2], dim // 2)
            work = arithmetic(cupy, x.dtype)
            tables = tuple(
                cupy.broadcast_to(cupy.ascontiguousarray(on_device(table), dtype=work), shape)
                for table in (cos, sin)
            )
            turn = Turn(dim // 2, interleaved=interleaved, inverse=False, turns=None)
            launch(x, out, tables, turn)
    return out


def apply_rotary_complex(
    x: Array, positions: Array, *, base: float = 10000.0, rotary_dim: int | None = None
) -> Array:
    """Each pair (x_2i, x_2i+1), read as a complex number, times e^{i m theta_i} (ROT-8; F-064).

    This is the interleaved layout.
    Parameters, result and errors as in `apply_rotary`.
    """
    call = _read(x, positions, interleaved=True, base=base, rotary_dim=rotary_dim)
    with device_of(x):
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
    cupy.ndarray, shape, dtype and device of `x`
        A new array; every component bit for bit.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of CuPy.
    ArgumentValueError
        If `x` has no axis, or an odd or zero number of components.
    """
    check_dim(check_floats("x", x, ndim=1).shape[-1], "head_dim")
    with device_of(x):
        return generic.interleaved_to_half(cupy, x)


def half_to_interleaved(x: Array) -> Array:
    """P^T x, which undoes `interleaved_to_half` (ROT-5; F-138).

    Parameters, result and errors as in `interleaved_to_half`.
    """
    check_dim(check_floats("x", x, ndim=1).shape[-1], "head_dim")
    with device_of(x):
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


def _target(x: Array, out: Array | None, *others: Array) -> Array:
    """Return where to write: `out`, if it is allowed, or a new array."""
    if out is None:
        return cupy.empty(x.shape, dtype=x.dtype)
    check_target(out, facts(x), x, *others)
    return out


def _by_positions(x: Array, call: _Call, out: Array | None, *, inverse: bool) -> Array:
    with device_of(x):
        out = _target(x, out, call.positions)
        if x.size:
            m = cupy.broadcast_to(on_device(call.positions), x.shape[:-2])
            table = _turns_on_device(call.rotary_dim, call.base, x.device.id)
            turn = Turn(call.rotary_dim // 2, call.interleaved, inverse, table)
            launch(x, out, (m,), turn)
    return out


@functools.cache
def _turns_on_device(dim: int, base: float, device: int) -> Array:
    """Copy T_i to one device; kept, since a table on its way out could still be in use."""
    with cupy.cuda.Device(device):
        table = cupy.asarray(turns(dim, base))
        cupy.cuda.get_current_stream().synchronize()  # other streams will read it too
    return table
