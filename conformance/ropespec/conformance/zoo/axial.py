"""Wrong angles of several position numbers a token: right for every kind but one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.scaled_tables import rotated_by
from ropespec.spec.axes import Axes, Axial, Mixed, Sections, Woven
from ropespec.spec.convention import Frequencies
from ropespec.spec.scaling import Scaling

__all__ = [
    "angles_of_numbers_in_float32",
    "axial_by_one_exponent",
    "components_for_pairs",
    "consecutive_for_woven",
    "first_number_alone",
    "first_number_of_mixed",
    "gain_lost_among_numbers",
    "sections_reversed",
]

Array = NDArray[Any]
Tables = tuple[Array, Array]
TABLES: dict[str, Any] = {"offers": "cos_sin_axes"}
ROTATION: dict[str, Any] = {"offers": "apply_rotary_axes"}


def _rows(axes: Axes, dim: int, base: float, scaling: Scaling | None = None) -> Array:
    rows = axes.rows(Frequencies(base, scaling), dim)
    return np.array([[float(theta) for theta in row] for row in rows])


def _circle(positions: Array, rows: Array) -> Tables:
    angle = np.einsum("n...,ni->...i", positions.astype(np.float64), rows)
    return np.cos(angle), np.sin(angle)


@wrong("", "The sections are taken from the last one on.", "AXES-2.value", **TABLES)
def sections_reversed(positions: Array, dim: int, base: float = 10000.0, *, axes: Axes) -> Tables:
    """Give the fastest pairs to the last number."""
    if isinstance(axes, Sections):
        return _circle(positions[::-1], _rows(Sections(axes.sections[::-1]), dim, base))
    return _circle(positions, _rows(axes, dim, base))


@wrong("", "The sections count components.", "AXES-2.value", **TABLES)
def components_for_pairs(
    positions: Array, dim: int, base: float = 10000.0, *, axes: Axes
) -> Tables:
    """Give what is left to the last number."""
    rows = _rows(axes, dim, base)
    if isinstance(axes, Sections):
        theta, ends = rows.sum(axis=0), np.cumsum([0, *axes.sections]) // 2
        rows = np.zeros_like(rows)
        for axis, start in enumerate(ends[:-1]):
            stop = None if axis == axes.count - 1 else ends[axis + 1]
            rows[axis, start:stop] = theta[start:stop]
    return _circle(positions, rows)


@wrong("", "Sections in turn are read as consecutive ones.", "AXES-3.value", **TABLES)
def consecutive_for_woven(
    positions: Array, dim: int, base: float = 10000.0, *, axes: Axes
) -> Tables:
    """Take Qwen3-VL for Qwen2-VL."""
    if isinstance(axes, Woven):
        axes = Sections(axes.sections)
    return _circle(positions, _rows(axes, dim, base))


@wrong("", "One exponent runs through the blocks of an axial rotation.", "AXES-4.value", **TABLES)
def axial_by_one_exponent(
    positions: Array, dim: int, base: float = 10000.0, *, axes: Axes
) -> Tables:
    """Take the frequencies of the whole."""
    if isinstance(axes, Axial):
        axes = Sections(axes.sections)
    return _circle(positions, _rows(axes, dim, base))


@wrong("", "Mixed frequencies are those of the first number.", "AXES-5.value", **TABLES)
def first_number_of_mixed(
    positions: Array, dim: int, base: float = 10000.0, *, axes: Axes
) -> Tables:
    """Leave the others out."""
    rows = _rows(axes, dim, base)
    if isinstance(axes, Mixed):
        rows[1:] = 0
    return _circle(positions, rows)


@wrong("", "Of a scaling, several numbers have no gain.", "AXES-1.reference", **TABLES)
def gain_lost_among_numbers(
    positions: Array,
    dim: int,
    base: float = 10000.0,
    *,
    axes: Axes,
    scaling: Scaling | None = None,
) -> Tables:
    """Take the frequencies alone."""
    return _circle(positions, _rows(axes, dim, base, scaling))


@wrong("", "Angles of several numbers are products in float32.", "AXES-1.value", **TABLES)
def angles_of_numbers_in_float32(
    positions: Array, dim: int, base: float = 10000.0, *, axes: Axes
) -> Tables:
    """Lose the angle far from zero."""
    rows = _rows(axes, dim, base).astype(np.float32)
    angle = np.einsum("n...,ni->...i", positions.astype(np.float32), rows)
    return np.cos(angle.astype(np.float64)), np.sin(angle.astype(np.float64))


@wrong(
    "",
    "Pairs that follow another number than the first do not rotate.",
    "AXES-1.text",
    "AXES-1.reference-rotation",
    **ROTATION,
)
def first_number_alone(
    x: Array,
    positions: Array,
    *,
    interleaved: bool,
    axes: Axes,
    base: float = 10000.0,
    scaling: Scaling | None = None,
) -> Array:
    """Look at the first row of the positions."""
    rows = _rows(axes, x.shape[-1], base, scaling)
    return rotated_by(x, _circle(positions[:1], rows[:1]), interleaved=interleaved)
