"""Frequencies, angles, and cos and sin by exact phase (chapter `frequencies`)."""

import cupy

from ropespec.backends.cupy.arrays import (
    Array,
    Device,
    check_array,
    device_of,
    on_device,
    positions_of,
    read_device,
)
from ropespec.backends.xp import frequencies as generic
from ropespec.spec.arguments import check_base, check_dim, check_inv_freq

__all__ = ["angles", "cos_sin", "inv_freq"]


def inv_freq(dim: int, base: float = 10000.0, *, device: Device = None) -> Array:
    """theta_i = base^(-2i/dim), i = 0..dim/2-1 (FREQ-2; F-001).

    Parameters
    ----------
    dim : int
        Even, at least 2.
    base : float
        Above 1.
    device : int or cupy.cuda.Device, optional
        Where the result lies; the current device by default.

    Returns
    -------
    cupy.ndarray of float64, shape (dim/2,)
        Radians per position.

    Raises
    ------
    ArgumentTypeError
        If `dim` is not an integer, `base` not a real number, or `device` no device.
    ArgumentValueError
        If `dim` is odd or below 2, `base` not finite or not above 1, or `device` negative.
    """
    dim, base = check_dim(dim), check_base(base)
    with read_device(device):
        return generic.inv_freq(cupy, dim, base)


def angles(positions: Array, inv_freq: Array) -> Array:
    """Angles m * theta_i for every position m and frequency theta_i (FREQ-7; F-017).

    Parameters
    ----------
    positions : array_like of int
        Any shape; either sign.
    inv_freq : cupy.ndarray of float, shape (dim/2,)
        Radians per position.

    Returns
    -------
    cupy.ndarray of float64, shape positions.shape + (dim/2,)
        Radians, not reduced to one turn; on the device of a CuPy array of positions, else on that
        of `inv_freq`.

    Raises
    ------
    ArgumentTypeError
        If `positions` are not integers, or `inv_freq` is no float array of CuPy.
    ArgumentValueError
        If `inv_freq` does not have exactly one axis.
    """
    m = positions_of(positions)
    check_array("inv_freq", inv_freq)
    check_inv_freq(inv_freq)
    with device_of(m, inv_freq):
        return generic.angles(cupy, on_device(m), on_device(inv_freq))


def cos_sin(positions: Array, dim: int, base: float = 10000.0) -> tuple[Array, Array]:
    """cos(m theta_i) and sin(m theta_i) by exact phase (FREQ-9).

    Parameters
    ----------
    positions : array_like of int
        Any shape; either sign.
    dim, base
        As in `inv_freq`.

    Returns
    -------
    cos, sin : cupy.ndarray of float64, shape positions.shape + (dim/2,)
        As accurate at position 2^31 as at 3, but for the rounding of T_i: |m| * 2^-65 turns.
        On the device of a CuPy array of positions, else on the current one.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `angles` and `inv_freq` do.
    """
    m = positions_of(positions)
    dim, base = check_dim(dim), check_base(base)
    with device_of(m):
        return generic.cos_sin(cupy, on_device(m), dim, base)
