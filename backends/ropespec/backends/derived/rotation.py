"""The rotation R_m x, apart from the sparse form by tables (chapter `rotation`)."""

from typing import Any, NamedTuple

from ropespec.backends.derived.complex_plane import as_complex, as_real
from ropespec.backends.derived.part import Array, Bound, Part
from ropespec.spec.api import ArrayT, Positions
from ropespec.spec.arguments import (
    check_dim,
    check_flag,
    check_positions_fit,
    check_rotary_dim,
    facts,
)

__all__ = ["Rotation"]


class _Call(NamedTuple):
    """The checked arguments of one rotation."""

    turning: Any
    interleaved: bool
    rotary_dim: int


class Rotation(Part[ArrayT]):
    """The chapter's functions, but for the one that takes tables."""

    def rotation_matrix(
        self,
        positions: Positions[ArrayT],
        dim: int,
        *,
        interleaved: bool,
        base: float = 10000.0,
    ) -> ArrayT:
        of = self._of
        m = of.positions_of(positions)
        dim = check_dim(dim)
        interleaved, base = check_flag("interleaved", interleaved), of.base_of(base)
        return of.run(_matrix, of.turning(m, dim, base), interleaved=interleaved)

    def apply_rotary(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        call = self._read(x, positions, interleaved, base, rotary_dim)
        turned: ArrayT = self._of.rotate(x, call.turning, interleaved=call.interleaved)
        return turned

    def apply_rotary_dense(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        call = self._read(x, positions, interleaved, base, rotary_dim)
        options = {"interleaved": call.interleaved, "dim": call.rotary_dim}
        return self._of.run(_apply_dense, x, call.turning, **options)

    def apply_rotary_complex(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        *,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        call = self._read(x, positions, True, base, rotary_dim)  # the layout
        return self._of.run(_apply_complex, x, call.turning, dim=call.rotary_dim)

    def interleaved_to_half(self, x: ArrayT) -> ArrayT:
        check_dim(self._of.check_floats("x", x, ndim=1).shape[-1], "head_dim")
        return self._of.run(_reordered, x, interleaved=True)

    def half_to_interleaved(self, x: ArrayT) -> ArrayT:
        check_dim(self._of.check_floats("x", x, ndim=1).shape[-1], "head_dim")
        return self._of.run(_reordered, x, interleaved=False)

    def _read(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        interleaved: bool,
        base: float,
        rotary_dim: int | None,
    ) -> _Call:
        of = self._of
        shape = of.check_floats("x", x, ndim=3).shape
        m = of.positions_of(positions)
        interleaved, base = check_flag("interleaved", interleaved), of.base_of(base)
        dim = check_rotary_dim(rotary_dim, shape[-1])
        check_positions_fit(facts(m), shape[:-2])
        return _Call(of.turning(m, dim, base, x), interleaved, dim)


def _matrix(of: Bound, turning: Array, *, interleaved: bool) -> Array:
    """R_m by its rows: those of the first components are (cos, -sin), of the second (sin, cos)."""
    cos, sin = of.circle(turning)
    rows = (cos, -sin), (sin, cos)
    first, second = (
        of.join_pairs(*(of.diagonal(part) for part in row), interleaved=interleaved) for row in rows
    )
    if not interleaved:
        return of.xp.concatenate((first, second), -2)
    *lead, _, dim = first.shape
    return of.xp.stack((first, second), -2).reshape(*lead, dim, dim)


def _apply_dense(of: Bound, x: Array, turning: Array, *, interleaved: bool, dim: int) -> Array:
    head = of.cast(x[..., :dim], of.work(x.dtype))
    matrix = _matrix(of, turning, interleaved=interleaved)
    return of.with_tail(of.matmul(head, of.xp.swapaxes(matrix, -1, -2)), x)


def _apply_complex(of: Bound, x: Array, turning: Array, *, dim: int) -> Array:
    unit = of.complex(*of.circle(turning))
    turned = as_complex(of, x[..., :dim]) * unit[..., None, :]
    return of.with_tail(as_real(of, turned), x)


def _reordered(of: Bound, x: Array, *, interleaved: bool) -> Array:
    """Put pairs of this layout into the other."""
    pairs = of.split_pairs(x, interleaved=interleaved)
    return of.join_pairs(*pairs, interleaved=not interleaved)
