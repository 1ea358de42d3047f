"""Wrong tables and rotations by scaled frequencies, and gains where none belongs."""

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.scaled import plain, right_of
from ropespec.spec.scaling import DynamicNtk, LongRope, Scaling, Yarn

__all__ = [
    "GainKeptByFactor",
    "LengthKept",
    "UnscaledOnceGrown",
    "angles_in_float32",
    "dead_tables",
    "gain_counted_twice",
    "gain_of_one_mscale",
    "gain_of_the_long_list_alone",
    "gain_on_the_tail",
    "no_gain",
    "rotated_by",
]

Array = NDArray[Any]
Tables = tuple[Array, Array]
TABLES: dict[str, Any] = {"offers": "cos_sin_scaled"}
ROTATION: dict[str, Any] = {"offers": "apply_rotary_scaled"}


def _tables(positions: Array, omega: Array, gain: float) -> Tables:
    angle = positions.astype(np.float64)[..., None] * omega
    return gain * np.cos(angle), gain * np.sin(angle)


def rotated_by(x: Array, tables: Tables, *, interleaved: bool, tail: float = 1.0) -> Array:
    """Rotate by tables, and scale what passes through."""
    cos, sin = (table[..., None, :] for table in tables)
    dim = 2 * cos.shape[-1]
    places = (
        (np.s_[..., 0:dim:2], np.s_[..., 1:dim:2])
        if interleaved
        else (np.s_[..., : dim // 2], np.s_[..., dim // 2 : dim])
    )
    wide = x.astype(np.float64)
    y = wide * tail
    first, second = (wide[place] for place in places)
    y[places[0]], y[places[1]] = first * cos - second * sin, second * cos + first * sin
    return y.astype(x.dtype)


@wrong("", "Angles are products in float32.", "SCAL-1.value", **TABLES)
def angles_in_float32(
    positions: Array, dim: int, base: float = 10000.0, *, scaling: Scaling
) -> Tables:
    """Lose the angle far from zero."""
    omega = right_of(dim, base, scaling).astype(np.float32)
    angle = positions.astype(np.float32)[..., None] * omega
    gain = float(scaling.gain)
    return gain * np.cos(angle.astype(np.float64)), gain * np.sin(angle.astype(np.float64))


@wrong("", "The tables take no notice of the scheme.", "SCAL-1.reference-tables", **TABLES)
def dead_tables(positions: Array, dim: int, base: float = 10000.0, *, scaling: Scaling) -> Tables:
    """Use the plain frequencies."""
    return _tables(positions, plain(dim, base), float(scaling.gain))


@wrong("", "The gain of YaRN is counted twice.", "SCAL-8.gain", **TABLES)
def gain_counted_twice(
    positions: Array, dim: int, base: float = 10000.0, *, scaling: Scaling
) -> Tables:
    """Square it."""
    gain = float(scaling.gain) ** (2 if isinstance(scaling, Yarn) else 1)
    return _tables(positions, right_of(dim, base, scaling), gain)


@wrong("", "An mscale that stands alone makes the gain of YaRN.", "SCAL-8.gain", **TABLES)
def gain_of_one_mscale(
    positions: Array, dim: int, base: float = 10000.0, *, scaling: Scaling
) -> Tables:
    """Fill in 0 for the other one."""
    gain = float(scaling.gain)
    if isinstance(scaling, Yarn) and scaling.mscale and not scaling.mscale_all_dim:
        gain = 0.1 * scaling.mscale * math.log(scaling.factor) + 1
    return _tables(positions, right_of(dim, base, scaling), gain)


@wrong("", "LongRoPE has its gain with the long factors alone.", "SCAL-9.gain", **TABLES)
def gain_of_the_long_list_alone(
    positions: Array, dim: int, base: float = 10000.0, *, scaling: Scaling
) -> Tables:
    """Leave it out for short sequences."""
    gain = float(scaling.gain)
    if isinstance(scaling, LongRope) and scaling.length <= scaling.original_length:
        gain = 1.0
    return _tables(positions, right_of(dim, base, scaling), gain)


@wrong(
    "",
    "The rotation leaves out the gain.",
    "SCAL-1.rotation",
    "SCAL-1.reference-rotation",
    "SCAL-12.square",
    **ROTATION,
)
def no_gain(
    x: Array,
    positions: Array,
    *,
    interleaved: bool,
    scaling: Scaling,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """Take the frequencies alone."""
    omega = right_of(rotary_dim or x.shape[-1], base, scaling)
    return rotated_by(x, _tables(positions, omega, 1.0), interleaved=interleaved)


@wrong("", "The gain reaches what is not rotated.", "SCAL-12.tail", **ROTATION)
def gain_on_the_tail(
    x: Array,
    positions: Array,
    *,
    interleaved: bool,
    scaling: Scaling,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """Scale the whole head."""
    omega, gain = right_of(rotary_dim or x.shape[-1], base, scaling), float(scaling.gain)
    return rotated_by(x, _tables(positions, omega, gain), interleaved=interleaved, tail=gain)


@wrong("", "The base or the factors of a long call are kept.", "SCAL-13.history", **ROTATION)
class LengthKept:
    """Remember the longest sequence."""

    def __init__(self) -> None:
        self._longest = 0

    def apply_rotary_scaled(
        self,
        x: Array,
        positions: Array,
        *,
        interleaved: bool,
        scaling: Scaling,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> Array:
        """Rotate as for the longest call so far."""
        if isinstance(scaling, DynamicNtk | LongRope):
            self._longest = max(self._longest, scaling.length)
            scaling = dataclasses.replace(scaling, length=self._longest)
        omega = right_of(rotary_dim or x.shape[-1], base, scaling)
        tables = _tables(positions, omega, float(scaling.gain))
        return rotated_by(x, tables, interleaved=interleaved)


@wrong(
    "scheme lost to growth",
    "A table that is made anew for positions from 4096 on has plain frequencies.",
    "ROT-7.value",
    max_position=16383,
    scaling={"rope_type": "linear", "factor": 4.0},
)
class UnscaledOnceGrown:
    """Positions are divided where the module is made, and nowhere else."""

    def __init__(self) -> None:
        self.factor = 4.0

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Forget the factor where the table is too short."""
        if np.abs(positions).max(initial=0) >= 4096:
            self.factor = 1.0
        angle = positions[..., None] * plain(x.shape[-1], 10000.0) / self.factor
        return rotated_by(x, (np.cos(angle), np.sin(angle)), interleaved=False)


@wrong(
    "scheme of another call",
    "A gain is kept by the factor and the original length of its scheme.",
    "SCAL-8.apart",
)
class GainKeptByFactor:
    """Gains are made once, and looked up."""

    def __init__(self) -> None:
        self.kept: dict[object, float] = {}

    def cos_sin_scaled(
        self, positions: Array, dim: int, base: float = 10000.0, *, scaling: Scaling
    ) -> Tables:
        """Look the gain up."""
        told = dataclasses.asdict(scaling)
        key = (type(scaling), told.get("factor"), told.get("original_length"))
        gain = self.kept.setdefault(key, float(scaling.gain))
        return _tables(positions, right_of(dim, base, scaling), gain)
