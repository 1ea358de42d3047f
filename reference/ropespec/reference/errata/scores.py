"""Scores, attention and the decay curve as printed wrong, with the API's signatures.

Each function has the one mistake of its erratum and is right otherwise; shapes, domains and errors
are those of the API function that it stands for. The offset of a score is n - m.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ropespec.reference.arrays import Floats, as_float64, as_positions, round_to
from ropespec.reference.attention import scaled_scores, softmax
from ropespec.reference.decay import trace
from ropespec.reference.errata.rotations import (
    Form,
    theta_at_matrix_indices,
    theta_from_one,
)
from ropespec.reference.frequencies import angles, inv_freq
from ropespec.reference.relative import complex_pairs, relative_score
from ropespec.reference.rotation import apply_rotary
from ropespec.spec.arguments import check_dim
from ropespec.spec.errors import ArgumentValueError

__all__ = [
    "PRINTED_SCORES",
    "attention_as_printed",
    "by_score",
    "by_trace",
    "complex_score",
    "filled_scores",
    "is_dimension",
    "near_first",
    "overwritten_scores",
    "pair_matrix",
    "smallest_power",
]

Float = NDArray[np.float64]
Complex = NDArray[np.complex128]
Entries = Callable[[Float, Float], tuple[Float, Float, Float, Float]]


def pair_matrix(entries: Entries) -> Form:
    """Return `relative_score` with q^T M k in each pair, M = entries(n - m, theta_i) row by row."""

    def score(
        q: Floats,
        k: Floats,
        offset: ArrayLike,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> Floats:
        dim = q.shape[-1] if rotary_dim is None else rotary_dim
        n_minus_m = as_positions(offset).astype(np.float64)[..., np.newaxis]
        a, b, c, d = entries(n_minus_m, inv_freq(dim, base))
        (q1, q2), (k1, k2) = (_pairs(x, dim, interleaved=interleaved) for x in (q, k))
        total = np.sum(q1 * (a * k1 + b * k2) + q2 * (c * k1 + d * k2), axis=-1)
        return round_to(np.asarray(total + _tail(q, k, dim)), q.dtype)

    return score


def _rotated_by(angle: Callable[[Float, Float], Float]) -> Form:
    """Return `relative_score` with M the rotation by another angle than (n - m) theta_i."""

    def entries(n_minus_m: Float, theta: Float) -> tuple[Float, Float, Float, Float]:
        cos, sin = np.cos(angle(n_minus_m, theta)), np.sin(angle(n_minus_m, theta))
        return cos, -sin, sin, cos

    return pair_matrix(entries)


def _query_by_n_minus_m(n_minus_m: Float, theta: Float) -> tuple[Float, Float, Float, Float]:
    """<R_{n-m} q, k>: the query is rotated by n - m, as document 002 says (E-21; F-125)."""
    cos, sin = np.cos(n_minus_m * theta), np.sin(n_minus_m * theta)
    return cos, sin, -sin, cos


def _expanded(n_minus_m: Float, theta: Float) -> tuple[Float, Float, Float, Float]:
    """(q1 k1 + q2 k2) cos + (q2 k1 - q1 k2) sin of (m - n) theta: (3) multiplied out (E-68)."""
    cos, sin = np.cos(-n_minus_m * theta), np.sin(-n_minus_m * theta)
    return cos, -sin, sin, cos


def _brackets(n_minus_m: Float, theta: Float) -> tuple[Float, Float, Float, Float]:
    """cos(m-n) theta, -sin(n-m) theta, ...: theta outside the function (E-43; F-117, F-118)."""
    cos, sin = np.cos(-n_minus_m) * theta, np.sin(n_minus_m) * theta
    return cos, -sin, sin, cos


def complex_score(*, conjugate: bool) -> Form:
    """Return `relative_score` without a real part.

    q_i k_i* e^{i(m-n) theta_i} with `conjugate` (E-47, E-48, E-49; F-102, F-103, F-105), otherwise
    q_i k_i e^{i(n-m) theta_i} (E-22; F-123), which is (q_i)(k_i e^{in theta_i}) at m = 0 (E-06;
    F-121); summed over the pairs.
    """

    def score(
        q: Floats,
        k: Floats,
        offset: ArrayLike,
        *,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
    ) -> Complex:
        dim = q.shape[-1] if rotary_dim is None else rotary_dim
        angle = angles(offset, inv_freq(dim, base))
        left, right = (complex_pairs(x[..., :dim], interleaved=interleaved) for x in (q, k))
        if conjugate:
            right, angle = right.conj(), -angle
        rotated = left * np.exp(1j * angle) * right
        return np.asarray(rotated.sum(axis=-1) + _tail(q, k, dim))

    return score


def _vector_score(
    q: Floats,
    k: Floats,
    offset: ArrayLike,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Floats:
    """(q^T k) R((m-n) theta) k, a number times a matrix times a column (E-05; F-121)."""
    m_minus_n = -as_positions(offset).astype(np.int64)
    number = np.sum(as_float64(q) * as_float64(k), axis=-1)
    shape = np.broadcast_shapes(m_minus_n.shape, number.shape)
    column = np.broadcast_to(as_float64(k), (*shape, k.shape[-1])).reshape(-1, 1, k.shape[-1])
    where = np.broadcast_to(m_minus_n, shape).reshape(-1)
    at: dict[str, Any] = {"base": base, "rotary_dim": rotary_dim}
    rotated = apply_rotary(column, where, interleaved=interleaved, **at).reshape(*shape, -1)
    return round_to(np.asarray(number[..., np.newaxis] * rotated), q.dtype)


def filled_scores(logits: Float, mask: NDArray[np.bool_]) -> Float:
    """Masked scores become -1e-9, about 0 (E-58; F-193)."""
    return np.where(mask, logits, -1e-9)


def overwritten_scores(logits: Float, mask: NDArray[np.bool_]) -> Float:
    """The masked scores are overwritten by the softmax of the unmasked ones (E-59; F-193)."""
    att_scores = np.where(mask, logits, -1e-9)
    att_scores = softmax(logits)
    return att_scores  # noqa: RET504  # as printed


def _weights(logits: Float, mask: NDArray[np.bool_]) -> Float:
    return softmax(logits, mask)


def attention_as_printed(
    *,
    key_rotates: bool = True,
    query_rotates: bool = True,
    value_rotates: bool = False,
    one_layout: bool = True,
    weights: Callable[[Float, NDArray[np.bool_]], Float] = _weights,
) -> Form:
    """Return `attention` in which something else rotates, or the mask does something else."""

    def attention(  # the parameters of the API
        q: Floats,
        k: Floats,
        v: Floats,
        *,
        query_positions: ArrayLike,
        key_positions: ArrayLike,
        interleaved: bool,
        base: float = 10000.0,
        rotary_dim: int | None = None,
        mask: NDArray[np.bool_] | None = None,
    ) -> tuple[Floats, Floats]:
        def rotated(x: Floats, positions: ArrayLike, rotates: bool, layout: bool) -> Float:
            wide = as_float64(x)
            if rotates:
                at: dict[str, Any] = {"base": base, "rotary_dim": rotary_dim}
                wide = apply_rotary(wide, positions, interleaved=layout, **at)
            wide = np.repeat(wide, q.shape[-2] // x.shape[-2] if x.shape[-2] else 1, axis=-2)
            return np.swapaxes(wide, -3, -2)

        layout = interleaved if one_layout else not interleaved
        Q = rotated(q, query_positions, query_rotates, interleaved)
        K = rotated(k, key_positions, key_rotates, layout)
        V = rotated(v, key_positions, value_rotates, interleaved)
        scores = scaled_scores(Q, K)
        keep = np.broadcast_to(np.True_ if mask is None else mask, scores.shape)
        att_scores = weights(scores, keep)
        output = np.swapaxes(att_scores @ V, -3, -2)
        return round_to(output, q.dtype), round_to(att_scores, q.dtype)

    return attention


def _filled(logits: Float, mask: NDArray[np.bool_]) -> Float:
    return softmax(filled_scores(logits, mask))


def near_first(distances: NDArray[np.int64], **_: object) -> NDArray[np.int64]:
    """Distances from the highest score to the lowest, as the documents claim it (E-25, E-29)."""
    return np.sort(distances)


def by_score(q: Floats, k: Floats, distances: NDArray[np.int64]) -> NDArray[np.int64]:
    """Distances from the highest score of q at 0 and k at the distance to the lowest (E-25)."""
    left, right = (np.tile(x, (len(distances), 1)) for x in (q, k))
    scores = relative_score(left, right, distances, interleaved=True)
    return distances[np.argsort(-scores, kind="stable")]


def by_trace(d: int, distances: NDArray[np.int64]) -> NDArray[np.int64]:
    """Distances from the highest tr R to the lowest: the expectation of q = k normal (E-29)."""
    return distances[np.argsort(-trace(distances, d), kind="stable")]


def smallest_power(d: int, dtype: str) -> float | str:
    """10000^(-i/d) at the last i, or a word where it is below the normal numbers (E-34; F-015)."""
    smallest = float(inv_freq(d)[-1])
    return smallest if smallest > np.finfo(dtype).smallest_normal else "underflow"


def is_dimension(d: int) -> bool:
    """Whether d components make pairs, which "any d >= 2" does not ask (E-44; F-020)."""
    try:
        check_dim(d)
    except ArgumentValueError:
        return False
    return True


def _decay(theta: Form) -> Form:
    """Return `decay_bound` with other frequencies."""

    def decay_bound(offsets: ArrayLike, dim: int, base: float = 10000.0) -> Float:
        points = np.exp(1j * angles(offsets, theta(dim, base)))
        return np.asarray(np.abs(np.cumsum(points, axis=-1)).mean(axis=-1))

    return decay_bound


def _pairs(x: Floats, dim: int, *, interleaved: bool) -> tuple[Float, Float]:
    z = complex_pairs(x[..., :dim], interleaved=interleaved)
    return z.real, z.imag


def _tail(q: Floats, k: Floats, dim: int) -> Float:
    return np.asarray(np.sum(as_float64(q[..., dim:]) * as_float64(k[..., dim:]), axis=-1))


_OPPOSITE = _rotated_by(lambda n_minus_m, theta: -n_minus_m * theta)

PRINTED_SCORES: Mapping[str, Mapping[str, Form]] = {
    "relative_score": {
        "E-04": _OPPOSITE,
        "E-05": _vector_score,
        "E-06": complex_score(conjugate=False),
        "E-21": pair_matrix(_query_by_n_minus_m),
        "E-22": complex_score(conjugate=False),
        "E-28": _rotated_by(lambda n_minus_m, theta: n_minus_m * theta * theta),
        "E-31": _rotated_by(lambda n_minus_m, theta: -np.abs(n_minus_m) * theta),
        "E-40": _OPPOSITE,
        "E-41": _OPPOSITE,
        "E-43": pair_matrix(_brackets),
        "E-47": complex_score(conjugate=True),
        "E-48": complex_score(conjugate=True),
        "E-49": complex_score(conjugate=True),
        "E-68": pair_matrix(_expanded),
    },
    "attention": {
        "E-13": attention_as_printed(key_rotates=False, query_rotates=False),
        "E-15": attention_as_printed(key_rotates=False, query_rotates=False),
        "E-17": attention_as_printed(one_layout=False),
        "E-24": attention_as_printed(key_rotates=False),
        "E-38": attention_as_printed(value_rotates=True),
        "E-58": attention_as_printed(weights=_filled),
        "E-59": attention_as_printed(weights=overwritten_scores),
        "E-66": attention_as_printed(one_layout=False),
    },
    "decay_bound": {
        "E-26": _decay(theta_from_one),
        "E-45": _decay(theta_at_matrix_indices),
    },
}
"""By function of the API and erratum: the form that is printed wrong."""
