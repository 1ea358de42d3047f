"""The score of the relative position for NumPy and CuPy (REL-5)."""

from ropespec.backends.xp import Array, Namespace
from ropespec.backends.xp.dtypes import arithmetic
from ropespec.backends.xp.frequencies import cos_sin

__all__ = ["relative_score"]


def relative_score(  # the shared signature
    xp: Namespace,
    q: Array,
    k: Array,
    offset: Array,
    *,
    interleaved: bool,
    base: float,
    rotary_dim: int,
) -> Array:
    """q^T R_offset k = sum_i cos (q.k)_i + sin (q x k)_i + tail, with offset = n - m.

    (q.k)_i = q1 k1 + q2 k2 and (q x k)_i = q2 k1 - q1 k2 are taken over the two components of
    pair i; the tail is the plain product of the components from rotary_dim on.
    q, k (..., D); the scores have the broadcast shape of offset and (...), dtype of q.
    """
    work, dim = arithmetic(xp, q.dtype), rotary_dim
    if interleaved:
        first, second = slice(0, dim, 2), slice(1, dim, 2)
    else:
        first, second = slice(0, dim // 2), slice(dim // 2, dim)
    left, right = q.astype(work, copy=False), k.astype(work, copy=False)
    q1, q2, k1, k2 = left[..., first], left[..., second], right[..., first], right[..., second]
    cos, sin = cos_sin(xp, offset, dim, base, work)
    terms = (q1 * k1 + q2 * k2) * cos + (q2 * k1 - q1 * k2) * sin
    tail = xp.sum(left[..., dim:] * right[..., dim:], axis=-1)
    return xp.asarray(xp.sum(terms, axis=-1) + tail).astype(q.dtype, copy=False)
