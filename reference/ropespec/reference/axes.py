"""Several position numbers a token (chapter `axes`).

Positions are (n, S) or (n, ..., S): a row for each number. All is float64, as printed; of a value
of `ropespec.spec.axes` only its numbers are read.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, Integers, as_positions, check_floats
from ropespec.reference.frequencies import angles, inv_freq
from ropespec.reference.rotation import apply_rotary_cos_sin
from ropespec.reference.scaling import gain_of, inv_freq_scaled
from ropespec.spec.arguments import (
    check_base,
    check_dim,
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    facts,
)
from ropespec.spec.axes import Axes, Axial, Mixed, Sections, Woven, check_axes, check_rows
from ropespec.spec.convention import Frequencies
from ropespec.spec.scaling import Scaling, check_scaled_dim, check_scaling

__all__ = [
    "angles_axial",
    "angles_followed",
    "angles_mixed",
    "apply_rotary_axes",
    "cos_sin_axes",
    "followed_in_sections",
    "followed_in_turn",
]

Float = NDArray[np.float64]


def followed_in_sections(sections: tuple[int, ...]) -> list[int]:
    """(0, ..., 0, 1, ..., 1, 2, ..., 2): which number each pair follows (AXES-2).

    Parameters
    ----------
    sections : tuple of int
        How many pairs follow each.
    """
    return np.repeat(np.arange(len(sections)), sections).tolist()


def followed_in_turn(sections: tuple[int, ...]) -> list[int]:
    """(0, 1, 2, 0, 1, 2, ..., 0, 0): all 0, then every n-th pair from a on for number a (AXES-3).

    Parameters
    ----------
    sections : tuple of int
        How many pairs follow each.
    """
    followed = np.zeros(sum(sections), dtype=np.int64)
    for axis in range(1, len(sections)):
        followed[axis : sections[axis] * len(sections) : len(sections)] = axis
    return followed.tolist()


def angles_followed(positions: Integers, theta: Float, followed: list[int]) -> Float:
    """p_{a(i)} theta_i: pair i has the angle of the number that it follows (AXES-1).

    Parameters
    ----------
    positions : ndarray of int, shape (n, ...)
        A row for each position number.
    theta : ndarray of float64, shape (r/2,)
        Radians per position.
    followed : list of int
        a(i).

    Returns
    -------
    ndarray of float64, shape (..., r/2)
        Radians.
    """
    every = angles(positions, theta)
    return np.stack([every[axis][..., i] for i, axis in enumerate(followed)], axis=-1)


def angles_axial(positions: Integers, blocks: list[Float]) -> Float:
    """Angles of each number by frequencies of its own, side by side (AXES-4).

    Parameters
    ----------
    positions : ndarray of int, shape (n, ...)
        A row for each position number.
    blocks : list of ndarray of float64
        Radians per position, for each number.
    """
    parts = [angles(p, theta) for p, theta in zip(positions, blocks, strict=True)]
    return np.concatenate(parts, axis=-1)


def angles_mixed(positions: Integers, frequencies: Float) -> Float:
    """sum_a p_a theta_{a,i} (AXES-5).

    Parameters
    ----------
    positions : ndarray of int, shape (n, ...)
        A row for each position number.
    frequencies : ndarray of float64, shape (n, r/2)
        Radians per position.
    """
    parts = [angles(p, row) for p, row in zip(positions, frequencies, strict=True)]
    return np.asarray(np.sum(parts, axis=0))


def cos_sin_axes(
    positions: ArrayLike,
    dim: int,
    base: float = 10000.0,
    *,
    axes: Axes,
    scaling: Scaling | None = None,
) -> tuple[Float, Float]:
    """cos and sin of the angles that several position numbers give (AXES-1).

    Parameters
    ----------
    positions : array_like of int, shape (n, ...)
        A row for each position number; either sign.
    dim, base
        As in `inv_freq`.
    axes : Axes
        A value of `ropespec.spec.axes`.
    scaling : Scaling, optional
        A scheme of `ropespec.spec.scaling`.

    Returns
    -------
    cos, sin : ndarray of float64, shape positions.shape[1:] + (dim/2,)
        Of the float64 product.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `cos_sin_scaled` does, and if `axes` is no such value, has not dim/2 pairs, or
        `positions` not a row for each number.
    """
    m = as_positions(positions)
    dim, base, axes = check_dim(dim), check_base(base), check_axes(axes)
    if scaling is not None:
        check_scaled_dim(check_scaling(scaling), dim)
    check_rows(facts(m), axes)
    axes.rows(Frequencies(base, scaling), dim)  # raises where it does not fit
    angle = _angles(m, dim, base, axes, scaling)
    A = 1.0 if scaling is None else gain_of(scaling)
    return A * np.cos(angle), A * np.sin(angle)


def _angles(m: Integers, dim: int, base: float, axes: Axes, scaling: Scaling | None) -> Float:
    match axes:
        case Sections(sections):
            return angles_followed(m, _theta(dim, base, scaling), followed_in_sections(sections))
        case Woven(sections):
            return angles_followed(m, _theta(dim, base, scaling), followed_in_turn(sections))
        case Axial(sections):
            widths = [2 * pairs for pairs in sections]
            return angles_axial(m, [_theta(width, base, scaling) for width in widths])
        case Mixed(frequencies):
            return angles_mixed(m, np.array(frequencies))


def _theta(dim: int, base: float, scaling: Scaling | None) -> Float:
    if dim == 0:
        return np.empty(0)
    return inv_freq(dim, base) if scaling is None else inv_freq_scaled(dim, base, scaling=scaling)


def apply_rotary_axes(
    x: Floats,
    positions: ArrayLike,
    *,
    interleaved: bool,
    axes: Axes,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    scaling: Scaling | None = None,
) -> Floats:
    """The rotation by the angles that several position numbers give (AXES-1).

    Parameters
    ----------
    x, interleaved, base, rotary_dim
        As in `apply_rotary`.
    positions : array_like of int, shape (n, S) or (n, ..., S)
        A row for each position number, each as in `apply_rotary`.
    axes, scaling
        As in `cos_sin_axes`.

    Returns
    -------
    ndarray, shape and dtype of `x`
        A new array: float64 arithmetic, rounded once at the end.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `apply_rotary` and `cos_sin_axes` do.
    """
    check_floats("x", x, ndim=3)
    m = as_positions(positions)
    interleaved, base, axes = (
        check_flag("interleaved", interleaved),
        check_base(base),
        check_axes(axes),
    )
    check_rows(facts(m), axes)
    dim = check_rotary_dim(rotary_dim, x.shape[-1])
    check_positions_fit(facts(m[0]), x.shape[:-2])
    cos, sin = cos_sin_axes(m, dim, base, axes=axes, scaling=scaling)
    return apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved)
