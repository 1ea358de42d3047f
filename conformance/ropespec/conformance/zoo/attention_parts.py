"""Parts of attention in float64, from which the wrong ones are made."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.parts import turn

__all__ = ["allowed", "attend", "keys_per_head", "mixed", "scores", "softmax", "turned"]

Array = NDArray[Any]


def keys_per_head(x: Array, heads: int) -> Array:
    """Repeat the heads of x (B, T, G, D) for every query head: (B, H, T, D)."""
    return np.repeat(x.astype(np.float64), heads // x.shape[2], axis=2).transpose(0, 2, 1, 3)


def turned(x: Array, positions: Array, given: Mapping[str, Any]) -> Array:
    """Rotate x (B, S, H, D) in float64 by the layout, base and rotary_dim that are given."""
    wide, r = x.astype(np.float64), given.get("rotary_dim") or x.shape[-1]
    base = given.get("base", 10000.0)
    front = turn(wide[..., :r], positions, pairs=given["interleaved"], base=base)
    return np.concatenate([front, wide[..., r:]], axis=-1)


def scores(q: Array, k: Array, **given: Any) -> Array:  # noqa: ANN401  # keywords of the API
    """Return q k^T / sqrt(D) of turned q and k, (B, H, S, T)."""
    q = keys_per_head(turned(q, given["query_positions"], given), q.shape[2])
    k = keys_per_head(turned(k, given["key_positions"], given), q.shape[1])
    return np.asarray(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))


def allowed(given: Mapping[str, Any], shape: tuple[int, ...]) -> Array:
    """Return the mask that is given, everything if there is none, in a shape."""
    mask = given.get("mask")
    return np.broadcast_to(True if mask is None else mask, shape)


def softmax(s: Array, keep: Array | None = None) -> Array:
    """Return the softmax over the last axis of what is kept; zeros where nothing is."""
    kept = s if keep is None else np.where(keep, s, -np.inf)
    top = np.max(kept, axis=-1, keepdims=True, initial=-1e300)
    powers = np.exp(kept - top)
    total = powers.sum(axis=-1, keepdims=True)
    return np.asarray(powers / np.where(total > 0, total, 1.0))


def mixed(q: Array, weights: Array, v: Array) -> tuple[Array, Array]:
    """Return the output (B, S, H, E) for weights, and the weights, in the dtype of q."""
    output = weights @ keys_per_head(v, q.shape[2])
    return output.transpose(0, 2, 1, 3).astype(q.dtype), weights.astype(q.dtype)


def attend(q: Array, s: Array, v: Array, given: Mapping[str, Any]) -> tuple[Array, Array]:
    """Return output and weights for scores, under the mask that is given."""
    return mixed(q, softmax(s, allowed(given, s.shape)), v)
