"""The sinusoidal embedding for NumPy and CuPy (SIN-1)."""

from ropespec.backends.xp import Array, Namespace
from ropespec.backends.xp.frequencies import cos_sin

__all__ = ["sinusoidal_embedding"]


def sinusoidal_embedding(xp: Namespace, positions: Array, dim: int, base: float) -> Array:
    """Sines at even, cosines at odd components: float64, positions.shape + (dim,)."""
    cos, sin = cos_sin(xp, positions, dim, base)
    out = xp.empty((*positions.shape, dim), dtype=xp.float64)
    out[..., 0::2] = sin
    out[..., 1::2] = cos
    return out
