"""The rotation by scaled frequencies (chapter `scaling`)."""

from ropespec.backends.derived.part import Array, Bound, Part
from ropespec.backends.phase import Steps, scaled_steps
from ropespec.spec.api import ArrayT, Device, Positions
from ropespec.spec.arguments import check_dim
from ropespec.spec.scaling import Scaling as Scheme
from ropespec.spec.scaling import check_scaling

__all__ = ["Scaling", "tables"]


class Scaling(Part[ArrayT]):
    """The chapter's functions."""

    def inv_freq_scaled(
        self, dim: int, base: float = 10000.0, *, scaling: Scheme, device: Device = None
    ) -> ArrayT:
        dim, base = check_dim(dim), self._of.base_of(base)
        steps = scaled_steps(check_scaling(scaling), dim, base)
        return self._of.constants(steps.theta[0], device)

    def cos_sin_scaled(
        self, positions: Positions[ArrayT], dim: int, base: float = 10000.0, *, scaling: Scheme
    ) -> tuple[ArrayT, ArrayT]:
        of = self._of
        m = of.positions_of(positions)
        dim, base = check_dim(dim), of.base_of(base)
        return tables(of, m[None], scaled_steps(check_scaling(scaling), dim, base))

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
        turned: ArrayT = of.rotate_by(x, *tables(of, m[None], steps, x), interleaved=paired)
        return turned


def tables(
    of: Bound, positions: Array, steps: Steps, x: Array | None = None
) -> tuple[Array, Array]:
    """Return A cos and A sin by exact phase, for positions (n, ...) of n numbers a token.

    Beside `x`, or where the positions lie.
    """
    cos, sin = of.circle_by(positions, steps.turns, x)
    return (cos, sin) if steps.gain == 1 else (cos * steps.gain, sin * steps.gain)
