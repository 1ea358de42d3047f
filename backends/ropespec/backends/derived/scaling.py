"""The rotation by scaled frequencies (chapter `scaling`)."""

from ropespec.backends.derived.part import Part
from ropespec.backends.phase import scaled_steps
from ropespec.spec.api import ArrayT, Device, Positions
from ropespec.spec.arguments import check_dim
from ropespec.spec.scaling import Scaling as Scheme
from ropespec.spec.scaling import check_scaling

__all__ = ["Scaling"]


class Scaling(Part[ArrayT]):
    """The chapter's functions."""

    def inv_freq_scaled(
        self, dim: int, base: float = 10000.0, *, scaling: Scheme, device: Device = None
    ) -> ArrayT:
        dim, base = check_dim(dim), self._of.base_of(base)
        steps = scaled_steps(check_scaling(scaling), dim, base)
        return self._of.constants(steps.theta, device)

    def cos_sin_scaled(
        self, positions: Positions[ArrayT], dim: int, base: float = 10000.0, *, scaling: Scheme
    ) -> tuple[ArrayT, ArrayT]:
        of = self._of
        m = of.positions_of(positions)
        dim, base = check_dim(dim), of.base_of(base)
        cos, sin = of.circle_by(m, scaled_steps(check_scaling(scaling), dim, base), None)
        return cos, sin

    def apply_rotary_scaled(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        *,
        interleaved: bool,
        scaling: Scheme,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        of = self._of
        m, paired, base, dim = of.read_rotation(x, positions, interleaved, base, rotary_dim)
        steps = scaled_steps(check_scaling(scaling), dim, base)
        turned: ArrayT = of.rotate_by(x, *of.circle_by(m, steps, x), interleaved=paired)
        return turned
