"""The score as a function of the signed offset (chapter `relative`)."""

from numpy.typing import ArrayLike

from ropespec.backends.jax.arrays import (
    Array,
    arithmetic,
    check_floats,
    positions_of,
    traced,
)
from ropespec.backends.jax.frequencies import Circle, circle_of
from ropespec.backends.jax.rotation import split_pairs
from ropespec.spec.arguments import (
    check_base,
    check_dim,
    check_flag,
    check_offset,
    check_pair,
    check_same_dtype,
    facts,
)

__all__ = ["relative_score"]


def relative_score(
    q: Array, k: Array, offset: ArrayLike, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """q^T R_offset k with offset = n - m for query position m and key position n (REL-5; F-157).

    Parameters
    ----------
    q, k : jax.Array of float, shape (..., D)
        Not rotated; one shape and dtype; D even.
    offset : array_like of int
        n - m, either sign; broadcasts against the leading axes of q and k.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + D/2) if False.
    base : float
        Above 1.

    Returns
    -------
    jax.Array
        The broadcast shape of `offset` and (...), dtype of q; rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If an argument has the wrong type or dtype, or k not the dtype of q.
    ArgumentValueError
        If D is odd, the shapes of q and k differ, `offset` does not broadcast, or `base` is not
        finite or not above 1.
    """
    left, right = check_floats("q", q, ndim=1), check_floats("k", k, ndim=1)
    n = positions_of(offset, "offset")
    check_flag("interleaved", interleaved)
    base = check_base(base)
    check_dim(left.shape[-1], "head_dim")
    check_same_dtype("k", right, "q", left)
    check_pair("k", right, "q", left)
    check_offset(facts(n), left.shape[:-1])
    circle = circle_of(n, left.shape[-1], base, q.dtype)
    return _score(q, k, circle, interleaved=bool(interleaved))


@traced("interleaved")
def _score(q: Array, k: Array, circle: Circle, *, interleaved: bool) -> Array:
    """sum_i cos (q1 k1 + q2 k2) + sin (q2 k1 - q1 k2) over the pairs."""
    work = arithmetic(q.dtype)
    q1, q2 = split_pairs(q.astype(work), interleaved=interleaved)
    k1, k2 = split_pairs(k.astype(work), interleaved=interleaved)
    cos, sin = circle
    terms = (q1 * k1 + q2 * k2) * cos + (q2 * k1 - q1 * k2) * sin
    return terms.sum(axis=-1).astype(q.dtype)
