"""Pairs of components as complex numbers (chapter `complex_plane`)."""

import cupy

from ropespec.backends.cupy.arrays import Array, check_array, check_floats, device_of
from ropespec.backends.xp import complex_plane as generic
from ropespec.spec.arguments import check_complex, check_dim

__all__ = ["from_complex", "to_complex"]


def to_complex(x: Array) -> Array:
    """x_2i + i x_2i+1 for every pair (CPLX-8; F-060).

    Parameters
    ----------
    x : cupy.ndarray of float, shape (..., d)
        d even, at least 2.

    Returns
    -------
    cupy.ndarray, shape (..., d/2)
        complex128 for float64, complex64 for anything narrower.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of CuPy.
    ArgumentValueError
        If `x` has no axis, or an odd or zero number of components.
    """
    found = check_floats("x", x, ndim=1)
    check_dim(found.shape[-1], "head_dim")
    with device_of(x):
        return generic.to_complex(cupy, x)


def from_complex(z: Array) -> Array:
    """Undo `to_complex` (CPLX-8; F-060).

    Parameters
    ----------
    z : cupy.ndarray of complex, shape (..., d/2)
        complex64 or complex128.

    Returns
    -------
    cupy.ndarray, shape (..., d)
        float64 for complex128, float32 for complex64.

    Raises
    ------
    ArgumentTypeError
        If `z` is no complex array of CuPy.
    ArgumentValueError
        If `z` has no axis.
    """
    check_array("z", z)
    check_complex("z", z, ndim=1)
    with device_of(z):
        return generic.from_complex(cupy, z)
