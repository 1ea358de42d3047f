"""Frequencies, angles, tables and rotations as printed wrong, with the API's signatures.

Each function has the one mistake of its erratum and is right otherwise; shapes, domains and errors
are those of the API function that it stands for.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, as_float64, as_positions, round_to
from ropespec.reference.frequencies import angles, even_indices, inv_freq
from ropespec.reference.projection import project_value
from ropespec.reference.rotation import apply_rotary_cos_sin
from ropespec.reference.sinusoidal import sinusoidal_embedding

__all__ = [
    "PRINTED_ROTATIONS",
    "doubled_angles",
    "last_block",
    "other_layout",
    "product_of_terms",
    "scalar_angles",
    "sines_before_cosines",
    "theta_at_matrix_indices",
    "theta_by_log10",
    "theta_from_one",
    "theta_of_one_more",
    "theta_twice",
    "twice_the_cosine",
]

Float = NDArray[np.float64]
Form = Callable[..., Any]
"""A printed form; its signature is that of the API function it stands for."""


def theta_from_one(dim: int, base: float = 10000.0) -> Float:
    """base^(-2i/dim) at i = 1..dim/2, as document 003 numbers its blocks (E-26; F-005)."""
    return np.asarray(base ** (-2.0 * np.arange(1, dim // 2 + 1) / dim))


def theta_at_matrix_indices(dim: int, base: float = 10000.0) -> Float:
    """base^(-2(i-1)/dim) at i = 0..dim/2-1, the indices of document 004's matrix (E-45; F-004)."""
    return np.asarray(base ** (-2.0 * (np.arange(dim // 2) - 1) / dim))


def theta_by_log10(dim: int, base: float = 10000.0) -> Float:
    """e^(-(i/dim) log(base)), i = 0, 2, ..., with `log` to base 10 (E-37; F-014)."""
    return np.exp(-(even_indices(dim) / dim) * math.log10(base))


def theta_of_one_more(dim: int, base: float = 10000.0) -> Float:
    """base^(-2i/dim) at i = 0..dim/2, both ends included (E-32; F-028)."""
    return np.asarray(base ** (-2.0 * np.arange(dim // 2 + 1) / dim))


def theta_twice(dim: int, base: float = 10000.0) -> Float:
    """base^(-2i/dim) at the printed ids 0, 0, 1, 1, ... (E-52; F-207, F-208)."""
    ids = np.repeat(np.arange(dim // 2), 2)
    return np.asarray(base ** (-2.0 * ids / dim))


def scalar_angles(positions: ArrayLike, inv_freq: Floats) -> Float:
    """m theta with one scalar theta, that of pair 0, for every pair (E-02; F-023, F-081)."""
    return angles(positions, np.broadcast_to(inv_freq[:1], inv_freq.shape))


def doubled_angles(positions: ArrayLike, inv_freq: Floats) -> Float:
    """2 m theta_i: "must be doubled" as a product instead of a list (E-10; F-018)."""
    return 2.0 * angles(positions, inv_freq)


def _by_theta(positions: ArrayLike, inv_freq: Floats) -> Float:
    """theta_i at every position, as document 003 says of the matrix with m theta_i (E-27)."""
    return angles(np.ones_like(as_positions(positions)), inv_freq)


def _theta_squared(positions: ArrayLike, inv_freq: Floats) -> Float:
    """M_i((n-m) theta_i) where M_i(m) already is the rotation by m theta_i (E-28; F-155, F-166)."""
    return angles(positions, inv_freq) * inv_freq


def twice_the_cosine(cos: Float, sin: Float) -> tuple[Float, Float]:
    """Real and imaginary part of e^{im theta} + e^{-im theta} (E-07; F-053)."""
    return cos + cos, sin - sin


def sines_before_cosines(positions: ArrayLike, dim: int, base: float = 10000.0) -> Float:
    """Put the sines in the first half of the components and the cosines in the second (E-55)."""
    table = sinusoidal_embedding(positions, dim, base)
    return np.concatenate([table[..., ::2], table[..., 1::2]], axis=-1)


def last_block(x: Floats, cos: Floats, sin: Floats, *, interleaved: bool) -> Floats:
    """(sin, cos) in the upper row of the last block, as in document 002 (E-19; F-129)."""
    y = apply_rotary_cos_sin(x, cos, sin, interleaved=interleaved).copy()
    dim = 2 * cos.shape[-1]
    second = dim - 1
    first = second - 1 if interleaved else dim // 2 - 1
    c, s = (as_float64(part)[..., -1:] for part in (cos, sin))
    wide = as_float64(x)
    y[..., first] = round_to(wide[..., first] * s + wide[..., second] * c, x.dtype)
    return y


def product_of_terms(x: Floats, cos: Floats, sin: Floats, *, interleaved: bool) -> Floats:
    """(x * cos) times (rot(x) * sin): "split into two matrices multiplied" (E-09; F-139)."""
    nothing = np.zeros_like(cos)
    first = apply_rotary_cos_sin(x, cos, nothing, interleaved=interleaved)
    second = apply_rotary_cos_sin(x, nothing, sin, interleaved=interleaved)
    y = np.array(x)
    dim = 2 * cos.shape[-1]
    y[..., :dim] = first[..., :dim] * second[..., :dim]
    return y


def other_layout(x: Floats, cos: Floats, sin: Floats, *, interleaved: bool) -> Floats:
    """R x of the other matrix that has the same name in document 001 (E-17, E-66; F-137)."""
    return apply_rotary_cos_sin(x, cos, sin, interleaved=not interleaved)


_THETA: Mapping[str, Form] = {
    "E-26": theta_from_one,
    "E-37": theta_by_log10,
    "E-45": theta_at_matrix_indices,
}
_ANGLES: Mapping[str, Form] = {
    "E-02": scalar_angles,
    "E-10": doubled_angles,
    "E-27": _by_theta,
}
_BY_TABLES: Mapping[str, Form] = {
    "E-09": product_of_terms,
    "E-17": other_layout,
    "E-19": last_block,
    "E-66": other_layout,
}
_OPPOSITE = ("E-04", "E-40", "E-41", "E-46")  # R(m - n), or a row times R
_ONE_POSITION = ("E-14", "E-15")


def _table(erratum: str) -> Form:
    """Return `cos_sin` with wrong frequencies or wrong angles."""

    def cos_sin(positions: ArrayLike, dim: int, base: float = 10000.0) -> tuple[Float, Float]:
        theta = _THETA.get(erratum, inv_freq)(dim, base)
        angle = _ANGLES.get(erratum, angles)(positions, theta)
        if erratum == "E-07":
            return twice_the_cosine(np.cos(angle), np.sin(angle))
        return np.cos(angle), np.sin(angle)

    return cos_sin


def _rotation(erratum: str) -> Form:
    """Return `apply_rotary` with the mistake of an erratum."""

    def rotate(
        x: Floats,
        positions: ArrayLike,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> Floats:
        m = as_positions(positions).astype(np.int64)
        if erratum in _OPPOSITE:
            m = -m
        elif erratum in _ONE_POSITION:
            m = np.broadcast_to(m[..., :1], m.shape)
        dim = x.shape[-1] if rotary_dim is None else rotary_dim
        cos, sin = _table(erratum)(m, dim, base)
        by_tables = _BY_TABLES.get(erratum, apply_rotary_cos_sin)
        return np.asarray(by_tables(x, cos, sin, interleaved=interleaved))

    return rotate


def _added(
    x: Floats,
    positions: ArrayLike,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Floats:
    """Add the position to the vector, as document 004 says of RoPE (E-65; F-099)."""
    del interleaved
    y = as_float64(x)
    dim = x.shape[-1] if rotary_dim is None else rotary_dim
    y[..., :dim] += sinusoidal_embedding(positions, dim, base)[..., np.newaxis, :]
    return round_to(y, x.dtype)


def _matrix(rotate: Form) -> Form:
    """Return `rotation_matrix` whose column j is the rotated e_j."""

    def rotation_matrix(
        positions: ArrayLike, dim: int, *, interleaved: bool, base: float = 10000.0
    ) -> Float:
        m = as_positions(positions)
        basis = np.broadcast_to(np.eye(dim), (m.size, dim, dim))
        rows = rotate(basis, m.reshape(-1), interleaved=interleaved, base=base)
        return np.asarray(np.swapaxes(rows, -1, -2).reshape(*m.shape, dim, dim))

    return rotation_matrix


def _interleaved(rotate: Form) -> Form:
    """Return `apply_rotary_complex`, which knows one layout."""

    def rotate_complex(
        x: Floats, positions: ArrayLike, *, base: float = 10000.0, rotary_dim: int | None = None
    ) -> Floats:
        rotated = rotate(x, positions, interleaved=True, base=base, rotary_dim=rotary_dim)
        return np.asarray(rotated)

    return rotate_complex


def _projection(rotate: Form) -> Form:
    """Return `project_query` or `project_key` with another rotation."""

    def project(x: Floats, positions: ArrayLike, weight: Floats, **conventions: Any) -> Floats:  # noqa: ANN401  # passed on
        wide = project_value(as_float64(x), as_float64(weight))
        return round_to(rotate(wide, positions, **conventions), x.dtype)

    return project


def _unrotated(x: Floats, positions: ArrayLike, **conventions: Any) -> Floats:  # noqa: ANN401  # as any rotation
    """Leave the key as it is: only the query is rotated, as document 002 says (E-24; F-125)."""
    del positions, conventions
    return x


_LINEAR = ("E-02", "E-10", "E-26", "E-27", "E-37", "E-45", *_OPPOSITE, "E-17", "E-19", "E-66")
_ROTATIONS: Mapping[str, Form] = {
    erratum: _rotation(erratum) for erratum in ("E-07", "E-09", *_LINEAR, *_ONE_POSITION)
}
_PROJECTIONS = {
    erratum: _projection(_ROTATIONS[erratum])
    for erratum in ("E-02", "E-10", "E-26", "E-27", "E-45", *_ONE_POSITION)
}

PRINTED_ROTATIONS: Mapping[str, Mapping[str, Form]] = {
    "inv_freq": {**_THETA, "E-32": theta_of_one_more, "E-52": theta_twice},
    "angles": {**_ANGLES, "E-28": _theta_squared},
    "cos_sin": {erratum: _table(erratum) for erratum in ("E-07", *_ANGLES, *_THETA)},
    "sinusoidal_embedding": {"E-55": sines_before_cosines},
    "rotation_matrix": {erratum: _matrix(_ROTATIONS[erratum]) for erratum in _LINEAR},
    "apply_rotary_dense": {erratum: _ROTATIONS[erratum] for erratum in _LINEAR},
    "apply_rotary": {**_ROTATIONS, "E-65": _added},
    "apply_rotary_cos_sin": _BY_TABLES,
    "apply_rotary_complex": {
        erratum: _interleaved(_ROTATIONS[erratum])
        for erratum in ("E-02", "E-07", "E-10", "E-26", "E-27", "E-45", *_OPPOSITE)
    },
    "project_query": _PROJECTIONS,
    "project_key": {**_PROJECTIONS, "E-24": _projection(_unrotated)},
}
"""By function of the API and erratum: the form that is printed wrong."""
