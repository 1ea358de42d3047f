"""The score as a function of the signed offset (chapter `relative`)."""

import cupy

from ropespec.backends.cupy.arrays import Array, check_floats, on_device, positions_of
from ropespec.backends.xp import relative as generic
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
    q: Array, k: Array, offset: Array, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """q^T R_offset k with offset = n - m for query position m and key position n (REL-5; F-157).

    Parameters
    ----------
    q, k : cupy.ndarray of float, shape (..., D)
        Not rotated; one shape and dtype; D even.
    offset : array_like of int
        n - m, either sign; broadcasts against the leading axes of q and k.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + D/2) if False.
    base : float
        Above 1.

    Returns
    -------
    cupy.ndarray
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
    return generic.relative_score(cupy, q, k, on_device(n), interleaved=interleaved, base=base)
