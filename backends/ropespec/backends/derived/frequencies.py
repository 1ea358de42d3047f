"""Frequencies, angles, and cos and sin by exact phase (chapter `frequencies`)."""

from ropespec.backends.derived.part import Array, Bound, Part
from ropespec.spec.api import ArrayT, Device, Positions
from ropespec.spec.arguments import check_dim, check_inv_freq

__all__ = ["Frequencies"]


class Frequencies(Part[ArrayT]):
    """The chapter's functions."""

    def inv_freq(self, dim: int, base: float = 10000.0, *, device: Device = None) -> ArrayT:
        dim, base = check_dim(dim), self._of.base_of(base)
        return self._of.inv_freq(dim, base, device)

    def angles(self, positions: Positions[ArrayT], inv_freq: ArrayT) -> ArrayT:
        of = self._of
        m = of.positions_of(positions)
        of.check_array("inv_freq", inv_freq)
        check_inv_freq(inv_freq)
        m = of.placed(m, inv_freq)
        return of.run(_angles, m, of.beside(inv_freq, m))

    def cos_sin(
        self, positions: Positions[ArrayT], dim: int, base: float = 10000.0
    ) -> tuple[ArrayT, ArrayT]:
        of = self._of
        m = of.positions_of(positions)
        dim, base = check_dim(dim), of.base_of(base)
        return of.circle(of.turning(m, dim, base))


def _angles(of: Bound, positions: Array, inv_freq: Array) -> Array:
    wide = of.wide()
    return of.cast(positions, wide)[..., None] * of.cast(inv_freq, wide)
