"""The arguments of a rotation, checked once for all calls that look the same (ROT-21)."""

import functools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.backends.numpy.arrays import Array, check_array, check_floats
from ropespec.backends.numpy.tables import rows_at_once
from ropespec.backends.positions import read_positions
from ropespec.backends.xp.dtypes import arithmetic
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

__all__ = ["Call", "Plan", "read_call", "read_tables"]


class Plan(NamedTuple):
    """What follows from shapes, dtypes and options.

    Attributes
    ----------
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    base : float
        Above 1.
    rotary_dim : int
        r.
    work : dtype
        In which the arithmetic is done.
    angles : tuple of int
        The shape of the positions, or of the tables without their last axis, with as many axes as
        `x` has before its heads.
    at_once : bool
        True if these are so few that their tables are made at once.
    """

    interleaved: bool
    base: float
    rotary_dim: int
    work: np.dtype[Any]
    angles: tuple[int, ...]
    at_once: bool


class Call(NamedTuple):
    """The checked arguments of one rotation: positions of the shape `plan.angles`."""

    positions: NDArray[Any]
    plan: Plan


def read_call(
    x: Array,
    positions: ArrayLike,
    *,
    interleaved: bool,
    base: float,
    rotary_dim: int | None,
) -> Call:
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
        plan = _kept_plan(*looks)
    except TypeError:  # refused, or an option that cannot be looked up, which is refused as well
        plan = _plan(*looks)
    return Call(m if m.shape == plan.angles else m.reshape(plan.angles), plan)


def read_tables(x: Array, cos: Array, sin: Array, *, interleaved: bool) -> Plan:
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
        return _kept_tables_plan(*looks)
    except TypeError:  # as above
        return _tables_plan(*looks)


def _plan(
    x_shape: tuple[int, ...],
    x_dtype: np.dtype[Any],
    m_shape: tuple[int, ...],
    m_dtype: np.dtype[Any],
    interleaved: bool,
    base: float,
    rotary_dim: int | None,
) -> Plan:
    check_float_array("x", ArrayFacts(x_shape, x_dtype.name), ndim=3)
    m = check_positions(ArrayFacts(m_shape, m_dtype.name))
    interleaved, base = check_flag("interleaved", interleaved), check_base(base)
    dim = check_rotary_dim(rotary_dim, x_shape[-1])
    check_positions_fit(m, x_shape[:-2])
    angles = (*(1,) * (len(x_shape) - 2 - len(m_shape)), *m_shape)
    at_once = math.prod(angles) <= rows_at_once(dim // 2)
    return Plan(interleaved, base, dim, arithmetic(np, x_dtype), angles, at_once)


# 1 and True are equal, but only one of them is a flag: typed.
_kept_plan = functools.lru_cache(maxsize=256, typed=True)(_plan)


def _tables_plan(
    x_shape: tuple[int, ...],
    x_dtype: np.dtype[Any],
    cos_shape: tuple[int, ...],
    cos_dtype: np.dtype[Any],
    sin_shape: tuple[int, ...],
    sin_dtype: np.dtype[Any],
    interleaved: bool,
) -> Plan:
    x = check_float_array("x", ArrayFacts(x_shape, x_dtype.name), ndim=3)
    cos = check_float_array("cos", ArrayFacts(cos_shape, cos_dtype.name), ndim=1)
    sin = check_float_array("sin", ArrayFacts(sin_shape, sin_dtype.name), ndim=1)
    interleaved = check_flag("interleaved", interleaved)
    dim = check_tables(cos, sin, x)
    angles = (*(1,) * (len(x_shape) - 1 - len(cos_shape)), *cos_shape[:-1])
    at_once = math.prod(angles) <= rows_at_once(dim // 2)
    return Plan(interleaved, 0.0, dim, arithmetic(np, x_dtype), angles, at_once)


_kept_tables_plan = functools.lru_cache(maxsize=256, typed=True)(_tables_plan)
