"""The rotation by several position numbers a token (chapter `axes`)."""

from ropespec.backends.derived.part import Part
from ropespec.backends.phase import axial_steps
from ropespec.spec.api import ArrayT, Positions
from ropespec.spec.arguments import (
    ArrayFacts,
    check_dim,
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    facts,
)
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
        cos, sin = of.circle_by(m, axial_steps(axes, scaling, dim, base), None)
        return cos, sin

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
        shape = of.check_floats("x", x, ndim=3).shape
        m = of.positions_of(positions)
        rows = facts(m)
        check_rows(rows, check_axes(axes))
        paired, base = check_flag("interleaved", interleaved), of.base_of(base)
        dim = check_rotary_dim(rotary_dim, shape[-1])
        check_positions_fit(ArrayFacts(rows.shape[1:], rows.dtype), shape[:-2])
        if scaling is not None:
            check_scaling(scaling)
        steps = axial_steps(axes, scaling, dim, base)
        turned: ArrayT = of.rotate_by(x, *of.circle_by(m, steps, x), interleaved=paired)
        return turned
