"""The score as a function of the signed offset (chapter `relative`)."""

import cupy

from ropespec.backends.cupy.arrays import Array, check_floats, device_of, on_device, positions_of
from ropespec.backends.xp import relative as generic
from ropespec.spec.arguments import (
    check_base,
    check_flag,
    check_offset,
    check_pair,
    check_rotary_dim,
    check_same_dtype,
    facts,
)

__all__ = ["relative_score"]


def relative_score(
    q: Array,
    k: Array,
    offset: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """q^T R_offset k with offset = n - m for query position m and key position n (REL-5; F-157).

    Parameters
    ----------
    q, k : cupy.ndarray of float, shape (..., D)
        Not rotated; one shape and dtype.
    offset : array_like of int
        n - m, either sign; broadcasts against the leading axes of q and k.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        r, even: the first r components rotate, the rest adds its plain product; D by default.

    Returns
    -------
    cupy.ndarray
        The broadcast shape of `offset` and (...), dtype and device of q; rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If an argument has the wrong type or dtype, or k not the dtype of q.
    ArgumentValueError
        If `rotary_dim` is odd, below 2 or above D, the shapes of q and k differ, `offset` does not
        broadcast, or `base` is not finite or not above 1.
    """
    left, right = check_floats("q", q, ndim=1), check_floats("k", k, ndim=1)
    n = positions_of(offset, "offset")
    check_flag("interleaved", interleaved)
    base = check_base(base)
    dim = check_rotary_dim(rotary_dim, left.shape[-1])
    check_same_dtype("k", right, "q", left)
    check_pair("k", right, "q", left)
    check_offset(facts(n), left.shape[:-1])
    with device_of(q):
        return generic.relative_score(
            cupy, q, k, on_device(n), interleaved=interleaved, base=base, rotary_dim=dim
        )
