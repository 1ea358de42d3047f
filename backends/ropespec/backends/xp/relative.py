"""The score of the relative position for NumPy and CuPy (REL-5)."""

from ropespec.backends.xp import Array, Namespace
from ropespec.backends.xp.dtypes import arithmetic
from ropespec.backends.xp.frequencies import cos_sin

__all__ = ["relative_score"]


def relative_score(  # the shared signature
    xp: Namespace, q: Array, k: Array, offset: Array, *, interleaved: bool, base: float
) -> Array:
    """q^T R_offset k = sum_i cos (q.k)_i + sin (q x k)_i, with offset = n - m.

    (q.k)_i = q1 k1 + q2 k2 and (q x k)_i = q2 k1 - q1 k2 are taken over the two components of
    pair i. q, k (..., D); the scores have the broadcast shape of offset and (...), dtype of q.
    """
    work = arithmetic(xp, q.dtype)
    dim = q.shape[-1]
    if interleaved:
        first, second = slice(0, dim, 2), slice(1, dim, 2)
    else:
        first, second = slice(0, dim // 2), slice(dim // 2, dim)
    left, right = q.astype(work, copy=False), k.astype(work, copy=False)
    q1, q2, k1, k2 = left[..., first], left[..., second], right[..., first], right[..., second]
    cos, sin = cos_sin(xp, offset, dim, base, work)
    score = (q1 * k1 + q2 * k2) * cos + (q2 * k1 - q1 * k2) * sin
    return xp.asarray(xp.sum(score, axis=-1)).astype(q.dtype, copy=False)
