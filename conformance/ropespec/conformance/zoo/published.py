"""Wrong forms of the published code."""

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import table, turn

__all__ = [
    "PeOfTwoForms",
    "RopeOfTwoForms",
    "cis_from_position_1",
    "cis_of_bfloat16_positions",
    "cis_of_sin_and_cos",
    "cis_with_a_gain",
    "emb_by_the_conjugate",
    "embedding_of_16_bits",
    "freqs_along_the_heads",
    "freqs_of_any_length",
    "pe_in_two_halves",
    "pe_of_the_batch",
    "rope_of_q_for_k",
    "rope_of_the_printed_table",
]

Array = NDArray[Any]
Both = tuple[Array, Array]
PE: dict[str, Any] = {"offers": "sinusoidal_position_embedding"}
CIS: dict[str, Any] = {"offers": "precompute_freqs_cis"}
ROPE: dict[str, Any] = {"offers": "RoPE", "interleaved": True}


def _pe(b: int, h: int, length: int, dim: int, start: int = 0) -> Array:
    cos, sin = table(np.arange(start, start + length), dim)
    return np.broadcast_to(np.stack([sin, cos], axis=-1).reshape(length, dim), (b, h, length, dim))


@wrong("positions in half precision", "Positions are counted in bfloat16.", "PUB-3.long", **CIS)
def cis_of_bfloat16_positions(dim: int, end: int, theta: float = 10000.0) -> Array:
    """Count as the weights are."""
    positions = np.arange(end).astype(ml_dtypes.bfloat16).astype(np.float64)
    cos, sin = table(positions, dim, theta)
    return np.asarray(cos + 1j * sin)


@wrong("", "Positions are counted in 16 bits.", "PUB-1.long", **PE)
def embedding_of_16_bits(batch_size: int, nums_head: int, max_len: int, output_dim: int) -> Array:
    """Save memory."""
    positions = np.arange(max_len).astype(np.int16)
    cos, sin = table(positions, output_dim)
    one = np.stack([sin, cos], axis=-1).reshape(max_len, output_dim)
    return np.broadcast_to(one, (batch_size, nums_head, max_len, output_dim))


def _rope(x: Array, positions: Array) -> Array:
    y = turn(x.transpose(0, 2, 1, 3), positions, pairs=True)
    return y.transpose(0, 2, 1, 3)


@wrong("", "The table moves on with the batch.", "PUB-1.value", "PUB-1.reference", **PE)
def pe_of_the_batch(batch_size: int, nums_head: int, max_len: int, output_dim: int) -> Array:
    """Count positions through the batch."""
    rows = [_pe(1, nums_head, max_len, output_dim, b * max_len) for b in range(batch_size)]
    return np.concatenate(rows, axis=0)


@wrong(
    "sines and cosines in another order",
    "The table lists all sines before all cosines.",
    "PUB-7.table",
    **PE,
)
def pe_in_two_halves(batch_size: int, nums_head: int, max_len: int, output_dim: int) -> Array:
    """Concatenate."""
    pe = _pe(batch_size, nums_head, max_len, output_dim)
    return np.concatenate([pe[..., 0::2], pe[..., 1::2]], axis=-1)


@wrong("offset by one", "Of two forms of the embedding one starts at position 1.", "PUB-1.same")
class PeOfTwoForms:
    """A table and a function that do not agree."""

    def sinusoidal_embedding(self, positions: Array, dim: int, base: float = 10000.0) -> Array:
        """Right."""
        cos, sin = table(positions, dim, base)
        return np.stack([sin, cos], axis=-1).reshape(*positions.shape, dim)

    def sinusoidal_position_embedding(
        self, batch_size: int, nums_head: int, max_len: int, output_dim: int
    ) -> Array:
        """Count from 1."""
        return _pe(batch_size, nums_head, max_len, output_dim, 1)


@wrong(
    "query written to the key",
    "The rotated query is written to the key.",
    "PUB-2.value",
    "PUB-2.reference",
    **ROPE,
)
def rope_of_q_for_k(q: Array, k: Array) -> Both:
    """Return q unturned, and q turned for k where the shapes agree."""
    where = np.arange(q.shape[2])
    key = _rope(_rope(q, where), where) if k.shape == q.shape else _rope(k, np.arange(k.shape[2]))
    return q.copy(), key


@wrong(
    "tables of the other layout",
    "Sines and cosines are listed for the other layout.",
    "PUB-7.rotated",
    "PUB-2.forms",
    **ROPE,
)
def rope_of_the_printed_table(q: Array, k: Array) -> Both:
    """Tile where the code repeats."""

    def turned(x: Array) -> Array:
        cos, sin = (np.tile(part, 2) for part in table(np.arange(x.shape[2]), x.shape[-1]))
        other = np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)
        return np.asarray((x * cos + other * sin).astype(x.dtype))

    return turned(q), turned(k)


@wrong(
    "cos and sin swapped",
    "cos and sin change places in freqs_cis.",
    "PUB-3.value",
    "PUB-3.reference",
    **CIS,
)
def cis_of_sin_and_cos(dim: int, end: int, theta: float = 10000.0) -> Array:
    """Return sin + i cos."""
    cos, sin = table(np.arange(end), dim, theta)
    return sin + 1j * cos


@wrong("offset by one", "freqs_cis starts at position 1.", "PUB-3.value", **CIS)
def cis_from_position_1(dim: int, end: int, theta: float = 10000.0) -> Array:
    """Count from 1."""
    cos, sin = table(np.arange(1, end + 1), dim, theta)
    return cos + 1j * sin


@wrong("attention factor", "freqs_cis has a gain.", "PUB-3.group", **CIS)
def cis_with_a_gain(dim: int, end: int, theta: float = 10000.0) -> Array:
    """Multiply by an attention factor."""
    cos, sin = table(np.arange(end), dim, theta)
    return 1.1386 * (cos + 1j * sin)


@wrong(
    "wrong axis",
    "Rows are laid along the heads.",
    "PUB-4.value",
    "PUB-4.reference",
    offers="reshape_for_broadcast",
)
def freqs_along_the_heads(freqs_cis: Array, x: Array) -> Array:
    """Put positions on the axis of the heads."""
    del x
    return freqs_cis[None, None]


@wrong(
    "",
    "A table of any length is accepted.",
    "PUB-4.refused",
    offers="reshape_for_broadcast",
    refusals=True,
)
def freqs_of_any_length(freqs_cis: Array, x: Array) -> Array:
    """Leave the check out."""
    del x
    return freqs_cis[None, :, None]


def _emb(x: Array, freqs_cis: Array) -> Array:
    a, b = x[..., 0::2].astype(np.float64), x[..., 1::2].astype(np.float64)
    c, s = freqs_cis.real[:, None], freqs_cis.imag[:, None]
    return np.stack([a * c - b * s, b * c + a * s], axis=-1).reshape(x.shape).astype(x.dtype)


@wrong(
    "direction reversed",
    "x is multiplied by the conjugate.",
    "PUB-5.value",
    "PUB-5.reference",
    offers="apply_rotary_emb",
)
def emb_by_the_conjugate(xq: Array, xk: Array, freqs_cis: Array) -> Both:
    """Turn the other way."""
    return _emb(xq, freqs_cis.conj()), _emb(xk, freqs_cis.conj())


@wrong(
    "dtype of the query",
    "Both results are cast as the query is.",
    "PUB-5.dtypes",
    offers="apply_rotary_emb",
    dtypes=("float32", "float16"),
)
def emb_as_the_query(xq: Array, xk: Array, freqs_cis: Array) -> Both:
    """Cast both to the dtype of the query."""
    return _emb(xq, freqs_cis), _emb(xk, freqs_cis).astype(xq.dtype)


@wrong(
    "offset by one",
    "Of two codes of the rotation one starts at position 1.",
    "PUB-5.rope",
    interleaved=True,
)
class RopeOfTwoForms:
    """Two codes that do not agree."""

    def apply_rotary_emb(self, xq: Array, xk: Array, freqs_cis: Array) -> Both:
        """Right."""
        return _emb(xq, freqs_cis), _emb(xk, freqs_cis)

    def RoPE(self, q: Array, k: Array) -> Both:
        """Count from 1."""
        return _rope(q, 1 + np.arange(q.shape[2])), _rope(k, 1 + np.arange(k.shape[2]))
