"""f_q, f_k and f_v with their weights (chapter `projection`)."""

import functools

import cupy

from ropespec.backends.cupy.arrays import Array, check_floats, device_of, on_device, positions_of
from ropespec.backends.cupy.rotation import apply_rotary
from ropespec.backends.xp import projection as generic
from ropespec.spec.arguments import (
    check_base,
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    check_weight,
    facts,
)

__all__ = ["project_key", "project_query", "project_value"]


def project_query(
    x: Array,
    positions: Array,
    weight: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """f_q(x_m, m) = R_m W_q x_m (PROJ-1; F-087).

    Parameters
    ----------
    x : cupy.ndarray of float, shape (..., S, d_in)
        Token vectors.
    positions : array_like of int, shape (S,) or (..., S)
        Position of every token; either sign.
    weight : cupy.ndarray, shape (H, D, d_in)
        One matrix a head, of the dtype of `x`.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        r, even: the first r components of each head rotate, the rest stays (ROT-14); D by default.

    Returns
    -------
    cupy.ndarray, shape (..., S, H, D)
        Of the dtype and on the device of `x`, rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If an argument has the wrong type or dtype, or `weight` not the dtype of `x`.
    ArgumentValueError
        If a value or shape is not allowed, or the shapes do not fit each other.
    """
    return _project_rotated(x, positions, weight, interleaved, base, rotary_dim)


def project_key(
    x: Array,
    positions: Array,
    weight: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """f_k(x_n, n) = R_n W_k x_n, the same map with the weight of the keys (PROJ-1; F-087).

    Parameters, result and errors as in `project_query`.
    """
    return _project_rotated(x, positions, weight, interleaved, base, rotary_dim)


def project_value(x: Array, weight: Array) -> Array:
    """f_v(x_n) = W_v x_n, not rotated (PROJ-2; F-080).

    Parameters
    ----------
    x : cupy.ndarray of float, shape (..., S, d_in)
        Token vectors.
    weight : cupy.ndarray, shape (H, E, d_in)
        One matrix a head, of the dtype of `x`.

    Returns
    -------
    cupy.ndarray, shape (..., S, H, E)
        Of the dtype and on the device of `x`, rounded once at the end.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `project_query` does.
    """
    found = check_floats("x", x, ndim=2)
    check_floats("weight", weight, ndim=1)
    check_weight(weight, found)
    with device_of(x):
        return generic.project(cupy, x, weight).astype(x.dtype, copy=False)


def _project_rotated(
    x: Array,
    positions: Array,
    weight: Array,
    interleaved: bool,
    base: float,
    rotary_dim: int | None,
) -> Array:
    found = check_floats("x", x, ndim=2)
    check_floats("weight", weight, ndim=1)
    m = positions_of(positions)
    check_flag("interleaved", interleaved)
    base = check_base(base)
    dim = check_rotary_dim(rotary_dim, check_weight(weight, found).shape[1])
    check_positions_fit(facts(m), found.shape[:-1])
    rotate = functools.partial(apply_rotary, interleaved=interleaved, base=base, rotary_dim=dim)
    with device_of(x):
        return generic.project_rotated(cupy, x, on_device(m), weight, rotate)
