"""The code functions of document 004 for NumPy and CuPy (PUB-1 to PUB-5)."""

from collections.abc import Callable

from ropespec.backends.xp import Array, Namespace
from ropespec.backends.xp.complex_plane import from_complex, to_complex
from ropespec.backends.xp.dtypes import complex_arithmetic
from ropespec.backends.xp.frequencies import cos_sin
from ropespec.backends.xp.sinusoidal import sinusoidal_embedding

__all__ = [
    "RoPE",
    "apply_rotary_emb",
    "precompute_freqs_cis",
    "reshape_for_broadcast",
    "sinusoidal_position_embedding",
]

BASE = 10000.0
"""The base of the documents, which these functions leave no choice of."""


def sinusoidal_position_embedding(
    xp: Namespace, batch_size: int, nums_head: int, max_len: int, output_dim: int
) -> Array:
    """Return the table of positions 0..L-1, repeated: float64 (B, H, L, d)."""
    table = sinusoidal_embedding(xp, xp.arange(max_len), output_dim, BASE)
    return xp.array(xp.broadcast_to(table, (batch_size, nums_head, max_len, output_dim)))


def RoPE(
    xp: Namespace, q: Array, k: Array, apply_rotary: Callable[..., Array]
) -> tuple[Array, Array]:
    """Rotate q and k of shape (B, H, L, d) at positions 0..L-1, each with its own L (E-60)."""

    def turn(x: Array) -> Array:
        rows = xp.swapaxes(x, -2, -3)
        turned = apply_rotary(rows, xp.arange(x.shape[-2]), interleaved=True, base=BASE)
        return xp.ascontiguousarray(xp.swapaxes(turned, -2, -3))

    return turn(q), turn(k)


def precompute_freqs_cis(xp: Namespace, dim: int, end: int, theta: float) -> Array:
    """e^{i m theta_i} for m = 0..end-1: complex128 (end, dim/2)."""
    cos, sin = cos_sin(xp, xp.arange(end), dim, theta)
    out = xp.empty(cos.shape, dtype=xp.complex128)
    out.real = cos
    out.imag = sin
    return out


def reshape_for_broadcast(freqs_cis: Array) -> Array:
    """(S, c) to (1, S, 1, c), a view where that is possible."""
    rows, pairs = freqs_cis.shape
    return freqs_cis.reshape(1, rows, 1, pairs)


def apply_rotary_emb(xp: Namespace, xq: Array, xk: Array, freqs_cis: Array) -> tuple[Array, Array]:
    """Rotate xq and xk of shape (B, S, H, d) by freqs_cis (S, d/2); each keeps its dtype."""

    def turn(x: Array) -> Array:
        unit = reshape_for_broadcast(freqs_cis).astype(complex_arithmetic(xp, x.dtype), copy=False)
        return from_complex(xp, to_complex(xp, x) * unit).astype(x.dtype, copy=False)

    return turn(xq), turn(xk)
