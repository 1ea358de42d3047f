"""The rotation for NumPy and CuPy, apart from the sparse form (ROT-3, ROT-4, ROT-5, ROT-8)."""

from ropespec.backends.xp import Array, Namespace
from ropespec.backends.xp.complex_plane import from_complex, to_complex
from ropespec.backends.xp.dtypes import arithmetic, complex_arithmetic
from ropespec.backends.xp.frequencies import cos_sin

__all__ = [
    "apply_rotary_complex",
    "apply_rotary_dense",
    "half_to_interleaved",
    "interleaved_to_half",
    "rotation_matrix",
]


def rotation_matrix(
    xp: Namespace, positions: Array, dim: int, *, interleaved: bool, base: float
) -> Array:
    """Return the dense R_m: float64, positions.shape + (dim, dim)."""
    cos, sin = cos_sin(xp, positions, dim, base)
    i = xp.arange(dim // 2)
    first, second = (2 * i, 2 * i + 1) if interleaved else (i, i + dim // 2)
    out = xp.zeros((*positions.shape, dim, dim), dtype=xp.float64)
    out[..., first, first] = cos
    out[..., second, second] = cos
    out[..., first, second] = -sin
    out[..., second, first] = sin
    return out


def apply_rotary_dense(  # the shared signature
    xp: Namespace, x: Array, positions: Array, *, interleaved: bool, base: float, rotary_dim: int
) -> Array:
    """R_m x as the product with the dense matrix; shape and dtype of x."""
    work = arithmetic(xp, x.dtype)
    matrix = rotation_matrix(xp, positions, rotary_dim, interleaved=interleaved, base=base)
    columns = xp.swapaxes(matrix, -1, -2).astype(work, copy=False)
    out = xp.array(x)  # a copy: the tail stays, bit for bit
    rotated = xp.matmul(x[..., :rotary_dim].astype(work, copy=False), columns)
    out[..., :rotary_dim] = rotated.astype(x.dtype, copy=False)
    return out


def apply_rotary_complex(
    xp: Namespace, x: Array, positions: Array, *, base: float, rotary_dim: int
) -> Array:
    """R_m x as multiplication by e^{i m theta}, interleaved; shape and dtype of x."""
    cos, sin = cos_sin(xp, positions, rotary_dim, base)
    unit = xp.empty(cos.shape, dtype=complex_arithmetic(xp, x.dtype))
    unit.real = cos
    unit.imag = sin
    turned = to_complex(xp, x[..., :rotary_dim]) * unit[..., None, :]
    out = xp.array(x)
    out[..., :rotary_dim] = from_complex(xp, turned).astype(x.dtype, copy=False)
    return out


def interleaved_to_half(xp: Namespace, x: Array) -> Array:
    """Components (0, 2, ..., d-2, 1, 3, ..., d-1) of the last axis."""
    return xp.concatenate((x[..., 0::2], x[..., 1::2]), axis=-1)


def half_to_interleaved(xp: Namespace, x: Array) -> Array:
    """Undo `interleaved_to_half`: components (0, d/2, 1, d/2+1, ...)."""
    half = x.shape[-1] // 2
    out = xp.empty(x.shape, dtype=x.dtype)
    out[..., 0::2] = x[..., :half]
    out[..., 1::2] = x[..., half:]
    return out
