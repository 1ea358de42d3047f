"""Printed code that does not do what it should (chapter `errata`)."""

import numpy as np
from numpy.typing import NDArray

from ropespec.reference.published import (
    precompute_freqs_cis,
    sinusoidal_position_embedding,
    split_pos_emb,
)

__all__ = [
    "printed_apply_rotary_emb",
    "printed_code_line",
    "printed_cos_sin_cached",
    "printed_k2",
    "printed_q2",
    "printed_q2_from_table",
    "printed_reshape_for_broadcast",
    "printed_rope",
]

Vector = NDArray[np.float64]
Complexes = NDArray[np.complex64]


def printed_cos_sin_cached(xb_theta: Vector) -> tuple[Vector, Vector]:
    """Return cos_cached and sin_cached by the three lines of document 000 (E-11; F-198).

    Parameters
    ----------
    xb_theta : ndarray of float64, shape (a, b, c)
        The angles; the lines need three axes.

    Returns
    -------
    cos_cached, sin_cached : ndarray of float64, shape (a, 1, 1, b, c)
        The duplication undone; right is (S, 1, 1, d) from angles (S, d/2).

    Raises
    ------
    IndexError
        From NumPy, for the angle table (S, d/2) itself.
    """
    xb_theta2 = np.concatenate([xb_theta[:, :, :, None], xb_theta[:, :, :, None]], axis=3)
    cos_cached = np.cos(xb_theta2[:, :, :, 0])[:, None, None, :]
    sin_cached = np.sin(xb_theta2[:, :, :, 0])[:, None, None, :]
    return cos_cached, sin_cached


def printed_rope(q: Vector, k: Vector) -> tuple[Vector, Vector]:
    """`RoPE(q, k)` of document 004, with one table, of the shape of q (E-60; F-189).

    Parameters
    ----------
    q, k : ndarray of float64, shape (B, H, L, d)
        Right as long as k has the heads and the length of q.

    Returns
    -------
    q, k : ndarray of float64, shape (B, H, L, d)
        Rotated.

    Raises
    ------
    ValueError
        From NumPy, about shapes, otherwise.
    """
    batch_size, nums_head, max_len, output_dim = q.shape
    pos_emb = sinusoidal_position_embedding(batch_size, nums_head, max_len, output_dim)
    sin_pos, cos_pos = split_pos_emb(pos_emb)
    q2 = np.stack([-q[..., 1::2], q[..., ::2]], axis=-1).reshape(q.shape)
    k2 = np.stack([-k[..., 1::2], k[..., ::2]], axis=-1).reshape(k.shape)
    return q * cos_pos + q2 * sin_pos, k * cos_pos + k2 * sin_pos


def printed_reshape_for_broadcast(freqs_cis: Complexes, x: Complexes) -> Complexes:
    """`reshape_for_broadcast` of document 004, which lets any rank above 1 pass (E-61; F-195).

    Parameters
    ----------
    freqs_cis : ndarray of complex64, shape (S, c)
        One row a position.
    x : ndarray of complex64, shape (B, S, ..., c)
        Two axes or more.

    Returns
    -------
    ndarray of complex64
        Ones everywhere but at axis 1 and the last.

    Raises
    ------
    AssertionError
        If `freqs_cis` does not fit.
    ValueError
        From NumPy, for an `x` of two axes, where axis 1 is also the last.
    """
    ndim = x.ndim
    assert 0 <= 1 < ndim  # noqa: PLR0133  # as printed
    assert freqs_cis.shape == (x.shape[1], x.shape[-1])
    return freqs_cis.reshape([d if i in (1, ndim - 1) else 1 for i, d in enumerate(x.shape)])


def printed_apply_rotary_emb(x: Vector) -> Vector:
    """`apply_rotary_emb` of document 004 for one tensor, positions 0..S-1 (E-61, E-62; F-196).

    Parameters
    ----------
    x : ndarray of float64, shape (B, S, H, d)
        Rank 3 and 5 pass as well.

    Returns
    -------
    ndarray of float64
        Computed in float32; axes from 3 on flattened, so (B, S, H, d) only for rank 4.
    """
    pairs = x.astype(np.float32).reshape(*x.shape[:-1], -1, 2)
    z = pairs[..., 0] + 1j * pairs[..., 1]
    freqs_cis = precompute_freqs_cis(x.shape[-1], x.shape[1]).astype(np.complex64)
    turned = z * printed_reshape_for_broadcast(freqs_cis, z)
    out = np.stack([turned.real, turned.imag], axis=-1)
    return out.reshape(*out.shape[:3], *([-1] if out.ndim > 3 else [])).astype(x.dtype)


def printed_q2_from_table(pos_emb: Vector) -> Vector:
    """Return -cos and sin by turns: how the text of document 004 describes q2 (E-56; F-191).

    Returns
    -------
    ndarray of float64
        The shape of `pos_emb`; right is (-q_1, q_0, -q_3, q_2, ...), from q alone.
    """
    return np.stack([-pos_emb[..., 1::2], pos_emb[..., ::2]], axis=-1).reshape(pos_emb.shape)


def printed_q2() -> Vector:
    """Return the 24 numbers of q2; their input is not printed (E-57; F-215).

    Returns
    -------
    ndarray of float64, shape (1, 1, 3, 8)
        As in the comment of document 004.
    """
    rows = [
        [-0.2, 0.1, -0.4, 0.3, -0.6, 0.5, -0.8, 0.7],
        [-1.0, 0.9, -1.2, 1.1, -1.4, 1.3, -1.6, 1.5],
        [-1.8, 1.7, -2.0, 1.9, -2.2, 2.1, -2.4, 2.3],
    ]
    return np.array([[rows]])


def printed_k2() -> str:
    """Return the comment with k2, which breaks off in its first row (E-57; F-216).

    Returns
    -------
    str
        Eight numbers and five opening brackets that never close.
    """
    return "tensor([[[[-0.15,  0.05, -0.35,  0.25, -0.55,  0.45, -0.75,  0.65"


def printed_code_line() -> str:
    """Return the first line of `RoPE` as document 004 prints it, line breaks lost (E-63; F-189).

    Returns
    -------
    str
        Not Python.
    """
    return (
        "import torchimport torch.nn as nnimport torch.nn.functional as Fimport math"
        "def RoPE(q, k):    batch_size = q.shape[0]"
    )
