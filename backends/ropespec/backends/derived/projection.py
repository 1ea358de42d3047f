"""f_q, f_k and f_v with their weights (chapter `projection`)."""

from ropespec.backends.derived.part import Array, Bound, Part
from ropespec.spec.api import ArrayT, Positions
from ropespec.spec.arguments import (
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    check_weight,
    facts,
)

__all__ = ["Projection"]


class Projection(Part[ArrayT]):
    """The chapter's functions."""

    def project_query(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        weight: ArrayT,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        of = self._of
        found = of.check_floats("x", x, ndim=2)
        of.check_floats("weight", weight, ndim=1)
        m = of.positions_of(positions)
        interleaved, base = check_flag("interleaved", interleaved), of.base_of(base)
        dim = check_rotary_dim(rotary_dim, check_weight(weight, found).shape[1])
        check_positions_fit(facts(m), found.shape[:-1])
        turning = of.turning(m, dim, base, x)
        return of.run(_rotated, x, weight, turning, interleaved=interleaved)

    def project_key(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        weight: ArrayT,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        return self.project_query(
            x, positions, weight, interleaved=interleaved, base=base, rotary_dim=rotary_dim
        )

    def project_value(self, x: ArrayT, weight: ArrayT) -> ArrayT:
        of = self._of
        found = of.check_floats("x", x, ndim=2)
        of.check_floats("weight", weight, ndim=1)
        check_weight(weight, found)
        return of.run(_projected, x, weight)


def _project(of: Bound, x: Array, weight: Array) -> Array:
    """W x in the arithmetic dtype: (..., S, d_in), (H, D, d_in) to (..., S, H, D)."""
    work = of.work(x.dtype)
    heads, dim, width = weight.shape
    flat = of.cast(weight.reshape(heads * dim, width), work)
    return of.matmul(of.cast(x, work), flat.T).reshape(*x.shape[:-1], heads, dim)


def _rotated(of: Bound, x: Array, weight: Array, turning: Array, *, interleaved: bool) -> Array:
    turned = of.rotate(_project(of, x, weight), turning, interleaved=interleaved)
    return of.cast(turned, x.dtype)


def _projected(of: Bound, x: Array, weight: Array) -> Array:
    return of.cast(_project(of, x, weight), x.dtype)
