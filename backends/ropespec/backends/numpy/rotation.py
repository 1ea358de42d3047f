"""The rotation R_m x in each of its forms (chapter `rotation`)."""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.backends.cpu.machine import is_able
from ropespec.backends.numpy import compiled, plain
from ropespec.backends.numpy.arguments import read_call, read_tables
from ropespec.backends.numpy.arrays import Array, check_floats, quiet
from ropespec.backends.numpy.overlap import check_target
from ropespec.backends.positions import read_positions
from ropespec.backends.xp import rotation as generic
from ropespec.spec.arguments import check_base, check_dim, check_flag

__all__ = [
    "apply_rotary",
    "apply_rotary_complex",
    "apply_rotary_cos_sin",
    "apply_rotary_dense",
    "half_to_interleaved",
    "interleaved_to_half",
    "rotation_matrix",
]


def rotation_matrix(
    positions: ArrayLike, dim: int, *, interleaved: bool, base: float = 10000.0
) -> NDArray[np.float64]:
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
    ndarray of float64, shape positions.shape + (dim, dim)
        To be applied to columns.

    Raises
    ------
    ArgumentTypeError
        If `positions` or `dim` are not integers, `interleaved` not a bool, `base` not a number.
    ArgumentValueError
        If `dim` is odd or below 2, or `base` not finite or not above 1.
    """
    m = read_positions(positions)
    dim = check_dim(dim)
    interleaved, base = check_flag("interleaved", interleaved), check_base(base)
    matrix = generic.rotation_matrix(np, m, dim, interleaved=interleaved, base=base)
    return cast("NDArray[np.float64]", matrix)


def apply_rotary_dense(
    x: Array,
    positions: ArrayLike,
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
    m, call = read_call(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    with quiet():
        turned = generic.apply_rotary_dense(
            np,
            x,
            m,
            interleaved=call.interleaved,
            base=call.base,
            rotary_dim=call.rotary_dim,
        )
    return cast("Array", turned)


def apply_rotary(
    x: Array,
    positions: ArrayLike,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    out: Array | None = None,
) -> Array:
    """Each pair (x1, x2) becomes (x1 cos - x2 sin, x2 cos + x1 sin): the operation (ROT-6, ROT-7).

    Parameters
    ----------
    x : ndarray of float, shape (..., S, H, D)
        Queries or keys: float16, bfloat16, float32 or float64; any strides; only `out` is written.
    positions : array_like of int, shape (S,) or (..., S)
        Position of every token; either sign; leading axes broadcast.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + rotary_dim/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        The first `rotary_dim` components rotate, the rest passes through bit for bit; D by default.
    out : ndarray, shape and dtype of `x`, optional
        Where to write the result, any strides: `x` itself, or memory apart from all arguments
        (ROT-23). With Numba, nothing else of the size of `x` is allocated.

    Returns
    -------
    ndarray, shape and dtype of `x`
        `out`, or a new array: exact phase (FREQ-9), float64 arithmetic for float64
        and float32 for the other dtypes, rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of NumPy, positions are no integers, `interleaved` is no bool,
        `base` or `rotary_dim` is no number, or `out` is no array of the dtype of `x`.
    ArgumentValueError
        If `x` has fewer than 3 axes, `base` is not finite or not above 1, `rotary_dim` is odd,
        below 2 or above D, the positions do not fit `x`, or `out` has another shape, cannot be
        written, or shares memory without being `x`.
    """
    m, call = read_call(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    out = np.empty(x.shape, x.dtype) if out is None else check_target(out, x, m)

    options = m, call.rotary_dim, call.base
    if call.dtypes is not None and is_able():
        compiled.rotate_positions(
            x, out, *options, interleaved=call.interleaved, dtype=call.dtypes[0]
        )
    else:
        plain.rotate_positions(x, out, *options, interleaved=call.interleaved)
    return out


def apply_rotary_cos_sin(
    x: Array, cos: Array, sin: Array, *, interleaved: bool, out: Array | None = None
) -> Array:
    """R_m x with cos(m theta_i) and sin(m theta_i) given as tables (ROT-22).

    The tables are taken as they are: scaled ones scale the result.

    Parameters
    ----------
    x : ndarray of float, shape (..., S, H, D)
        As in `apply_rotary`.
    cos, sin : ndarray of float, shape (S, r/2) or (..., S, r/2)
        One row a token, one column a pair; one dtype; leading axes broadcast.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    out : ndarray, shape and dtype of `x`, optional
        As in `apply_rotary`.

    Returns
    -------
    ndarray, shape and dtype of `x`
        As in `apply_rotary`, with r for `rotary_dim`; the tables are read in the dtype of the
        arithmetic.

    Raises
    ------
    ArgumentTypeError
        If `x` or a table is no float array of NumPy, the dtypes of the tables differ,
        `interleaved` is no bool, or `out` is no array of the dtype of `x`.
    ArgumentValueError
        If `x` has fewer than 3 axes, the shapes of the tables differ, they do not fit `x`, r is
        below 2 or above D, or `out` is refused as in
        `apply_rotary`.
    """
    call = read_tables(x, cos, sin, interleaved=interleaved)
    out = np.empty(x.shape, x.dtype) if out is None else check_target(out, x, cos, sin)
    if call.dtypes is not None and is_able():
        compiled.rotate_tables(x, out, cos, sin, interleaved=call.interleaved, dtypes=call.dtypes)
    else:
        plain.rotate_tables(x, out, cos, sin, interleaved=call.interleaved)
    return out


def apply_rotary_complex(
    x: Array, positions: ArrayLike, *, base: float = 10000.0, rotary_dim: int | None = None
) -> Array:
    """Each pair (x_2i, x_2i+1), read as a complex number, times e^{i m theta_i} (ROT-8; F-064).

    This is the interleaved layout.
    Parameters, result and errors as in `apply_rotary`.
    """
    m, call = read_call(x, positions, interleaved=True, base=base, rotary_dim=rotary_dim)
    with quiet():
        turned = generic.apply_rotary_complex(np, x, m, base=call.base, rotary_dim=call.rotary_dim)
    return cast("Array", turned)


def interleaved_to_half(x: Array) -> Array:
    """P x: components (0, 2, ..., d-2, 1, 3, ..., d-1) of the last axis (ROT-5; F-138).

    Parameters
    ----------
    x : ndarray of float, shape (..., d)
        d even, at least 2.

    Returns
    -------
    ndarray, shape and dtype of `x`
        A new array; every component bit for bit.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of NumPy.
    ArgumentValueError
        If `x` has no axis, or an odd or zero number of components.
    """
    check_dim(check_floats("x", x, ndim=1).shape[-1], "head_dim")
    return cast("Array", generic.interleaved_to_half(np, x))


def half_to_interleaved(x: Array) -> Array:
    """P^T x, which undoes `interleaved_to_half` (ROT-5; F-138).

    Parameters, result and errors as in `interleaved_to_half`.
    """
    check_dim(check_floats("x", x, ndim=1).shape[-1], "head_dim")
    return cast("Array", generic.half_to_interleaved(np, x))
