"""Wrong sinusoidal embeddings."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong

__all__ = [
    "base_1000_with_odd_cosines",
    "cosine_of_another_frequency",
    "cosine_on_its_own_exponent",
    "no_embedding_of_minus_1",
    "odd_width_is_cut",
    "pe_base_of_another_model",
    "pe_from_position_1",
    "pe_with_a_gain",
    "sine_and_cosine_swapped",
    "sines_then_cosines",
]

Array = NDArray[Any]
PE: dict[str, Any] = {"offers": "sinusoidal_embedding"}


def _woven(sines: Array, cosines: Array) -> Array:
    return np.stack([sines, cosines], axis=-1).reshape(*sines.shape[:-1], -1)


def _angle(positions: Array, exponent: Array, base: float) -> Array:
    return np.asarray(positions.astype(np.float64)[..., None] * base**-exponent)


@wrong(
    "Z1", "An odd width loses its last component without a word.", "SIN-1.even", refusals=True, **PE
)
def odd_width_is_cut(positions: Array, dim: int, base: float = 10000.0) -> Array:
    """Fill floor(d/2) columns of each."""
    angle = _angle(positions, np.arange(0, dim - 1, 2) / dim, base)
    return _woven(np.sin(angle), np.cos(angle))


@wrong(
    "Z2",
    "The exponent is 2j/d for component j, each on its own.",
    "SIN-2.pairs",
    "SIN-1.reference",
    **PE,
)
def cosine_of_another_frequency(positions: Array, dim: int, base: float = 10000.0) -> Array:
    """Double an index that is even already."""
    even, odd = 2 * np.arange(0, dim, 2) / dim, 2 * np.arange(1, dim, 2) / dim
    return _woven(np.sin(_angle(positions, even, base)), np.cos(_angle(positions, odd, base)))


@wrong("Z3", "Cosines take the exponent (2i+1)/d.", "SIN-2.pairs", **PE)
def cosine_on_its_own_exponent(positions: Array, dim: int, base: float = 10000.0) -> Array:
    """Use arange(1, d, 2)."""
    even, odd = np.arange(0, dim, 2) / dim, np.arange(1, dim, 2) / dim
    return _woven(np.sin(_angle(positions, even, base)), np.cos(_angle(positions, odd, base)))


@wrong("Z3", "Cosines take the exponent (2i+1)/d, and the base is 1000.", "SIN-2.pairs", **PE)
def base_1000_with_odd_cosines(positions: Array, dim: int, base: float = 10000.0) -> Array:
    """Use arange(1, d, 2) and lose a zero."""
    even, odd = np.arange(0, dim, 2) / dim, np.arange(1, dim, 2) / dim
    lost = base / 10
    return _woven(np.sin(_angle(positions, even, lost)), np.cos(_angle(positions, odd, lost)))


@wrong("Z4", "All sines stand before all cosines.", "SIN-1.value", "PUB-7.embedding", **PE)
def sines_then_cosines(positions: Array, dim: int, base: float = 10000.0) -> Array:
    """Concatenate what should be woven."""
    angle = _angle(positions, np.arange(0, dim, 2) / dim, base)
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=-1)


@wrong("Z4", "Cosines stand at even components.", "SIN-1.value", **PE)
def sine_and_cosine_swapped(positions: Array, dim: int, base: float = 10000.0) -> Array:
    """Weave in the wrong order."""
    angle = _angle(positions, np.arange(0, dim, 2) / dim, base)
    return _woven(np.cos(angle), np.sin(angle))


@wrong("P3", "The embedding starts at position 1.", "SIN-3.table", "SIN-4.added", **PE)
def pe_from_position_1(positions: Array, dim: int, base: float = 10000.0) -> Array:
    """Count from 1."""
    angle = _angle(positions + 1, np.arange(0, dim, 2) / dim, base)
    return _woven(np.sin(angle), np.cos(angle))


@wrong(
    "F1", "The embedding has base 10000 whatever is asked for.", "SIN-1.value", base=500000.0, **PE
)
def pe_base_of_another_model(positions: Array, dim: int, base: float = 10000.0) -> Array:
    """Take the base and forget it."""
    del base
    angle = _angle(positions, np.arange(0, dim, 2) / dim, 10000.0)
    return _woven(np.sin(angle), np.cos(angle))


@wrong("", "The embedding is multiplied by the root of its width.", "SIN-1.circle", **PE)
def pe_with_a_gain(positions: Array, dim: int, base: float = 10000.0) -> Array:
    """Scale what only the word embedding is scaled by."""
    angle = _angle(positions, np.arange(0, dim, 2) / dim, base)
    return np.asarray(_woven(np.sin(angle), np.cos(angle)) * np.sqrt(dim))


@wrong("position taken for padding", "The position -1 has no embedding.", "SIN-1.every", **PE)
def no_embedding_of_minus_1(positions: Array, dim: int, base: float = 10000.0) -> Array:
    """Leave padding at zero."""
    angle = _angle(positions, np.arange(0, dim, 2) / dim, base)
    return np.where(positions[..., None] == -1, 0.0, _woven(np.sin(angle), np.cos(angle)))
