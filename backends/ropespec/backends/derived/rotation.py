"""The rotation R_m x, apart from the sparse form by tables (chapter `rotation`)."""

from ropespec.backends.derived.complex_plane import as_complex, as_real
from ropespec.backends.derived.part import Array, Bound, Part
from ropespec.backends.derived.primitives import members
from ropespec.spec.api import ArrayT, Positions
from ropespec.spec.arguments import check_dim, check_flag

__all__ = ["Rotation"]


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
        of = self._of
        m, paired, base, dim = of.read_rotation(x, positions, interleaved, base, rotary_dim)
        turned: ArrayT = of.rotate(x, of.turning(m, dim, base, x), interleaved=paired)
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
        of = self._of
        m, paired, base, dim = of.read_rotation(x, positions, interleaved, base, rotary_dim)
        return of.run(_apply_dense, x, of.turning(m, dim, base, x), interleaved=paired, dim=dim)

    def apply_rotary_complex(
        self,
        x: ArrayT,
        positions: Positions[ArrayT],
        *,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> ArrayT:
        of = self._of
        m, _, base, dim = of.read_rotation(x, positions, True, base, rotary_dim)  # the layout
        return of.run(_apply_complex, x, of.turning(m, dim, base, x), dim=dim)

    def interleaved_to_half(self, x: ArrayT) -> ArrayT:
        check_dim(self._of.check_floats("x", x, ndim=1).shape[-1], "head_dim")
        return self._of.run(_reordered, x, interleaved=True)

    def half_to_interleaved(self, x: ArrayT) -> ArrayT:
        check_dim(self._of.check_floats("x", x, ndim=1).shape[-1], "head_dim")
        return self._of.run(_reordered, x, interleaved=False)


def _matrix(of: Bound, turning: Array, *, interleaved: bool) -> Array:
    """R_m: (cos, -sin; sin, cos) where the rows and columns of a pair meet, and zero elsewhere."""
    cos, sin = of.circle(turning)
    dim = 2 * cos.shape[-1]
    a, b = members(dim, interleaved=interleaved)
    return of.with_diagonals(dim, ((a, a, cos), (a, b, -sin), (b, a, sin), (b, b, cos)))


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
