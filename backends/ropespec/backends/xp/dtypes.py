"""The dtypes in which the arithmetic is done (JDG-3), for NumPy and CuPy."""

from ropespec.backends.xp import Dtype, Namespace

__all__ = ["arithmetic", "complex_arithmetic"]


def arithmetic(xp: Namespace, dtype: Dtype) -> Dtype:
    """Return float64 for float64, float32 for everything narrower."""
    return xp.dtype(xp.float64 if dtype == xp.float64 else xp.float32)


def complex_arithmetic(xp: Namespace, dtype: Dtype) -> Dtype:
    """Return complex128 for float64, complex64 for everything narrower."""
    return xp.dtype(xp.complex128 if dtype == xp.float64 else xp.complex64)
