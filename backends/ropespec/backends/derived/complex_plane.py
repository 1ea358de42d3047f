"""Pairs of components as complex numbers (chapter `complex_plane`)."""

from ropespec.backends.derived.part import Array, Bound, Part
from ropespec.spec.api import ArrayT
from ropespec.spec.arguments import check_complex, check_dim

__all__ = ["ComplexPlane", "as_complex", "as_real"]


class ComplexPlane(Part[ArrayT]):
    """The chapter's functions."""

    def to_complex(self, x: ArrayT) -> ArrayT:
        found = self._of.check_floats("x", x, ndim=1)
        check_dim(found.shape[-1], "head_dim")
        return self._of.run(as_complex, x)

    def from_complex(self, z: ArrayT) -> ArrayT:
        self._of.check_array("z", z)
        check_complex("z", z, ndim=1)
        return self._of.run(as_real, z)


def as_complex(of: Bound, x: Array) -> Array:
    """Return x_2i + i x_2i+1 in the arithmetic of x: (..., d) to (..., d/2)."""
    return of.complex(*of.split_pairs(of.cast(x, of.work(x.dtype)), interleaved=True))


def as_real(of: Bound, z: Array) -> Array:
    """Undo `as_complex`."""
    return of.join_pairs(z.real, z.imag, interleaved=True)
