"""The rotation by several position numbers a token (chapter `axes`)."""

from ropespec.backends.derived.part import Array, Part
from ropespec.backends.derived.scaling import tables
from ropespec.backends.phase import axial_steps
from ropespec.spec.api import ArrayT, Positions
from ropespec.spec.arguments import check_dim, facts
from ropespec.spec.axes import Axes as Followed
from ropespec.spec.axes import check_axes, check_rows
from ropespec.spec.scaling import Scaling as Scheme
from ropespec.spec.scaling import check_scaling

__all__ = ["Axes"]


class Axes(Part[ArrayT]):
    """The chapter's functions."""

    def cos_sin_axes(
        self,
        positions: Positions[ArrayT],
        dim: int,
        base: float = 10000.0,
        *,
        axes: Followed,
        scaling: Scheme | None = None,
    ) -> tuple[ArrayT, ArrayT]:
        of = self._of
        m = of.positions_of(positions)
        dim, base, axes = check_dim(dim), of.base_of(base), check_axes(axes)
        if scaling is not None:
            check_scaling(scaling)
        check_rows(facts(m), axes)
        return tables(of, m, axial_steps(axes, scaling, dim, base))

    def apply_rotary_axes(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        *,
        interleaved: bool,
        axes: Followed,
        base: float = 10000.0,
        rotary_dim: int | None = None,
        scaling: Scheme | None = None,
    ) -> ArrayT:
        of = self._of
        of.check_floats("x", x, ndim=3)
        m: Array = of.positions_of(positions)
        check_rows(facts(m), check_axes(axes))
        _, paired, base, dim = of.read_rotation(x, m[0], interleaved, base, rotary_dim)
        if scaling is not None:
            check_scaling(scaling)
        steps = axial_steps(axes, scaling, dim, base)
        turned: ArrayT = of.rotate_by(x, *tables(of, m, steps, x), interleaved=paired)
        return turned
