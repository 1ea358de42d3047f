"""Wrong frequencies, angles and tables, where a subject offers them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong

__all__ = [
    "TableInAnotherOrder",
    "angles_with_swapped_axes",
    "cos_of_float16_angles",
    "cosines_of_another_angle",
    "down_from_zero",
    "inv_freq_base_10_logarithm",
    "inv_freq_from_index_1",
    "inv_freq_growing",
    "inv_freq_hard_coded",
    "inv_freq_listed_twice",
    "inv_freq_uninitialised",
    "sin_before_cos",
    "unturned_at_minus_2",
]

Array = NDArray[Any]


def _theta(dim: int, base: float) -> Array:
    if dim % 2 or dim < 2:
        raise ValueError(f"dim must be an even integer of at least 2; got {dim}")
    return np.asarray(base ** (-np.arange(0, dim, 2) / dim))


@wrong(
    "F1",
    "inv_freq has base 10000 whatever is asked for.",
    "FREQ-2.value",
    offers="inv_freq",
    base=500000.0,
)
def inv_freq_hard_coded(dim: int, base: float = 10000.0) -> Array:
    """Forget the base."""
    del base
    return _theta(dim, 10000.0)


@wrong(
    "F2",
    "inv_freq grows: the exponent is positive.",
    "FREQ-2.value",
    "FREQ-2.reference",
    offers="inv_freq",
)
def inv_freq_growing(dim: int, base: float = 10000.0) -> Array:
    """Lose the minus."""
    return 1 / _theta(dim, base)


@wrong(
    "dimension of few bits",
    "Steps down to minus the dimension, which has no sign.",
    "FREQ-1.integers",
    offers="inv_freq",
)
def down_from_zero(dim: int, base: float = 10000.0) -> Array:
    """Count down by twos."""
    with np.errstate(over="ignore"):
        return np.asarray(base ** (np.arange(0, -dim, -2, dtype=np.float64) / int(dim)))


@wrong("F3", "inv_freq counts from 1.", "FREQ-3.conventions", offers="inv_freq")
def inv_freq_from_index_1(dim: int, base: float = 10000.0) -> Array:
    """Begin with base^(-2/d)."""
    return np.asarray(_theta(dim, base) * base ** (-2 / dim))


@wrong("", "inv_freq lists every entry twice.", "PUB-7.frequencies", offers="inv_freq")
def inv_freq_listed_twice(dim: int, base: float = 10000.0) -> Array:
    """Return the table of the interleaved layout."""
    return np.repeat(_theta(dim, base), 2)


@wrong("", "exp of a logarithm to base 10.", "FREQ-4.code-forms", offers="inv_freq")
def inv_freq_base_10_logarithm(dim: int, base: float = 10000.0) -> Array:
    """Mix two logarithms."""
    return np.asarray(np.exp(np.log10(_theta(dim, base))))


@wrong("I1", "inv_freq is memory that was never filled.", "FREQ-2.value", offers="inv_freq")
def inv_freq_uninitialised(dim: int, base: float = 10000.0) -> Array:
    """Return what may lie in a buffer after loading."""
    theta = _theta(dim, base)
    return np.full_like(theta, 6.9e-18)


@wrong(
    "",
    "The angles have positions and frequencies swapped.",
    "FREQ-7.value",
    "FREQ-7.reference",
    "FREQ-6.forms",
    offers="angles",
)
def angles_with_swapped_axes(positions: Array, inv_freq: Array) -> Array:
    """Build (d/2, S) instead of (S, d/2)."""
    angle = positions.astype(np.float64)[..., None] * np.asarray(inv_freq, np.float64)
    return np.ascontiguousarray(np.moveaxis(angle, -1, 0))


@wrong(
    "Z4",
    "cos and sin are returned as sin and cos.",
    "FREQ-9.value",
    "FREQ-9.reference",
    offers="cos_sin",
)
def sin_before_cos(positions: Array, dim: int, base: float = 10000.0) -> tuple[Array, Array]:
    """Swap the two."""
    angle = positions.astype(np.float64)[..., None] * _theta(dim, base)
    return np.sin(angle), np.cos(angle)


@wrong("", "sin belongs to another angle than cos.", "FREQ-9.addition", offers="cos_sin")
def cosines_of_another_angle(
    positions: Array, dim: int, base: float = 10000.0
) -> tuple[Array, Array]:
    """Reverse the frequencies of one of the two."""
    where, theta = positions.astype(np.float64)[..., None], _theta(dim, base)
    return np.cos(where * theta), np.sin(where * theta[::-1])


@wrong("D3", "cos and sin of angles in float16.", "FREQ-9.value", offers="cos_sin")
def cos_of_float16_angles(positions: Array, dim: int, base: float = 10000.0) -> tuple[Array, Array]:
    """Round the angle."""
    angle = positions.astype(np.float64)[..., None] * _theta(dim, base)
    rounded = np.clip(angle, -6e4, 6e4).astype(np.float16).astype(np.float64)
    return np.cos(rounded), np.sin(rounded)


@wrong(
    "frequencies reversed",
    "cos_sin takes the frequencies in another order than the rotation.",
    "PUB-6.cache",
    "PUB-6.forms",
)
class TableInAnotherOrder:
    """Two functions that are right alone and do not fit."""

    def cos_sin(self, positions: Array, dim: int, base: float = 10000.0) -> tuple[Array, Array]:
        """Return a table of the reversed ladder."""
        angle = positions.astype(np.float64)[..., None] * _theta(dim, base)[::-1]
        return np.cos(angle), np.sin(angle)

    def apply_rotary(self, x: Array, positions: Array) -> Array:
        """Rotate halves by the ladder in its order."""
        d = x.shape[-1]
        angle = positions.astype(np.float64)[..., None, None] * _theta(d, 10000.0)
        c, s = np.cos(angle), np.sin(angle)
        a, b = x[..., : d // 2].astype(np.float64), x[..., d // 2 :].astype(np.float64)
        return np.concatenate([a * c - b * s, b * c + a * s], axis=-1).astype(x.dtype)


@wrong(
    "position taken for padding",
    "A table has no angle at the position -2.",
    "FREQ-9.every",
    offers="cos_sin",
)
def unturned_at_minus_2(positions: Array, dim: int, base: float = 10000.0) -> tuple[Array, Array]:
    """Leave padding unturned."""
    place = np.where(positions == -2, 0, positions)
    angle = place[..., None] * _theta(dim, base)
    return np.cos(angle), np.sin(angle)
