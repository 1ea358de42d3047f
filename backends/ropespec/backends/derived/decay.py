"""The decay curve (chapter `decay`)."""

from ropespec.backends.derived.part import Array, Bound, Part
from ropespec.spec.api import ArrayT, Positions
from ropespec.spec.arguments import check_dim

__all__ = ["Decay"]


class Decay(Part[ArrayT]):
    """The chapter's function."""

    def decay_bound(self, offsets: Positions[ArrayT], dim: int, base: float = 10000.0) -> ArrayT:
        of = self._of
        m = of.positions_of(offsets, "offsets")
        dim, base = check_dim(dim), of.base_of(base)
        return of.run(_mean_of_sums, of.turning(m, dim, base))


def _mean_of_sums(of: Bound, turning: Array) -> Array:
    """Mean over j of abs(S_j), S_j the sum of the first j points of the unit circle."""
    xp, (cos, sin) = of.xp, of.circle(turning)
    sums = xp.cumsum(xp.stack((cos, sin)), -1)
    return of.cast(xp.mean(xp.hypot(sums[0], sums[1]), -1), cos.dtype)
