"""Pairs of components as complex numbers (chapter `complex_plane`)."""

from jax import lax

from ropespec.backends.jax.arrays import Array, arithmetic, check_array, check_floats, traced
from ropespec.backends.jax.rotation import join_pairs, split_pairs
from ropespec.spec.arguments import check_complex, check_dim

__all__ = ["from_complex", "to_complex"]


def to_complex(x: Array) -> Array:
    """x_2i + i x_2i+1 for every pair (CPLX-8; F-060).

    Parameters
    ----------
    x : jax.Array of float, shape (..., d)
        d even, at least 2.

    Returns
    -------
    jax.Array, shape (..., d/2)
        complex128 for float64, complex64 for anything narrower.

    Raises
    ------
    ArgumentTypeError
        If `x` is no float array of JAX.
    ArgumentValueError
        If `x` has no axis, or an odd or zero number of components.
    """
    found = check_floats("x", x, ndim=1)
    check_dim(found.shape[-1], "head_dim")
    return _to_complex(x)


def from_complex(z: Array) -> Array:
    """Undo `to_complex` (CPLX-8; F-060).

    Parameters
    ----------
    z : jax.Array of complex, shape (..., d/2)
        complex64 or complex128.

    Returns
    -------
    jax.Array, shape (..., d)
        float64 for complex128, float32 for complex64.

    Raises
    ------
    ArgumentTypeError
        If `z` is no complex array of JAX.
    ArgumentValueError
        If `z` has no axis.
    """
    check_array("z", z)
    check_complex("z", z, ndim=1)
    return _from_complex(z)


@traced()
def _to_complex(x: Array) -> Array:
    return lax.complex(*split_pairs(x.astype(arithmetic(x.dtype)), interleaved=True))


@traced()
def _from_complex(z: Array) -> Array:
    return join_pairs(z.real, z.imag, interleaved=True)
