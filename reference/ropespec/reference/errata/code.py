"""The documents' code as printed wrong, with the API's signatures (chapter `errata`).

Each function has the one mistake of its erratum and is right otherwise.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.reference.arrays import Floats, as_float64, round_to
from ropespec.reference.errata.rotations import (
    Form,
    doubled_angles,
    sines_before_cosines,
    theta_at_matrix_indices,
    theta_from_one,
    twice_the_cosine,
)
from ropespec.reference.frequencies import angles, inv_freq
from ropespec.reference.published import (
    quarter_turn,
    sinusoidal_position_embedding,
    split_pos_emb,
)

__all__ = [
    "PRINTED_CODE",
    "caches",
    "emb_in_float32",
    "emb_of_any_rank",
    "positional_encoding",
    "reshape_of_any_rank",
    "rope_of_one_table",
    "rope_with_q2_of_the_table",
]

Float = NDArray[np.float64]
Complex = NDArray[np.complex128]


def caches(xb_theta: Float) -> tuple[Float, Float]:
    """cos_cached and sin_cached by the three lines of document 000 (E-11; F-198).

    Parameters
    ----------
    xb_theta : ndarray of float64, shape (a, b, c)
        The angles; the lines need three axes.

    Returns
    -------
    cos_cached, sin_cached : ndarray of float64, shape (a, 1, 1, b, c)
        The duplication undone.

    Raises
    ------
    IndexError
        From NumPy, for the angle table (S, d/2) itself.
    """
    xb_theta2 = np.concatenate([xb_theta[:, :, :, None], xb_theta[:, :, :, None]], axis=3)
    cos_cached = np.cos(xb_theta2[:, :, :, 0])[:, None, None, :]
    sin_cached = np.sin(xb_theta2[:, :, :, 0])[:, None, None, :]
    return cos_cached, sin_cached


def positional_encoding(x: Float, max_len: int) -> Float:
    """`PositionalEncoding` of document 004 without its checks and dropout (E-64; F-187).

    Parameters
    ----------
    x : ndarray of float64, shape (B, S, d)
        Word vectors.
    max_len : int
        Rows of the table.

    Returns
    -------
    ndarray of float64, shape (B, S, d)
        x plus the table; right for even d and S <= max_len.

    Raises
    ------
    ValueError
        From NumPy, about shapes, for odd d or S > max_len.
    """
    d_model = x.shape[-1]
    pe = np.zeros((max_len, d_model))
    position = np.arange(0, max_len)[:, None]
    div_term = np.exp(np.arange(0, d_model, 2) * -(np.log(10000.0) / d_model))
    pe[:, 0::2] = np.sin(position * div_term)
    pe[:, 1::2] = np.cos(position * div_term)
    pe = pe[None]
    return x + pe[:, : x.shape[1]]


def _row(x: Floats) -> Floats:
    """Return the row (q1, q2) itself, which document 004 equates with q1 + i q2 (E-70; F-061)."""
    return x


def _halves(
    batch_size: int, nums_head: int, max_len: int, output_dim: int, device: object
) -> Float:
    """Lay out the table as document 004 describes it, sines before cosines (E-55; F-214)."""
    del device
    table = sines_before_cosines(np.arange(max_len), output_dim)
    return np.tile(table, (batch_size, nums_head, 1, 1))


def rope_of_one_table(q: Floats, k: Floats) -> tuple[Floats, Floats]:
    """`RoPE(q, k)` with one table, of the heads and the length of q (E-60; F-189).

    Raises
    ------
    ValueError
        From NumPy, where k has another length.
    """
    pos_emb = _table_of(q)
    sin_pos, cos_pos = split_pos_emb(pos_emb)
    q_, k_ = as_float64(q), as_float64(k)
    q_ = q_ * cos_pos + quarter_turn(q_) * sin_pos
    k_ = k_ * cos_pos + quarter_turn(k_) * sin_pos
    return round_to(q_, q.dtype), round_to(k_, k.dtype)


def rope_with_q2_of_the_table(q: Floats, k: Floats) -> tuple[Floats, Floats]:
    """`RoPE(q, k)` with q2 of "the negative cos part and the sin part" (E-56; F-191)."""

    def rotated(x: Floats) -> Floats:
        sin_pos, cos_pos = split_pos_emb(_table_of(x))
        x2 = np.stack([-cos_pos[..., ::2], sin_pos[..., ::2]], axis=-1).reshape(x.shape)
        return round_to(as_float64(x) * cos_pos + x2 * sin_pos, x.dtype)

    return rotated(q), rotated(k)


def _table_of(x: Floats) -> Float:
    batch_size, nums_head, max_len, output_dim = x.shape
    return sinusoidal_position_embedding(batch_size, nums_head, max_len, output_dim, "cpu")


def _cis(erratum: str) -> Form:
    """Return `precompute_freqs_cis` with other frequencies, angles or numbers."""

    def precompute_freqs_cis(dim: int, end: int, theta: float = 10000.0) -> Complex:
        thetas: Mapping[str, Form] = {"E-26": theta_from_one, "E-45": theta_at_matrix_indices}
        multiply = doubled_angles if erratum == "E-10" else angles
        angle = multiply(np.arange(end), thetas.get(erratum, inv_freq)(dim, theta))
        cos, sin = np.cos(angle), np.sin(angle)
        if erratum == "E-07":
            cos, sin = twice_the_cosine(cos, sin)
        return np.asarray(cos + 1j * sin)

    return precompute_freqs_cis


def reshape_of_any_rank(freqs_cis: Complex, x: Complex) -> Complex:
    """Pass every rank from 2 on: `assert 0 <= 1 < ndim` (E-61; F-195).

    Raises
    ------
    AssertionError, ValueError
        If the table does not fit, the latter from NumPy.
    """
    ndim = x.ndim
    assert 0 <= 1 < ndim  # noqa: PLR0133  # as printed
    assert freqs_cis.shape == (x.shape[1], x.shape[-1])
    shape = [d if i == 1 or i == ndim - 1 else 1 for i, d in enumerate(x.shape)]
    return freqs_cis.reshape(*shape)


def emb_of_any_rank(xq: Floats, xk: Floats, freqs_cis: Complex) -> tuple[Floats, Floats]:
    """Flatten from axis 3 on, whatever the rank: `.flatten(3)` (E-61; F-196)."""
    return (
        round_to(_emb(as_float64(xq), freqs_cis), xq.dtype),
        round_to(_emb(as_float64(xk), freqs_cis), xk.dtype),
    )


def emb_in_float32(xq: Floats, xk: Floats, freqs_cis: Complex) -> tuple[Floats, Floats]:
    """Demote to float32 and cast back: `xq.float()` (E-62; F-196)."""
    table = freqs_cis.astype(np.complex64)
    one, other = (_emb(x.astype(np.float32), table) for x in (xq, xk))
    return one.astype(xq.dtype), other.astype(xk.dtype)


def _emb(x: NDArray[Any], freqs_cis: NDArray[Any]) -> NDArray[Any]:
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    z = (pairs[..., 0] + 1j * pairs[..., 1]).astype(freqs_cis.dtype)
    out = z * reshape_of_any_rank(freqs_cis, z)
    real = np.stack([out.real, out.imag], axis=-1)
    return real.reshape(*real.shape[:3], -1) if real.ndim > 3 else real


PRINTED_CODE: Mapping[str, Mapping[str, Form]] = {
    "to_complex": {"E-70": _row},
    "sinusoidal_position_embedding": {"E-55": _halves},
    "RoPE": {"E-56": rope_with_q2_of_the_table, "E-60": rope_of_one_table},
    "precompute_freqs_cis": {
        erratum: _cis(erratum) for erratum in ("E-07", "E-10", "E-26", "E-45")
    },
    "reshape_for_broadcast": {"E-61": reshape_of_any_rank},
    "apply_rotary_emb": {"E-61": emb_of_any_rank, "E-62": emb_in_float32},
}
"""By function of the API and erratum: the form that is printed wrong."""
