"""Printed forms of attention that are wrong (chapter `errata`)."""

import math

import numpy as np
from numpy.typing import NDArray

from ropespec.reference.errata.rotation import block_rotation

__all__ = [
    "printed_added_position",
    "printed_attention",
    "printed_attention_rotating_v",
    "printed_mask_fill",
    "printed_overwritten_scores",
    "softmax",
]

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]


def softmax(logits: Vector) -> Vector:
    """Softmax over the last axis; right, and used by the others.

    Returns
    -------
    ndarray of float64
        Rows that sum to 1.
    """
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def printed_mask_fill(logits: Vector, mask: Mask) -> Vector:
    """Softmax of logits whose masked entries are set to -1e-9, about 0 (E-58; F-193).

    Parameters
    ----------
    logits : ndarray of float64
        Scaled scores.
    mask : ndarray of bool
        True where a query may attend.

    Returns
    -------
    ndarray of float64
        Weights that still see the masked keys; right is minus infinity.
    """
    return softmax(np.where(mask, logits, -1e-9))


def printed_overwritten_scores(logits: Vector, mask: Mask) -> Vector:
    """Mask the scores, then overwrite them by the softmax of the unmasked logits (E-59; F-193).

    Parameters and shapes as in `printed_mask_fill`.

    Returns
    -------
    ndarray of float64
        The same weights for every mask; right is the softmax of the masked logits.
    """
    att_scores = np.where(mask, logits, -1e-9)
    att_scores = softmax(logits)
    return att_scores  # noqa: RET504  # as printed


def printed_attention(
    q: Vector, k: Vector, v: Vector, mask: Mask | None = None
) -> tuple[Vector, Vector]:
    """`attention` of document 004 after its rotation, with both mistakes (E-58, E-59; F-193).

    Parameters
    ----------
    q, k, v : ndarray of float64, shape (B, H, L, d)
        q and k already rotated.
    mask : ndarray of bool, optional
        Broadcasts to (B, H, L, L); it has no effect.

    Returns
    -------
    output, weights : ndarray of float64
        Of shapes (B, H, L, d) and (B, H, L, L).
    """
    att_logits = q @ k.swapaxes(-2, -1) / math.sqrt(k.shape[-1])
    everywhere = np.ones(att_logits.shape, dtype=np.bool_)
    att_scores = printed_overwritten_scores(att_logits, everywhere if mask is None else mask)
    return att_scores @ v, att_scores


def printed_attention_rotating_v(
    q: Vector, k: Vector, v: Vector, positions: NDArray[np.int64], theta: Vector
) -> Vector:
    """Attention with a position given to v as well, f_v(x_n, n) (E-08, E-38; F-078, F-184).

    Parameters
    ----------
    q, k, v : ndarray of float64, shape (S, d)
        Not yet rotated.
    positions : ndarray of int64, shape (S,)
        Of the rows.
    theta : ndarray of float64, shape (d/2,)
        Radians per position.

    Returns
    -------
    ndarray of float64, shape (S, d)
        Changes if all positions are shifted; right is v as it is.
    """
    R = np.stack([block_rotation(p * theta) for p in positions])
    q, k, v = (np.einsum("pij,pj->pi", R, x) for x in (q, k, v))
    return np.asarray(softmax(q @ k.T / math.sqrt(q.shape[-1])) @ v)


def printed_added_position(x: Vector, position: Vector) -> Vector:
    """Return x + position: the position "added to the embedding" (E-65; F-099).

    Returns
    -------
    ndarray of float64
        What the sinusoidal embedding does; RoPE multiplies q and k after the projection.
    """
    return x + position
