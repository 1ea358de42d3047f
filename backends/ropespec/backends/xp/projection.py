"""f_q, f_k and f_v for NumPy and CuPy (PROJ-1, PROJ-2)."""

from collections.abc import Callable

from ropespec.backends.xp import Array, Namespace
from ropespec.backends.xp.dtypes import arithmetic

__all__ = ["project", "project_rotated"]


def project(xp: Namespace, x: Array, weight: Array) -> Array:
    """W x in the arithmetic dtype: (..., S, d_in), (H, D, d_in) to (..., S, H, D)."""
    work = arithmetic(xp, x.dtype)
    heads, dim, width = weight.shape
    flat = weight.reshape(heads * dim, width).astype(work, copy=False)
    out = xp.matmul(x.astype(work, copy=False), flat.T)
    return out.reshape(*x.shape[:-1], heads, dim)


def project_rotated(
    xp: Namespace, x: Array, positions: Array, weight: Array, rotate: Callable[..., Array]
) -> Array:
    """R_m W x by `rotate`, the backend's `apply_rotary`, with one rounding to the dtype of x."""
    return rotate(project(xp, x, weight), positions).astype(x.dtype, copy=False)
