"""Frequencies, angles, and cos and sin by exact phase (chapter `frequencies`)."""

import numpy as np
from numpy.typing import ArrayLike

from ropespec.backends.numpy.arrays import Array, check_array, quiet
from ropespec.backends.positions import read_positions
from ropespec.backends.xp import frequencies as generic
from ropespec.spec.arguments import check_base, check_dim, check_inv_freq
from ropespec.spec.device import check_host_device

__all__ = ["angles", "cos_sin", "inv_freq"]


def inv_freq(dim: int, base: float = 10000.0, *, device: str | None = None) -> Array:
    """theta_i = base^(-2i/dim), i = 0..dim/2-1 (FREQ-2; F-001).

    Parameters
    ----------
    dim : int
        Even, at least 2.
    base : float
        Above 1.
    device : {None, "cpu"}
        NumPy has one device, the memory of the host.

    Returns
    -------
    ndarray of float64, shape (dim/2,)
        Radians per position.

    Raises
    ------
    ArgumentTypeError
        If `dim` is not an integer, `base` not a real number, or `device` no string.
    ArgumentValueError
        If `dim` is odd or below 2, `base` not finite or not above 1, or `device` not "cpu".
    """
    dim, base = check_dim(dim), check_base(base)
    check_host_device(device)
    out: Array = generic.inv_freq(np, dim, base)
    return out


def angles(positions: ArrayLike, inv_freq: Array) -> Array:
    """Angles m * theta_i for every position m and frequency theta_i (FREQ-7; F-017).

    Parameters
    ----------
    positions : array_like of int
        Any shape; either sign.
    inv_freq : ndarray of float, shape (dim/2,)
        Radians per position.

    Returns
    -------
    ndarray of float64, shape positions.shape + (dim/2,)
        Radians, not reduced to one turn.

    Raises
    ------
    ArgumentTypeError
        If `positions` are not integers, or `inv_freq` is no float array of NumPy.
    ArgumentValueError
        If `inv_freq` does not have exactly one axis.
    """
    m = read_positions(positions)
    check_array("inv_freq", inv_freq)
    check_inv_freq(inv_freq)
    with quiet():
        out: Array = generic.angles(np, m, inv_freq)
    return out


def cos_sin(positions: ArrayLike, dim: int, base: float = 10000.0) -> tuple[Array, Array]:
    """cos(m theta_i) and sin(m theta_i) by exact phase (FREQ-9).

    Parameters
    ----------
    positions : array_like of int
        Any shape; either sign.
    dim, base
        As in `inv_freq`.

    Returns
    -------
    cos, sin : ndarray of float64, shape positions.shape + (dim/2,)
        As accurate at position 2^31 as at 3, but for the rounding of T_i: |m| * 2^-65 turns.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `angles` and `inv_freq` do.
    """
    m = read_positions(positions)
    dim, base = check_dim(dim), check_base(base)
    out: tuple[Array, Array] = generic.cos_sin(np, m, dim, base)
    return out
