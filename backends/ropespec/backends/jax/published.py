"""The code functions of document 004, corrected where they do not run (chapter `published`)."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ropespec.backends.jax.arrays import (
    Array,
    Limbs,
    arithmetic,
    beside,
    check_array,
    check_device,
    default_dtype,
    traced,
)
from ropespec.backends.jax.frequencies import turns_of, unit_circle
from ropespec.backends.jax.rotation import apply_rotary, join_pairs, split_pairs
from ropespec.backends.jax.sinusoidal import sinusoidal_embedding
from ropespec.spec.arguments import check_base, check_dim, check_size
from ropespec.spec.published_arguments import check_freqs_cis, check_rope, check_rotary_emb

__all__ = [
    "RoPE",
    "apply_rotary_emb",
    "precompute_freqs_cis",
    "reshape_for_broadcast",
    "sinusoidal_position_embedding",
]


def sinusoidal_position_embedding(
    batch_size: int, nums_head: int, max_len: int, output_dim: int, device: jax.Device | None
) -> Array:
    """sin(m theta_i) at 2i and cos(m theta_i) at 2i+1, repeated for B and H (PUB-1; F-188).

    Parameters
    ----------
    batch_size, nums_head, max_len : int
        B, H and L, each at least 0.
    output_dim : int
        d: even, at least 2.
    device : jax.Device or None
        Where the result lies; None is JAX's default device.

    Returns
    -------
    jax.Array, shape (B, H, L, d)
        The table of positions 0..L-1 for every b and h: float64 if JAX has it switched on, else
        float32.

    Raises
    ------
    ArgumentTypeError
        If a size is not an integer, or `device` no `jax.Device`.
    ArgumentValueError
        If a size is negative, or `output_dim` odd or below 2.
    """
    batch, heads = check_size("batch_size", batch_size), check_size("nums_head", nums_head)
    length, dim = check_size("max_len", max_len), check_dim(output_dim, "output_dim")
    check_device(device)
    table = sinusoidal_embedding(jnp.arange(length, dtype=jnp.int32, device=device), dim)
    return jnp.broadcast_to(table, (batch, heads, length, dim))


def RoPE(q: Array, k: Array) -> tuple[Array, Array]:
    """`RoPE(q, k)` of document 004: interleaved, base 10000, positions from 0 (PUB-2; F-189).

    The document takes heads and length of both from q; here each brings its own (E-60).

    Parameters
    ----------
    q, k : jax.Array of float, shapes (B, H, L, d) and (B, G, T, d)
        Read only; d even.

    Returns
    -------
    q, k : jax.Array
        Shape, dtype and device of the inputs; rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If q or k is no float array of JAX.
    ArgumentValueError
        If q or k has not four axes, d is odd, or k has another batch or d than q.
    """
    check_array("q", q)
    check_array("k", k)
    check_rope(q, k)
    return _rope_one(q), _rope_one(k)


def precompute_freqs_cis(
    dim: int, end: int, theta: float = 10000.0, *, device: jax.Device | None = None
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
    device : jax.Device, optional
        Where the result lies; JAX's default device by default.

    Returns
    -------
    jax.Array, shape (end, dim/2)
        Points of the unit circle: complex128 if JAX has float64 switched on, else complex64.

    Raises
    ------
    ArgumentTypeError
        If `dim` or `end` is not an integer, `theta` no real number, or `device` no `jax.Device`.
    ArgumentValueError
        If `dim` is odd or below 2, `end` negative, or `theta` not finite or not above 1.
    """
    dim, end, base = check_dim(dim), check_size("end", end), check_base(theta, "theta")
    check_device(device)
    at = jnp.arange(end, dtype=jnp.int32, device=device)
    return _cis(at, turns_of(dim, base), default_dtype())


def reshape_for_broadcast(freqs_cis: Array, x: Array) -> Array:
    """Give freqs_cis an axis of length 1 for the batch and one for the heads (PUB-4; F-195).

    Parameters
    ----------
    freqs_cis : jax.Array of complex, shape (S, c)
        One row a position.
    x : jax.Array of complex, shape (B, S, H, c)
        What it is to be multiplied with.

    Returns
    -------
    jax.Array, shape (1, S, 1, c)
        The same elements, of the dtype and on the device of `freqs_cis`.

    Raises
    ------
    ArgumentTypeError
        If one of them is no complex array of JAX.
    ArgumentValueError
        If `x` has not exactly four axes (E-61), or `freqs_cis` not the shape (S, c).
    """
    check_array("freqs_cis", freqs_cis)
    check_array("x", x)
    check_freqs_cis(freqs_cis, x)
    rows, pairs = freqs_cis.shape
    return freqs_cis.reshape(1, rows, 1, pairs)


def apply_rotary_emb(xq: Array, xk: Array, freqs_cis: Array) -> tuple[Array, Array]:
    """Multiply the pairs of xq and xk, read as complex numbers, by freqs_cis (PUB-5; F-196).

    Interleaved.

    Parameters
    ----------
    xq, xk : jax.Array of float, shapes (B, S, H, d) and (B, S, G, d)
        Read only; d even.
    freqs_cis : jax.Array of complex, shape (S, d/2)
        Exactly one row a position: slice it before. It is copied to the device of xq and xk.

    Returns
    -------
    xq, xk : jax.Array
        Shape, dtype and device of the inputs; rounded once at the end.

    Raises
    ------
    ArgumentTypeError
        If xq or xk is no float array, or `freqs_cis` no complex array of JAX.
    ArgumentValueError
        If xq or xk has not four axes (E-61), d is odd, or the shapes do not fit each other.
    """
    for name, value in (("xq", xq), ("xk", xk), ("freqs_cis", freqs_cis)):
        check_array(name, value)
    check_rotary_emb(xq, xk, freqs_cis)
    return _multiply(xq, beside(freqs_cis, xq)), _multiply(xk, beside(freqs_cis, xk))


@traced("dtype")
def _cis(positions: Limbs | Array, turn: Limbs, dtype: np.dtype[Any]) -> Array:
    return lax.complex(*unit_circle(positions, turn, dtype))


@traced()
def _rope_one(x: Array) -> Array:
    rows = x.swapaxes(1, 2)
    return apply_rotary(rows, np.arange(x.shape[2]), interleaved=True).swapaxes(1, 2)


@traced()
def _multiply(x: Array, freqs_cis: Array) -> Array:
    z = lax.complex(*split_pairs(x.astype(arithmetic(x.dtype)), interleaved=True))
    turned = z * freqs_cis[None, :, None, :].astype(z.dtype)
    return join_pairs(turned.real, turned.imag, interleaved=True).astype(x.dtype)
