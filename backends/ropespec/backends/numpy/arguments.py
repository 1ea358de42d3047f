"""The arguments of a rotation (ROT-21)."""

from typing import Any

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

__all__ = ["check_call", "check_cos_sin", "read_call", "read_tables"]

Shape = tuple[int, ...]


def read_call(
    x: Array,
    positions: ArrayLike,
    *,
    interleaved: bool,
    base: float,
    rotary_dim: int | None,
) -> tuple[NDArray[Any], bool, float, int]:
    """Check the arguments of `apply_rotary`.

    Returns
    -------
    tuple
        Positions as an array, `interleaved`, `base` and r.

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
    return m, *check_call(x.shape, x.dtype, m.shape, m.dtype, interleaved, base, rotary_dim)


def read_tables(x: Array, cos: Array, sin: Array, *, interleaved: bool) -> bool:
    """Check the arguments of `apply_rotary_cos_sin`, and return `interleaved`.

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
    looks = x.shape, x.dtype, cos.shape, cos.dtype, sin.shape, sin.dtype
    return check_cos_sin(*looks, interleaved)[0]


def check_call(
    x_shape: Shape,
    x_dtype: np.dtype[Any],
    m_shape: Shape,
    m_dtype: np.dtype[Any],
    interleaved: bool,
    base: float,
    rotary_dim: int | None,
) -> tuple[bool, float, int]:
    """Check what `apply_rotary` is told, and return `interleaved`, `base` and r."""
    check_float_array("x", ArrayFacts(x_shape, x_dtype.name), ndim=3)
    m = check_positions(ArrayFacts(m_shape, m_dtype.name))
    interleaved, base = check_flag("interleaved", interleaved), check_base(base)
    dim = check_rotary_dim(rotary_dim, x_shape[-1])
    check_positions_fit(m, x_shape[:-2])
    return interleaved, base, dim


def check_cos_sin(
    x_shape: Shape,
    x_dtype: np.dtype[Any],
    cos_shape: Shape,
    cos_dtype: np.dtype[Any],
    sin_shape: Shape,
    sin_dtype: np.dtype[Any],
    interleaved: bool,
) -> tuple[bool, int]:
    """Check what `apply_rotary_cos_sin` is told, and return `interleaved` and r/2."""
    x = check_float_array("x", ArrayFacts(x_shape, x_dtype.name), ndim=3)
    cos = check_float_array("cos", ArrayFacts(cos_shape, cos_dtype.name), ndim=1)
    sin = check_float_array("sin", ArrayFacts(sin_shape, sin_dtype.name), ndim=1)
    interleaved = check_flag("interleaved", interleaved)
    check_tables(cos, sin, x)
    return interleaved, cos_shape[-1]
