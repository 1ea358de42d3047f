"""The parts that most implementations are made of, in float32 as they are usually written."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["angles", "half", "interleaved", "inv_freq", "rope", "table", "turn", "working"]

Array = NDArray[Any]


def inv_freq(dim: int, base: float = 10000.0) -> NDArray[np.float32]:
    """1 / base^(2i/dim) in float32."""
    exponent = np.arange(0, dim, 2, dtype=np.float32) / np.float32(dim)
    return (np.float32(1.0) / np.float32(base) ** exponent).astype(np.float32)


def angles(positions: Array, dim: int, base: float = 10000.0) -> NDArray[np.float32]:
    """float32(positions) * inv_freq."""
    return positions.astype(np.float32)[..., None] * inv_freq(dim, base)


def working(x: Array) -> type:
    """float64 for float64 x, else float32."""
    return np.float64 if x.dtype == np.float64 else np.float32


def half(x: Array, cos: Array, sin: Array) -> Array:
    """Turn pairs (i, i+d/2) of x (..., S, H, D) by tables (..., S, D/2)."""
    c, s = cos[..., None, :], sin[..., None, :]
    n = x.shape[-1] // 2
    a, b = x[..., :n].astype(c.dtype), x[..., n:].astype(c.dtype)
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1).astype(x.dtype)


def interleaved(x: Array, cos: Array, sin: Array) -> Array:
    """Turn pairs (2i, 2i+1) of x (..., S, H, D) by tables (..., S, D/2)."""
    c, s = cos[..., None, :], sin[..., None, :]
    a, b = x[..., 0::2].astype(c.dtype), x[..., 1::2].astype(c.dtype)
    y = np.stack([a * c - b * s, b * c + a * s], axis=-1)
    return y.reshape(x.shape).astype(x.dtype)


def rope(x: Array, positions: Array, *, base: float = 10000.0, pairs: bool = False) -> Array:
    """Rotate x as it is usually written: half-split, or interleaved with `pairs`."""
    angle = angles(positions, x.shape[-1], base)
    apply = interleaved if pairs else half
    return apply(x, np.cos(angle), np.sin(angle))


def table(positions: Array, dim: int, base: float = 10000.0) -> tuple[Array, Array]:
    """Cos and sin of m * theta_i in float64, positions.shape + (dim/2,)."""
    angle = positions.astype(np.float64)[..., None] * base ** (-np.arange(0, dim, 2) / dim)
    return np.cos(angle), np.sin(angle)


def turn(x: Array, positions: Array, *, pairs: bool = False, base: float = 10000.0) -> Array:
    """Rotate x by tables in float64: half-split, or interleaved with `pairs`."""
    apply = interleaved if pairs else half
    return apply(x, *table(positions, x.shape[-1], base))
