"""The code of the documents in NumPy: names, parameters, order, defaults and lines as printed.

Corrected where it does not run or runs only by luck, and nowhere else (chapter `published`).
(B, H, L, d) are the axes of `RoPE`, its table and its `attention`, (B, S, H, d) those of the
complex functions, (S, 1, 1, d) those of the cache of document 000. Everything is float64 inside; a
result that stands for q, k or v has the dtype of its input.

`attention` here is that of document 004; the name `ropespec.reference.attention` is the shared
API's.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, as_float64, as_positions, round_to
from ropespec.reference.attention import scaled_scores, softmax
from ropespec.reference.frequencies import angles, duplicate_interleaved, inv_freq
from ropespec.reference.sinusoidal import PositionalEncoding
from ropespec.spec.arguments import (
    check_array_type,
    check_base,
    check_dim,
    check_flag,
    check_size,
)
from ropespec.spec.device import check_host_device
from ropespec.spec.errors import ArgumentTypeError, ArgumentValueError
from ropespec.spec.published_arguments import (
    check_freqs_cis,
    check_printed_attention,
    check_rope,
    check_rotary_emb,
)

__all__ = [
    "PositionalEncoding",
    "RoPE",
    "apply_rotary_emb",
    "attention",
    "cos_sin_cached",
    "precompute_freqs_cis",
    "quarter_turn",
    "reshape_for_broadcast",
    "sinusoidal_position_embedding",
    "split_pos_emb",
]

Complexes = NDArray[np.complexfloating[Any, Any]]
"""complex64 or complex128."""

Dropout = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""What is done to the weights before they meet the values."""


def sinusoidal_position_embedding(
    batch_size: int, nums_head: int, max_len: int, output_dim: int, device: str | None
) -> NDArray[np.float64]:
    """sin(m theta_i) at 2i and cos(m theta_i) at 2i+1, repeated for B and H.

    Clauses PUB-1, PUB-7; F-188, and its worked example F-206 to F-214; E-52, E-53, E-54, E-55.

    Parameters
    ----------
    batch_size, nums_head, max_len : int
        B, H and L, each at least 0.
    output_dim : int
        d: even, at least 2.
    device : {None, "cpu"}
        Where the table lies: in the memory of the host, the only device of NumPy.

    Returns
    -------
    ndarray of float64, shape (B, H, L, d)
        The table of positions 0..L-1, a copy for every b and h.

    Raises
    ------
    ArgumentTypeError
        If a size is not an integer, or `device` no string.
    ArgumentValueError
        If a size is negative, `output_dim` odd or below 2, or `device` not "cpu".
    """
    batch_size = check_size("batch_size", batch_size)
    nums_head, max_len = check_size("nums_head", nums_head), check_size("max_len", max_len)
    output_dim = check_dim(output_dim, "output_dim")
    check_host_device(device)
    position = np.arange(0, max_len, dtype=np.float64)[:, np.newaxis]
    ids = np.arange(0, output_dim // 2, dtype=np.float64)
    theta = np.power(10000.0, -2 * ids / output_dim)
    embeddings = position * theta
    embeddings = np.stack([np.sin(embeddings), np.cos(embeddings)], axis=-1)
    embeddings = np.tile(embeddings, (batch_size, nums_head, *([1] * len(embeddings.shape))))
    return np.reshape(embeddings, (batch_size, nums_head, max_len, output_dim))


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
    sin_pos = np.repeat(pos_emb[..., ::2], 2, axis=-1)
    cos_pos = np.repeat(pos_emb[..., 1::2], 2, axis=-1)
    return sin_pos, cos_pos


def quarter_turn(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """(-x_1, x_0, -x_3, x_2, ...): the q2 and k2 of document 004.

    Clauses PUB-2, PUB-7; F-191, F-192, F-215, F-216; E-57.

    Stacked as printed; built from `x` alone, without any sine or cosine (E-56). The document
    writes `.reshape(q.shape)` in the function and `.flatten(start_dim=-2)` in its example; both
    merge the last two axes.

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
    """Return `q * cos_pos + q2 * sin_pos`, and the same for k: `RoPE(q, k)`.

    Clauses PUB-2, PUB-7; F-189, F-217.

    Interleaved, base 10000, positions 0..L-1 for q and 0..T-1 for k. Its lines are those of the
    document, which has lost their breaks (E-63).
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


def attention(  # the parameters of the document
    q: Floats,
    k: Floats,
    v: Floats,
    mask: NDArray[Any] | None = None,
    dropout: Dropout | None = None,
    use_RoPE: bool = True,
) -> tuple[Floats, Floats]:
    """Return softmax(q k^T / sqrt(d_k)) v with q and k rotated (ATT-2, PUB-7; F-193, F-199, F-218).

    As document 004 prints it, but for its mask: -inf stands where `mask == 0`, not -1e-9 (E-58),
    and the softmax is taken of the masked scores (E-59).

    Parameters
    ----------
    q : ndarray of float, shape (B, H, L, d)
        Queries at positions 0..L-1; d even if they are rotated.
    k, v : ndarray of float, shapes (B, H, T, d) and (B, H, T, e)
        Keys at positions 0..T-1, and values.
    mask : ndarray or None
        Numbers or bools, broadcasting to (B, H, L, T); 0 = excluded.
    dropout : callable or None
        Applied to the weights; must keep their shape.
    use_RoPE : bool
        False leaves q and k as they are.

    Returns
    -------
    output : ndarray, shape (B, H, L, e), dtype of `q`
        Zero in a row that may attend nowhere.
    weights : ndarray, shape (B, H, L, T), dtype of `q`
        Rows sum to 1, or are zero, before `dropout`.

    Raises
    ------
    ArgumentTypeError
        If q, k or v is no float array of NumPy, their dtypes differ, `mask` is no array of
        numbers or bools, `dropout` cannot be called, or `use_RoPE` is no bool.
    ArgumentValueError
        If an array has not four axes, d is odd, or the shapes do not fit each other.
    """
    for name, array in (("q", q), ("k", k), ("v", v)):
        check_array_type(name, array, np.ndarray, "numpy.ndarray")
    if mask is not None:
        check_array_type("mask", mask, np.ndarray, "numpy.ndarray")
    if dropout is not None and not callable(dropout):
        raise ArgumentTypeError("dropout", "None or a function of the weights", dropout)
    check_flag("use_RoPE", use_RoPE)
    check_printed_attention(q, k, v, mask)
    dtype = q.dtype
    q, k, v = (as_float64(x) for x in (q, k, v))
    if use_RoPE:
        q, k = RoPE(q, k)
    att_logits = scaled_scores(q, k)
    att_scores = softmax(att_logits, None if mask is None else mask != 0)
    if dropout is not None:
        att_scores = dropout(att_scores)
    with np.errstate(invalid="ignore"):  # a NaN or infinity in v is the caller's
        output = np.matmul(att_scores, v)
    return round_to(output, dtype), round_to(att_scores, dtype)


def precompute_freqs_cis(
    dim: int, end: int, theta: float = 10000.0, *, device: str | None = None
) -> NDArray[np.complex128]:
    """e^{i m theta_i} for m = 0..end-1 (PUB-3; F-194, F-200).

    Parameters
    ----------
    dim : int
        Even, at least 2.
    end : int
        Number of positions, at least 0.
    theta : float
        The base, above 1; document 004 calls it theta.
    device : {None, "cpu"}
        Where the table lies: in the memory of the host, the only device of NumPy.

    Returns
    -------
    ndarray of complex128, shape (end, dim/2)
        Points of the unit circle.

    Raises
    ------
    ArgumentTypeError
        If `dim` or `end` is not an integer, `theta` no real number, or `device` no string.
    ArgumentValueError
        If `dim` is odd or below 2, `end` negative, `theta` not finite or not above 1, or `device`
        not "cpu".
    """
    dim, end, theta = check_dim(dim), check_size("end", end), check_base(theta, "theta")
    check_host_device(device)
    freqs = 1.0 / (theta ** (np.arange(0, dim, 2)[: (dim // 2)].astype(np.float64) / dim))
    t = np.arange(end)
    freqs = np.outer(t, freqs)
    return _polar(np.ones_like(freqs), freqs)


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
    ndim = x.ndim
    shape = [d if i == 1 or i == ndim - 1 else 1 for i, d in enumerate(x.shape)]
    return freqs_cis.reshape(*shape)


def apply_rotary_emb(xq: Floats, xk: Floats, freqs_cis: Complexes) -> tuple[Floats, Floats]:
    """Multiply the pairs of xq and xk, read as complex numbers, by freqs_cis (PUB-5; F-196, F-197).

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
    # d/2 where the document has -1, which is ambiguous for an empty array
    xq_ = _view_as_complex(as_float64(xq).reshape(*xq.shape[:-1], xq.shape[-1] // 2, 2))
    xk_ = _view_as_complex(as_float64(xk).reshape(*xk.shape[:-1], xk.shape[-1] // 2, 2))
    freqs_cis = reshape_for_broadcast(freqs_cis, xq_).astype(np.complex128)
    with np.errstate(invalid="ignore"):  # infinity times zero is the pair's own business (ROT-16)
        xq_out = _view_as_real(xq_ * freqs_cis).reshape(xq.shape)
        xk_out = _view_as_real(xk_ * freqs_cis).reshape(xk.shape)
    return round_to(xq_out, xq.dtype), round_to(xk_out, xk.dtype)


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
    batch_size = x.shape[0]
    nums_head = x.shape[1]
    max_len = x.shape[2]
    output_dim = x.shape[-1]
    pos_emb = sinusoidal_position_embedding(batch_size, nums_head, max_len, output_dim, "cpu")
    sin_pos, cos_pos = split_pos_emb(pos_emb)
    wide = as_float64(x)
    x2 = quarter_turn(wide)
    with np.errstate(invalid="ignore"):  # infinity times zero is the pair's own business (ROT-16)
        return round_to(wide * cos_pos + x2 * sin_pos, x.dtype)


def _polar(modulus: NDArray[np.float64], angle: NDArray[np.float64]) -> NDArray[np.complex128]:
    """Return modulus * e^{i angle}, the `torch.polar` of the document."""
    return np.asarray(modulus * np.cos(angle) + 1j * (modulus * np.sin(angle)))


def _view_as_complex(x: NDArray[np.float64]) -> NDArray[np.complex128]:
    z = np.empty(x.shape[:-1], np.complex128)
    z.real, z.imag = x[..., 0], x[..., 1]
    return z


def _view_as_real(z: NDArray[np.complex128]) -> NDArray[np.float64]:
    return np.stack([z.real, z.imag], axis=-1)
