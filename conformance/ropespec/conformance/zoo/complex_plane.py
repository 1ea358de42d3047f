"""Wrong complex pairs, dense matrices and permutations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import turn

__all__ = [
    "Permutation",
    "complex_by_the_conjugate",
    "dense_from_the_right",
    "dense_of_the_whole_head",
    "dense_without_the_last_block",
    "halves_from_complex",
    "halves_to_complex",
    "matrix_of_the_other_layout",
    "transposed_matrix",
]

Array = NDArray[Any]


def _parts(x: Array) -> Array:
    return x if x.dtype == np.float64 else x.astype(np.float32)


@wrong(
    "wrong pairing",
    "A complex number is read from the two halves.",
    "CPLX-8.to-complex",
    "CPLX-8.reference",
    offers="to_complex",
)
def halves_to_complex(x: Array) -> Array:
    """Take x[i] + i x[i + d/2]."""
    n, wide = x.shape[-1] // 2, _parts(x)
    z = np.empty((*x.shape[:-1], n), np.result_type(wide.dtype, np.complex64))
    z.real, z.imag = wide[..., :n], wide[..., n:]
    return z


@wrong(
    "left de-interleaved",
    "Real parts are put before imaginary parts.",
    "CPLX-8.from-complex",
    "CPLX-8.reference-back",
    offers="from_complex",
)
def halves_from_complex(z: Array) -> Array:
    """Concatenate."""
    return np.concatenate([z.real, z.imag], axis=-1)


@wrong(
    "direction reversed",
    "The product is that of the conjugate.",
    "ROT-8.value",
    "ROT-8.reference",
    offers="apply_rotary_complex",
    interleaved=True,
)
def complex_by_the_conjugate(x: Array, positions: Array, *, base: float = 10000.0) -> Array:
    """Multiply by e^{-i m theta}."""
    return turn(x, -positions, pairs=True, base=base)


def _dense(positions: Array, dim: int, base: float, *, interleaved: bool) -> Array:
    """Return R with R e_j in column j."""
    eye = np.broadcast_to(np.eye(dim), (*positions.shape, dim, dim))
    turned = turn(eye, positions, pairs=interleaved, base=base)
    return np.ascontiguousarray(turned.swapaxes(-1, -2))


@wrong(
    "direction reversed",
    "The matrix is transposed.",
    "ROT-3.matrix",
    "ROT-3.matrix-reference",
    offers="rotation_matrix",
    layouts=(True,),
)
def transposed_matrix(
    positions: Array, dim: int, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """Return R^T."""
    return _dense(-positions, dim, base, interleaved=interleaved)


@wrong(
    "wrong pairing",
    "The half-split matrix is the interleaved one.",
    "ROT-4.matrix",
    "ROT-4.matrix-reference",
    offers="rotation_matrix",
)
def matrix_of_the_other_layout(
    positions: Array, dim: int, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """Forget the permutation."""
    del interleaved
    return _dense(positions, dim, base, interleaved=True)


@wrong(
    "direction reversed",
    "The matrix multiplies from the right.",
    "ROT-3.value",
    "ROT-3.reference",
    offers="apply_rotary_dense",
)
def dense_from_the_right(
    x: Array, positions: Array, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """Return x^T R."""
    dense = _dense(positions, x.shape[-1], base, interleaved=interleaved)
    return (x.astype(np.float64) @ dense).astype(x.dtype)


@wrong(
    "some pairs do not rotate",
    "The last block of the matrix is missing.",
    "ROT-3.value",
    offers="apply_rotary_dense",
)
def dense_without_the_last_block(
    x: Array, positions: Array, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """Fill one block too few."""
    y = turn(x, positions, pairs=interleaved, base=base)
    last = (-2, -1) if interleaved else (x.shape[-1] // 2 - 1, -1)
    y[..., last] = x[..., last]
    return y


@wrong(
    "",
    "The tail is multiplied by the identity, and zero times NaN is NaN.",
    "ROT-16.dense",
    offers="apply_rotary_dense",
)
def dense_of_the_whole_head(
    x: Array,
    positions: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """Multiply the whole head by ((R, 0), (0, I))."""
    r = x.shape[-1] if rotary_dim is None else rotary_dim
    whole = np.broadcast_to(np.eye(x.shape[-1]), (*positions.shape, *x.shape[-1:] * 2)).copy()
    whole[..., :r, :r] = _dense(positions, r, base, interleaved=interleaved)
    with np.errstate(invalid="ignore"):
        y = (whole[..., None, :, :] @ x.astype(np.float64)[..., None])[..., 0]
    return np.asarray(y.astype(x.dtype))


@wrong(
    "wrong permutation",
    "The permutation between the layouts is its own inverse.",
    "ROT-5.permutation",
    "ROT-5.reference",
)
class Permutation:
    """Both directions take the even components first."""

    def interleaved_to_half(self, x: Array) -> Array:
        """Even components, then odd ones."""
        return np.concatenate([x[..., 0::2], x[..., 1::2]], axis=-1)

    def half_to_interleaved(self, x: Array) -> Array:
        """The same again."""
        return self.interleaved_to_half(x)
