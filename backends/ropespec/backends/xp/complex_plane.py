"""Pairs of components as complex numbers for NumPy and CuPy (CPLX-8)."""

from ropespec.backends.xp import Array, Namespace
from ropespec.backends.xp.dtypes import complex_arithmetic

__all__ = ["from_complex", "to_complex"]


def to_complex(xp: Namespace, x: Array) -> Array:
    """Return x_2i + i x_2i+1: (..., d) to (..., d/2), complex64 or, of float64, complex128."""
    z = xp.empty((*x.shape[:-1], x.shape[-1] // 2), dtype=complex_arithmetic(xp, x.dtype))
    z.real = x[..., 0::2]
    z.imag = x[..., 1::2]
    return z


def from_complex(xp: Namespace, z: Array) -> Array:
    """Undo `to_complex`: (..., d/2) to (..., d), float32 or, of complex128, float64."""
    x = xp.empty((*z.shape[:-1], 2 * z.shape[-1]), dtype=z.real.dtype)
    x[..., 0::2] = z.real
    x[..., 1::2] = z.imag
    return x
