"""The rotation R_m x in its dense, sparse and complex forms (chapter `rotation`)."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import ArrayLike

from ropespec.backends.jax.arrays import (
    EXACT,
    Array,
    Limbs,
    arithmetic,
    beside,
    check_floats,
    default_dtype,
    limbs_of,
    positions_of,
    traced,
)
from ropespec.backends.jax.frequencies import Circle, circle_of, turns_of, unit_circle
from ropespec.backends.jax.turn import turn
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
    "half_to_interleaved",
    "interleaved_to_half",
    "join_pairs",
    "rotate",
    "rotation_matrix",
    "split_pairs",
]


def rotation_matrix(
    positions: ArrayLike, dim: int, *, interleaved: bool, base: float = 10000.0
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
    jax.Array, shape positions.shape + (dim, dim)
        To be applied to columns: float64 if JAX has it switched on, else float32. On the device of
        a JAX array of positions, else on the default one.

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
    return _matrices(limbs_of(m), turns_of(dim, base), default_dtype(), interleaved=interleaved)


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
    call = _read(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    return _apply_dense(x, *call)


def apply_rotary(
    x: Array,
    positions: ArrayLike,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """Each pair (x1, x2) becomes (x1 cos - x2 sin, x2 cos + x1 sin): the operation (ROT-6, ROT-7).

    One loop over x. Its gradient is the same loop with the angle negated, and needs x no more;
    derivatives of any order, forward and reverse, and mapping over `x` and positions are allowed
    (ROT-20). On a CPU `jax.jit` with `donate_argnums` returns the result in the memory of x; on a
    GPU the loop of adjacent pairs reads neighbours too, and XLA decides.

    Parameters
    ----------
    x : jax.Array of float, shape (..., S, H, D)
        Queries or keys: float16, bfloat16, float32 or float64.
    positions : array_like of int, shape (S,) or (..., S)
        Position of every token; either sign; leading axes broadcast. NumPy integers above 2^31
        are exact without x64, too.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + rotary_dim/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        The first `rotary_dim` components rotate, the rest passes through bit for bit; D by default.

    Returns
    -------
    jax.Array, shape, dtype and device of `x`
        Exact phase (FREQ-9), float64 arithmetic for float64 and float32 for the other dtypes,
        rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of JAX, positions are no integers, `interleaved` is no bool, or
        `base` or `rotary_dim` is no number.
    ArgumentValueError
        If `x` has fewer than 3 axes, `base` is not finite or not above 1, `rotary_dim` is odd,
        below 2 or above D, or the positions do not fit `x`.
    """
    call = _read(x, positions, interleaved=interleaved, base=base, rotary_dim=rotary_dim)
    return _apply(x, call.circle, call.interleaved)


def apply_rotary_cos_sin(x: Array, cos: Array, sin: Array, *, interleaved: bool) -> Array:
    """R_m x with cos(m theta_i) and sin(m theta_i) given as tables (ROT-22).

    The tables are taken as they are: scaled ones scale the result (a common attention factor).
    No gradient flows into them; the gradient of x is the rotation by cos and -sin (ROT-20).

    Parameters
    ----------
    x : jax.Array of float, shape (..., S, H, D)
        Queries or keys: float16, bfloat16, float32 or float64.
    cos, sin : jax.Array of float, shape (S, r/2) or (..., S, r/2)
        One row a token, one column a pair; one dtype; leading axes broadcast.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.

    Returns
    -------
    jax.Array, shape, dtype and device of `x`
        float64 arithmetic for float64 and float32 for the other dtypes, to which the tables are
        converted; rounded once at the end. Components from r on pass through bit for bit.

    Raises
    ------
    ArgumentTypeError
        If `x` or a table is no float array of JAX, the dtypes of the tables differ, or
        `interleaved` is no bool.
    ArgumentValueError
        If `x` has fewer than 3 axes, the shapes of the tables differ, they do not fit `x`, or r
        is below 2 or above D.
    """
    found = check_floats("x", x, ndim=3)
    check_floats("cos", cos, ndim=1)
    check_floats("sin", sin, ndim=1)
    interleaved = check_flag("interleaved", interleaved)
    check_tables(cos, sin, found)
    return _apply(x, (beside(cos, x), beside(sin, x)), interleaved)


def apply_rotary_complex(
    x: Array, positions: ArrayLike, *, base: float = 10000.0, rotary_dim: int | None = None
) -> Array:
    """Each pair (x_2i, x_2i+1), read as a complex number, times e^{i m theta_i} (ROT-8; F-064).

    This is the interleaved layout.
    Parameters, result and errors as in `apply_rotary`.
    """
    call = _read(x, positions, interleaved=True, base=base, rotary_dim=rotary_dim)
    return _apply_complex(x, call.circle, dim=call.rotary_dim)


def interleaved_to_half(x: Array) -> Array:
    """P x: components (0, 2, ..., d-2, 1, 3, ..., d-1) of the last axis (ROT-5; F-138).

    Parameters
    ----------
    x : jax.Array of float, shape (..., d)
        d even, at least 2.

    Returns
    -------
    jax.Array, shape, dtype and device of `x`
        Every component bit for bit.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of JAX.
    ArgumentValueError
        If `x` has no axis, or an odd or zero number of components.
    """
    check_dim(check_floats("x", x, ndim=1).shape[-1], "head_dim")
    return _reordered(x, interleaved=True)


def half_to_interleaved(x: Array) -> Array:
    """P^T x, which undoes `interleaved_to_half` (ROT-5; F-138).

    Parameters, result and errors as in `interleaved_to_half`.
    """
    check_dim(check_floats("x", x, ndim=1).shape[-1], "head_dim")
    return _reordered(x, interleaved=False)


def split_pairs(x: Array, *, interleaved: bool) -> tuple[Array, Array]:
    """Return the first and the second component of each pair: two of (..., d/2)."""
    half = x.shape[-1] // 2
    if not interleaved:
        return x[..., :half], x[..., half:]
    pairs = x.reshape(*x.shape[:-1], half, 2)
    return pairs[..., 0], pairs[..., 1]


def join_pairs(first: Array, second: Array, *, interleaved: bool) -> Array:
    """Undo `split_pairs`."""
    if not interleaved:
        return jnp.concatenate((first, second), axis=-1)
    *lead, half = first.shape
    return jnp.stack((first, second), axis=-1).reshape(*lead, 2 * half)


def rotate(x: Array, circle: Circle, *, interleaved: bool) -> Array:
    """R_m x for x (..., S, H, D) in float32 or float64, without any check."""
    cos, sin = (part[..., None, :] for part in circle)  # all heads of a token share its angles
    first, second = split_pairs(x[..., : 2 * cos.shape[-1]], interleaved=interleaved)
    rotated = first * cos - second * sin, second * cos + first * sin
    return _with_tail(join_pairs(*rotated, interleaved=interleaved), x)


class _Call(NamedTuple):
    """The checked arguments of one rotation."""

    circle: Circle
    interleaved: bool
    rotary_dim: int


def _read(
    x: Array, positions: ArrayLike, *, interleaved: bool, base: float, rotary_dim: int | None
) -> _Call:
    shape = check_floats("x", x, ndim=3).shape
    m = positions_of(positions)
    interleaved, base = check_flag("interleaved", interleaved), check_base(base)
    dim = check_rotary_dim(rotary_dim, shape[-1])
    check_positions_fit(facts(m), shape[:-2])
    return _Call(circle_of(beside(m, x), dim, base, x.dtype), interleaved, dim)


@traced("interleaved")
def _apply(x: Array, tables: Circle, interleaved: bool) -> Array:
    cos, sin = (table.astype(arithmetic(x.dtype)) for table in tables)
    return turn(x, cos, sin, interleaved=interleaved)


@traced("interleaved", "dim")
def _apply_dense(x: Array, circle: Circle, interleaved: bool, dim: int) -> Array:
    head = x[..., :dim].astype(arithmetic(x.dtype))
    matrix = _matrix(*circle, interleaved=interleaved)
    return _with_tail(jnp.matmul(head, jnp.matrix_transpose(matrix), precision=EXACT), x)


@traced("dim")
def _apply_complex(x: Array, circle: Circle, dim: int) -> Array:
    head = x[..., :dim].astype(arithmetic(x.dtype))
    unit = lax.complex(*circle)
    turned = lax.complex(*split_pairs(head, interleaved=True)) * unit[..., None, :]
    return _with_tail(join_pairs(turned.real, turned.imag, interleaved=True), x)


@traced("interleaved")
def _reordered(x: Array, *, interleaved: bool) -> Array:
    """Put pairs of this layout into the other."""
    return join_pairs(*split_pairs(x, interleaved=interleaved), interleaved=not interleaved)


@traced("dtype", "interleaved")
def _matrices(
    positions: Limbs | Array, turn: Limbs, dtype: np.dtype[Any], *, interleaved: bool
) -> Array:
    return _matrix(*unit_circle(positions, turn, dtype), interleaved=interleaved)


@traced("interleaved")
def _matrix(cos: Array, sin: Array, *, interleaved: bool) -> Array:
    """R_m from cos and sin (..., dim/2): one 2x2 rotation a pair, zero elsewhere."""
    *lead, pairs = cos.shape
    i = np.arange(pairs)
    first, second = (2 * i, 2 * i + 1) if interleaved else (i, i + pairs)
    out = jnp.zeros((*lead, 2 * pairs, 2 * pairs), dtype=cos.dtype)
    out = out.at[..., first, first].set(cos).at[..., second, second].set(cos)
    return out.at[..., first, second].set(-sin).at[..., second, first].set(sin)


def _with_tail(turned: Array, x: Array) -> Array:
    head = turned.astype(x.dtype)
    dim = turned.shape[-1]
    return head if dim == x.shape[-1] else jnp.concatenate((head, x[..., dim:]), axis=-1)
