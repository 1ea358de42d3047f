"""The arguments of a rotation, checked once for all calls that look the same (ROT-21)."""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.backends.numpy.arrays import Array, check_array, check_floats
from ropespec.backends.positions import read_positions
from ropespec.spec.arguments import (
    ArrayFacts,
    check_base,
    check_flag,
    check_float_array,
    check_positions,
    check_positions_fit,
    check_rotary_dim,
    check_tables,
)

__all__ = ["Checked", "read_call", "read_tables"]


class Checked(NamedTuple):
    """What follows from shapes, dtypes and options.

    Attributes
    ----------
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    base : float
        Above 1.
    rotary_dim : int
        r.
    dtypes : tuple of str, or None
        The bare names of the dtypes of `x`, and of positions or tables; None if a kernel cannot
        read them, because the bytes are in another order than the machine's.
    """

    interleaved: bool
    base: float
    rotary_dim: int
    dtypes: tuple[str, str] | None


def read_call(
    x: Array,
    positions: ArrayLike,
    *,
    interleaved: bool,
    base: float,
    rotary_dim: int | None,
) -> tuple[NDArray[Any], Checked]:
    """Check the arguments of `apply_rotary`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `apply_rotary` does.
    """
    if isinstance(positions, np.ndarray):
        check_array("x", x)
        m = positions
    else:
        check_floats("x", x, ndim=3)
        m = read_positions(positions)
    looks = (x.shape, x.dtype, m.shape, m.dtype, interleaved, base, rotary_dim)
    try:
        return m, _kept_call(*looks)
    except TypeError:  # refused, or an option that cannot be looked up, which is refused as well
        return m, _call(*looks)


def read_tables(x: Array, cos: Array, sin: Array, *, interleaved: bool) -> Checked:
    """Check the arguments of `apply_rotary_cos_sin`; `base` is of no meaning here.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `apply_rotary_cos_sin` does.
    """
    if not (
        isinstance(x, np.ndarray) and isinstance(cos, np.ndarray) and isinstance(sin, np.ndarray)
    ):
        check_floats("x", x, ndim=3)
        check_floats("cos", cos, ndim=1)
        check_floats("sin", sin, ndim=1)
    looks = (x.shape, x.dtype, cos.shape, cos.dtype, sin.shape, sin.dtype, interleaved)
    try:
        return _kept_tables(*looks)
    except TypeError:  # as above
        return _tables(*looks)


def _call(
    x_shape: tuple[int, ...],
    x_dtype: np.dtype[Any],
    m_shape: tuple[int, ...],
    m_dtype: np.dtype[Any],
    interleaved: bool,
    base: float,
    rotary_dim: int | None,
) -> Checked:
    check_float_array("x", ArrayFacts(x_shape, x_dtype.name), ndim=3)
    m = check_positions(ArrayFacts(m_shape, m_dtype.name))
    interleaved, base = check_flag("interleaved", interleaved), check_base(base)
    dim = check_rotary_dim(rotary_dim, x_shape[-1])
    check_positions_fit(m, x_shape[:-2])
    return Checked(interleaved, base, dim, _readable(x_dtype, m_dtype))


# 1 and True are equal, but only one of them is a flag: typed.
_kept_call = functools.lru_cache(maxsize=256, typed=True)(_call)


def _tables(
    x_shape: tuple[int, ...],
    x_dtype: np.dtype[Any],
    cos_shape: tuple[int, ...],
    cos_dtype: np.dtype[Any],
    sin_shape: tuple[int, ...],
    sin_dtype: np.dtype[Any],
    interleaved: bool,
) -> Checked:
    x = check_float_array("x", ArrayFacts(x_shape, x_dtype.name), ndim=3)
    cos = check_float_array("cos", ArrayFacts(cos_shape, cos_dtype.name), ndim=1)
    sin = check_float_array("sin", ArrayFacts(sin_shape, sin_dtype.name), ndim=1)
    interleaved = check_flag("interleaved", interleaved)
    dim = check_tables(cos, sin, x)
    return Checked(interleaved, 0.0, dim, _readable(x_dtype, cos_dtype, sin_dtype))


_kept_tables = functools.lru_cache(maxsize=256, typed=True)(_tables)


def _readable(*dtypes: np.dtype[Any]) -> tuple[str, str] | None:
    if all(dtype.isnative for dtype in dtypes):
        return dtypes[0].name, dtypes[1].name
    return None
