"""The absolute embedding of the Transformer paper (chapter `sinusoidal`)."""

from ropespec.backends.derived.part import Array, Bound, Part
from ropespec.spec.api import ArrayT, Positions
from ropespec.spec.arguments import check_dim

__all__ = ["Sinusoidal"]


class Sinusoidal(Part[ArrayT]):
    """The chapter's function."""

    def sinusoidal_embedding(
        self, positions: Positions[ArrayT], dim: int, base: float = 10000.0
    ) -> ArrayT:
        of = self._of
        m = of.positions_of(positions)
        dim, base = check_dim(dim), of.base_of(base)
        return of.run(_embedding, of.turning(m, dim, base))


def _embedding(of: Bound, turning: Array) -> Array:
    cos, sin = of.circle(turning)
    return of.join_pairs(sin, cos, interleaved=True)
