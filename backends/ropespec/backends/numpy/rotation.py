"""The rotation R_m x; the sparse form works in blocks that stay in the cache (`rotation`)."""

import math
from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.backends.numpy.arrays import Array, check_floats, quiet
from ropespec.backends.positions import read_positions
from ropespec.backends.xp import rotation as generic
from ropespec.backends.xp.dtypes import arithmetic
from ropespec.backends.xp.frequencies import cos_sin
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

BLOCK = 2**16
"""Components in a block: what is computed of it stays in the cache until it is stored."""


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

    NaN and infinity stay in their pair (ROT-16), as in `apply_rotary`.
    Parameters, result and errors as in `apply_rotary`.
    """
    call = _read(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    with quiet():
        turned = generic.apply_rotary_dense(
            np,
            x,
            call.positions,
            apply_rotary,
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
) -> Array:
    """Each pair (x1, x2) becomes (x1 cos - x2 sin, x2 cos + x1 sin): the operation (ROT-6, ROT-7).

    Parameters
    ----------
    x : ndarray of float, shape (..., S, H, D)
        Queries or keys: float16, bfloat16, float32 or float64; any strides; read only.
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
    ndarray, shape and dtype of `x`
        A new array: exact phase (FREQ-9), float64 arithmetic for float64 and float32 for the
        other dtypes, rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of NumPy, positions are no integers, `interleaved` is no bool, or
        `base` or `rotary_dim` is no number.
    ArgumentValueError
        If `x` has fewer than 3 axes, `base` is not finite or not above 1, `rotary_dim` is odd,
        below 2 or above D, or the positions do not fit `x`.
    """
    call = _read(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    dim, work = call.rotary_dim, arithmetic(np, x.dtype)
    out = np.empty(x.shape, dtype=x.dtype)
    out[..., dim:] = x[..., dim:]
    pairs = _pairs(dim, interleaved=call.interleaved)
    # All heads of a token share its angles: a stride of 0, not a copy.
    over_heads = (*x.shape[:-1], dim // 2)
    cos, sin = (
        np.broadcast_to(table[..., None, :], over_heads)
        for table in cos_sin(np, call.positions, dim, call.base, work)
    )
    head, turned = x[..., :dim], out[..., :dim]
    with quiet():
        for block in _blocks(head.shape, BLOCK):
            if x.dtype == work:
                _rotate(head[block], cos[block], sin[block], pairs, out=turned[block])
            else:
                wide = head[block].astype(work)
                turned[block] = _rotate(wide, cos[block], sin[block], pairs, np.empty_like(wide))
    return out


def apply_rotary_complex(
    x: Array, positions: ArrayLike, *, base: float = 10000.0, rotary_dim: int | None = None
) -> Array:
    """Each pair (x_2i, x_2i+1), read as a complex number, times e^{i m theta_i} (ROT-8; F-064).

    This is the interleaved layout.
    Parameters, result and errors as in `apply_rotary`.
    """
    call = _read(x, positions, interleaved=True, base=base, rotary_dim=rotary_dim)
    with quiet():
        turned = generic.apply_rotary_complex(
            np, x, call.positions, base=call.base, rotary_dim=call.rotary_dim
        )
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


Pairs = tuple[slice, slice]


class _Call(NamedTuple):
    """The checked arguments of one rotation."""

    positions: Array
    interleaved: bool
    base: float
    rotary_dim: int


def _read(
    x: Array, positions: ArrayLike, *, interleaved: bool, base: float, rotary_dim: int | None
) -> _Call:
    shape = check_floats("x", x, ndim=3).shape
    m = read_positions(positions)
    interleaved, base = check_flag("interleaved", interleaved), check_base(base)
    dim = check_rotary_dim(rotary_dim, shape[-1])
    check_positions_fit(facts(m), shape[:-2])
    return _Call(m, interleaved, base, dim)


def _pairs(dim: int, *, interleaved: bool) -> Pairs:
    """Return the first and the second components of the pairs."""
    if interleaved:
        return slice(0, dim, 2), slice(1, dim, 2)
    return slice(0, dim // 2), slice(dim // 2, dim)


def _blocks(shape: tuple[int, ...], limit: int) -> Iterator[tuple[slice, ...]]:
    """Cut an array into slices of at most `limit` elements, or of one last axis."""
    if len(shape) == 1 or math.prod(shape) <= limit:
        yield ()
        return
    inner = math.prod(shape[1:])
    if inner <= limit:
        step = limit // inner
        yield from ((slice(i, i + step),) for i in range(0, shape[0], step))
        return
    for i in range(shape[0]):
        yield from ((slice(i, i + 1), *rest) for rest in _blocks(shape[1:], limit))


def _rotate(x: Array, cos: Array, sin: Array, pairs: Pairs, out: Array) -> Array:
    """Rotate one block into `out`, with one array of half its size besides."""
    first, second = pairs
    np.multiply(x[..., first], cos, out=out[..., first])
    product = np.multiply(x[..., second], sin)
    out[..., first] -= product
    np.multiply(x[..., second], cos, out=out[..., second])
    np.multiply(x[..., first], sin, out=product)
    out[..., second] += product
    return out
