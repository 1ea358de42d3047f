"""f_q, f_k and f_v with their weights (chapter `projection`)."""

import jax.numpy as jnp
from numpy.typing import ArrayLike

from ropespec.backends.jax.arrays import (
    EXACT,
    Array,
    arithmetic,
    beside,
    check_floats,
    positions_of,
    traced,
)
from ropespec.backends.jax.frequencies import Circle, circle_of
from ropespec.backends.jax.rotation import rotate
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
    positions: ArrayLike,
    weight: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """f_q(x_m, m) = R_m W_q x_m (PROJ-1; F-087).

    Parameters
    ----------
    x : jax.Array of float, shape (..., S, d_in)
        Token vectors.
    positions : array_like of int, shape (S,) or (..., S)
        Position of every token; either sign.
    weight : jax.Array, shape (H, D, d_in)
        One matrix a head, of the dtype of `x`.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        r, even: the first r components of each head rotate, the rest stays (ROT-14); D by default.

    Returns
    -------
    jax.Array, shape (..., S, H, D)
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
    positions: ArrayLike,
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
    x : jax.Array of float, shape (..., S, d_in)
        Token vectors.
    weight : jax.Array, shape (H, E, d_in)
        One matrix a head, of the dtype of `x`.

    Returns
    -------
    jax.Array, shape (..., S, H, E)
        Of the dtype and on the device of `x`, rounded once at the end.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `project_query` does.
    """
    found = check_floats("x", x, ndim=2)
    check_floats("weight", weight, ndim=1)
    check_weight(weight, found)
    return _project(x, weight).astype(x.dtype)


def _project_rotated(
    x: Array,
    positions: ArrayLike,
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
    circle = circle_of(beside(m, x), dim, base, x.dtype)
    return _rotated(x, circle, weight, interleaved=bool(interleaved))


@traced("interleaved")
def _rotated(x: Array, circle: Circle, weight: Array, *, interleaved: bool) -> Array:
    return rotate(_project(x, weight), circle, interleaved=interleaved).astype(x.dtype)


@traced()
def _project(x: Array, weight: Array) -> Array:
    """W x in the arithmetic dtype: (..., S, d_in), (H, D, d_in) to (..., S, H, D)."""
    work = arithmetic(x.dtype)
    return jnp.einsum("...i,hdi->...hd", x.astype(work), weight.astype(work), precision=EXACT)
