"""The code functions of document 004, corrected where they do not run (chapter `published`)."""

import numpy as np

from ropespec.backends.numpy.arrays import Array, check_array, quiet
from ropespec.backends.numpy.rotation import apply_rotary
from ropespec.backends.xp import published as generic
from ropespec.spec.arguments import check_base, check_dim, check_size
from ropespec.spec.device import check_host_device
from ropespec.spec.published_arguments import check_freqs_cis, check_rope, check_rotary_emb

__all__ = [
    "RoPE",
    "apply_rotary_emb",
    "precompute_freqs_cis",
    "reshape_for_broadcast",
    "sinusoidal_position_embedding",
]


def sinusoidal_position_embedding(
    batch_size: int, nums_head: int, max_len: int, output_dim: int, device: str | None
) -> Array:
    """sin(m theta_i) at 2i and cos(m theta_i) at 2i+1, repeated for B and H (PUB-1; F-188).

    Parameters
    ----------
    batch_size, nums_head, max_len : int
        B, H and L, each at least 0.
    output_dim : int
        d: even, at least 2.
    device : {None, "cpu"}
        NumPy has one device, the memory of the host.

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
    batch, heads = check_size("batch_size", batch_size), check_size("nums_head", nums_head)
    length, dim = check_size("max_len", max_len), check_dim(output_dim, "output_dim")
    check_host_device(device)
    out: Array = generic.sinusoidal_position_embedding(np, batch, heads, length, dim)
    return out


def RoPE(q: Array, k: Array) -> tuple[Array, Array]:
    """`RoPE(q, k)` of document 004: interleaved, base 10000, positions from 0 (PUB-2; F-189).

    The document takes heads and length of both from q; here each brings its own (E-60).

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
    check_array("q", q)
    check_array("k", k)
    check_rope(q, k)
    out: tuple[Array, Array] = generic.RoPE(np, q, k, apply_rotary)
    return out


def precompute_freqs_cis(
    dim: int, end: int, theta: float = 10000.0, *, device: str | None = None
) -> Array:
    """e^{i m theta_i} for m = 0..end-1 (PUB-3; F-194).

    Parameters
    ----------
    dim : int
        Even, at least 2.
    end : int
        Number of positions, at least 0.
    theta : float
        The base, above 1; document 004 calls it theta.
    device : {None, "cpu"}
        NumPy has one device, the memory of the host.

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
    dim, end, base = check_dim(dim), check_size("end", end), check_base(theta, "theta")
    check_host_device(device)
    out: Array = generic.precompute_freqs_cis(np, dim, end, base)
    return out


def reshape_for_broadcast(freqs_cis: Array, x: Array) -> Array:
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
        Of the dtype of `freqs_cis`; a view of it where its strides allow one.

    Raises
    ------
    ArgumentTypeError
        If one of them is no complex array of NumPy.
    ArgumentValueError
        If `x` has not exactly four axes (E-61), or `freqs_cis` not the shape (S, c).
    """
    check_array("freqs_cis", freqs_cis)
    check_array("x", x)
    check_freqs_cis(freqs_cis, x)
    out: Array = generic.reshape_for_broadcast(freqs_cis)
    return out


def apply_rotary_emb(xq: Array, xk: Array, freqs_cis: Array) -> tuple[Array, Array]:
    """Multiply the pairs of xq and xk, read as complex numbers, by freqs_cis (PUB-5; F-196).

    Interleaved.

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
        check_array(name, value)
    check_rotary_emb(xq, xk, freqs_cis)
    with quiet():
        out: tuple[Array, Array] = generic.apply_rotary_emb(np, xq, xk, freqs_cis)
    return out
