"""The decay curve for NumPy and CuPy (DEC-2)."""

from ropespec.backends.xp import Array, Namespace
from ropespec.backends.xp.frequencies import cos_sin

__all__ = ["decay_bound"]


def decay_bound(xp: Namespace, offsets: Array, dim: int, base: float) -> Array:
    """Mean over j = 1..dim/2 of abs(S_j), S_j = sum of e^{i offset theta_i} over i < j: float64."""
    cos, sin = cos_sin(xp, offsets, dim, base)
    sums = xp.hypot(xp.cumsum(cos, axis=-1), xp.cumsum(sin, axis=-1))
    return xp.asarray(xp.mean(sums, axis=-1))
