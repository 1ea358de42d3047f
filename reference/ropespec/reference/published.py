"""The code functions of the documents, corrected where they do not run (chapter `published`).

They keep the names, arguments and axes of the documents: (B, H, L, d) for `RoPE` and its table,
(B, S, H, d) for the complex pair of functions, (S, 1, 1, d) for the cache of document 000.
Everything is float64 inside; a result that stands for q or k has the dtype of its input.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, as_float64, as_positions, round_to
from ropespec.reference.complex_plane import euler, from_complex, to_complex
from ropespec.reference.frequencies import (
    angles,
    duplicate_interleaved,
    inv_freq,
    theta_llama,
    theta_pow,
)
from ropespec.spec.arguments import check_array_type, check_base, check_dim, check_size
from ropespec.spec.errors import ArgumentValueError
from ropespec.spec.published_arguments import check_freqs_cis, check_rope, check_rotary_emb

__all__ = [
    "RoPE",
    "apply_rotary_emb",
    "cos_sin_cached",
    "precompute_freqs_cis",
    "quarter_turn",
    "reshape_for_broadcast",
    "sinusoidal_position_embedding",
    "split_pos_emb",
]

Complexes = NDArray[np.complexfloating[Any, Any]]
"""complex64 or complex128."""


def sinusoidal_position_embedding(
    batch_size: int, nums_head: int, max_len: int, output_dim: int
) -> NDArray[np.float64]:
    """sin(m theta_i) at 2i and cos(m theta_i) at 2i+1, repeated for B and H (PUB-1; F-188).

    Line by line the function of document 004, without its `device`.

    Parameters
    ----------
    batch_size, nums_head, max_len : int
        B, H and L, each at least 0.
    output_dim : int
        d: even, at least 2.

    Returns
    -------
    ndarray of float64, shape (B, H, L, d)
        The table of positions 0..L-1, a copy for every b and h.

    Raises
    ------
    ArgumentTypeError
        If an argument is not an integer.
    ArgumentValueError
        If a size is negative, or `output_dim` odd or below 2.
    """
    B, H = check_size("batch_size", batch_size), check_size("nums_head", nums_head)
    L, d = check_size("max_len", max_len), check_dim(output_dim, "output_dim")
    embeddings = angles(np.arange(L), theta_pow(d))  # (L, d/2)
    embeddings = np.stack([np.sin(embeddings), np.cos(embeddings)], axis=-1)  # (L, d/2, 2)
    embeddings = np.tile(embeddings, (B, H, 1, 1, 1))  # (B, H, L, d/2, 2)
    return embeddings.reshape(B, H, L, d)


def split_pos_emb(pos_emb: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Read sin_pos and cos_pos out of the table, each entry listed twice (PUB-2; F-190).

    Parameters
    ----------
    pos_emb : ndarray of float64, shape (..., d)
        Sines at even, cosines at odd components.

    Returns
    -------
    sin_pos, cos_pos : ndarray of float64, shape (..., d)
        In the order in which document 004 explains them.
    """
    return duplicate_interleaved(pos_emb[..., ::2]), duplicate_interleaved(pos_emb[..., 1::2])


def quarter_turn(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """(-x_1, x_0, -x_3, x_2, ...): the q2 and k2 of document 004 (PUB-2; F-191, F-192).

    Stacked as printed; built from `x` alone, without any sine or cosine (E-56).

    Parameters
    ----------
    x : ndarray of float64, shape (..., d)
        q or k, d even.

    Returns
    -------
    ndarray of float64, shape (..., d)
        A new array.
    """
    return np.stack([-x[..., 1::2], x[..., ::2]], axis=-1).reshape(x.shape)


def RoPE(q: Floats, k: Floats) -> tuple[Floats, Floats]:
    """Return `q * cos_pos + q2 * sin_pos`, and the same for k: `RoPE(q, k)` (PUB-2; F-189).

    Interleaved, base 10000, positions 0..L-1 for q and 0..T-1 for k.
    The document takes heads and length of both from q; here each brings its own table (E-60).

    Parameters
    ----------
    q, k : ndarray of float, shapes (B, H, L, d) and (B, G, T, d)
        Read only; d even.

    Returns
    -------
    q, k : ndarray
        Shape and dtype of the inputs; rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If q or k is no float array of NumPy.
    ArgumentValueError
        If q or k has not four axes, d is odd, or k has another batch or d than q.
    """
    check_array_type("q", q, np.ndarray, "numpy.ndarray")
    check_array_type("k", k, np.ndarray, "numpy.ndarray")
    check_rope(q, k)
    return _rope_one(q), _rope_one(k)


def precompute_freqs_cis(dim: int, end: int, theta: float = 10000.0) -> NDArray[np.complex128]:
    """e^{i m theta_i} for m = 0..end-1 (PUB-3; F-194).

    Parameters
    ----------
    dim : int
        Even, at least 2.
    end : int
        Number of positions, at least 0.
    theta : float
        The base, above 1; document 004 calls it theta.

    Returns
    -------
    ndarray of complex128, shape (end, dim/2)
        Points of the unit circle.

    Raises
    ------
    ArgumentTypeError
        If `dim` or `end` is not an integer, or `theta` no real number.
    ArgumentValueError
        If `dim` is odd or below 2, `end` negative, or `theta` not finite or not above 1.
    """
    dim, end, base = check_dim(dim), check_size("end", end), check_base(theta, "theta")
    return euler(angles(np.arange(end), theta_llama(dim, base)))


def reshape_for_broadcast(freqs_cis: Complexes, x: Complexes) -> Complexes:
    """Give freqs_cis an axis of length 1 for the batch and one for the heads (PUB-4; F-195).

    Parameters
    ----------
    freqs_cis : ndarray of complex, shape (S, c)
        One row a position.
    x : ndarray of complex, shape (B, S, H, c)
        What it is to be multiplied with.

    Returns
    -------
    ndarray, shape (1, S, 1, c)
        A view of `freqs_cis` where its strides allow one.

    Raises
    ------
    ArgumentTypeError
        If one of them is no complex array of NumPy.
    ArgumentValueError
        If `x` has not exactly four axes (E-61), or `freqs_cis` not the shape (S, c).
    """
    check_array_type("freqs_cis", freqs_cis, np.ndarray, "numpy.ndarray")
    check_array_type("x", x, np.ndarray, "numpy.ndarray")
    check_freqs_cis(freqs_cis, x)
    _, S, _, c = x.shape
    return freqs_cis.reshape(1, S, 1, c)


def apply_rotary_emb(xq: Floats, xk: Floats, freqs_cis: Complexes) -> tuple[Floats, Floats]:
    """Multiply the pairs of xq and xk, read as complex numbers, by freqs_cis (PUB-5; F-196).

    Interleaved.
    The document computes in float32 whatever comes in; here it is float64 (E-62).

    Parameters
    ----------
    xq, xk : ndarray of float, shapes (B, S, H, d) and (B, S, G, d)
        Read only; d even.
    freqs_cis : ndarray of complex, shape (S, d/2)
        Exactly one row a position: slice it before.

    Returns
    -------
    xq, xk : ndarray
        Shape and dtype of the inputs; rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If xq or xk is no float array, or `freqs_cis` no complex array of NumPy.
    ArgumentValueError
        If xq or xk has not four axes (E-61), d is odd, or the shapes do not fit each other.
    """
    for name, value in (("xq", xq), ("xk", xk), ("freqs_cis", freqs_cis)):
        check_array_type(name, value, np.ndarray, "numpy.ndarray")
    check_rotary_emb(xq, xk, freqs_cis)
    return _multiply(xq, freqs_cis), _multiply(xk, freqs_cis)


def cos_sin_cached(
    positions: ArrayLike, dim: int, base: float = 10000.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return cos and sin of m theta_i, each twice, for x of shape (S, B, H, d) (PUB-6; F-198).

    Document 000 prints a cache that has the wrong rank and drops the duplication (E-11).

    Parameters
    ----------
    positions : array_like of int, shape (S,)
        Either sign.
    dim : int
        d: even, at least 2.
    base : float
        Above 1.

    Returns
    -------
    cos_cached, sin_cached : ndarray of float64, shape (S, 1, 1, d)
        Entries 2i and 2i+1 are equal.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As `inv_freq` and `angles` do, and if the positions have not exactly one axis.
    """
    m = as_positions(positions)
    if m.ndim != 1:
        raise ArgumentValueError("positions", "an array of one axis", positions)
    xb_theta = angles(m, inv_freq(dim, base))  # (S, d/2)
    xb_theta2 = duplicate_interleaved(xb_theta)  # (S, d)
    return np.cos(xb_theta2)[:, None, None, :], np.sin(xb_theta2)[:, None, None, :]


def _rope_one(x: Floats) -> Floats:
    B, H, L, d = x.shape
    sin_pos, cos_pos = split_pos_emb(sinusoidal_position_embedding(B, H, L, d))
    wide = as_float64(x)
    with np.errstate(invalid="ignore"):  # infinity times zero is the pair's own business (ROT-16)
        return round_to(wide * cos_pos + quarter_turn(wide) * sin_pos, x.dtype)


def _multiply(x: Floats, freqs_cis: Complexes) -> Floats:
    z = to_complex(as_float64(x))
    with np.errstate(invalid="ignore"):
        turned = z * reshape_for_broadcast(freqs_cis, z).astype(np.complex128)
    return round_to(as_float64(from_complex(turned)), x.dtype)
