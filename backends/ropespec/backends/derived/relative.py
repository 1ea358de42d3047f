"""The score as a function of the signed offset (chapter `relative`)."""

from ropespec.backends.derived.part import Array, Bound, Part
from ropespec.spec.api import ArrayT, Positions
from ropespec.spec.arguments import (
    check_flag,
    check_offset,
    check_pair,
    check_rotary_dim,
    check_same_dtype,
    facts,
)

__all__ = ["Relative"]


class Relative(Part[ArrayT]):
    """The chapter's function."""

    def relative_score(
        self,
        q: ArrayT,
        k: ArrayT,
        offset: Positions[ArrayT],
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        of = self._of
        left, right = of.check_floats("q", q, ndim=1), of.check_floats("k", k, ndim=1)
        n = of.positions_of(offset, "offset")
        interleaved, base = check_flag("interleaved", interleaved), of.base_of(base)
        dim = check_rotary_dim(rotary_dim, left.shape[-1])
        check_same_dtype("k", right, "q", left)
        check_pair("k", right, "q", left)
        check_offset(facts(n), left.shape[:-1])
        return of.run(_score, q, k, of.turning(n, dim, base, q), interleaved=interleaved)


def _score(of: Bound, q: Array, k: Array, turning: Array, *, interleaved: bool) -> Array:
    """sum_i cos (q1 k1 + q2 k2) + sin (q2 k1 - q1 k2) over the pairs, and the rest q k."""
    cos, sin = of.circle(turning)
    work, dim, dtype = of.work(q.dtype), 2 * cos.shape[-1], q.dtype
    q, k = of.cast(q, work), of.cast(k, work)
    q1, q2 = of.split_pairs(q[..., :dim], interleaved=interleaved)
    k1, k2 = of.split_pairs(k[..., :dim], interleaved=interleaved)
    terms = (q1 * k1 + q2 * k2) * cos + (q2 * k1 - q1 * k2) * sin
    tail = of.xp.sum(q[..., dim:] * k[..., dim:], -1)
    return of.cast(of.xp.sum(terms, -1) + tail, dtype)
