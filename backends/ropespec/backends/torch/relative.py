"""The score as a function of the signed offset (chapter `relative`)."""

import torch

from ropespec.backends.torch.arrays import (
    Positions,
    arithmetic,
    base_of,
    check_floats,
    on_device,
    positions_of,
)
from ropespec.backends.torch.frequencies import unit_circle
from ropespec.backends.torch.rotation import split_pairs
from ropespec.spec.arguments import (
    check_flag,
    check_offset,
    check_pair,
    check_rotary_dim,
    check_same_dtype,
    facts,
)

__all__ = ["relative_score"]


def relative_score(
    q: torch.Tensor,
    k: torch.Tensor,
    offset: Positions,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> torch.Tensor:
    """q^T R_offset k with offset = n - m for query position m and key position n (REL-5; F-157).

    Parameters
    ----------
    q, k : torch.Tensor of float, shape (..., D)
        Not rotated; one shape and dtype.
    offset : tensor or array_like of int
        n - m, either sign; broadcasts against the leading axes of q and k.
    interleaved : bool
        Pairs (2i, 2i+1) if True, (i, i + r/2) if False.
    base : float
        Above 1.
    rotary_dim : int, optional
        r, even: the first r components rotate, the rest adds its plain product; D by default.

    Returns
    -------
    torch.Tensor
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
    base = base_of(base)
    dim = check_rotary_dim(rotary_dim, left.shape[-1])
    check_same_dtype("k", right, "q", left)
    check_pair("k", right, "q", left)
    check_offset(facts(n), left.shape[:-1])
    work = arithmetic(q.dtype)
    wide_q, wide_k = q.to(work), k.to(work)
    q1, q2 = split_pairs(wide_q[..., :dim], interleaved=interleaved)
    k1, k2 = split_pairs(wide_k[..., :dim], interleaved=interleaved)
    cos, sin = unit_circle(on_device(n, q.device), dim, base, work)
    terms = (q1 * k1 + q2 * k2) * cos + (q2 * k1 - q1 * k2) * sin
    tail = wide_q[..., dim:] * wide_k[..., dim:]
    return (terms.sum(-1) + tail.sum(-1)).to(q.dtype)
