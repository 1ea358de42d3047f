"""Wrong scores and decay curves."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import rope, table, turn

__all__ = [
    "decay_fitted",
    "decay_of_the_sum",
    "decay_that_rises",
    "decay_without_modulus",
    "fades_with_the_distance",
    "score_by_the_opposite_offset",
    "score_from_offset_1",
    "score_of_the_distance",
    "score_of_the_whole_head",
    "score_scaled",
]

Array = NDArray[Any]
SCORE: dict[str, Any] = {"offers": "relative_score"}
DECAY: dict[str, Any] = {"offers": "decay_bound"}


def _score(q: Array, k: Array, offset: Array, *, interleaved: bool, base: float) -> Array:
    lead = np.broadcast_shapes(q.shape[:-1], np.shape(offset))
    key = np.broadcast_to(k.astype(np.float64), (*lead, k.shape[-1]))[..., None, :]
    turned = turn(key, np.broadcast_to(offset, lead), pairs=interleaved, base=base)[..., 0, :]
    return np.asarray(np.sum(q.astype(np.float64) * turned, axis=-1).astype(q.dtype))


@wrong(
    "direction reversed",
    "The offset is taken as m - n.",
    "REL-6.anchor-score",
    "REL-5.value",
    "REL-5.reference",
    **SCORE,
)
def score_by_the_opposite_offset(
    q: Array, k: Array, offset: Array, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """Turn the wrong side."""
    return _score(q, k, -offset, interleaved=interleaved, base=base)


@wrong(
    "",
    "rotary_dim is dropped: the tail is rotated as well.",
    "REL-5.value",
    "ROT-14.score",
    **SCORE,
)
def score_of_the_whole_head(
    q: Array,
    k: Array,
    offset: Array,
    *,
    interleaved: bool,
    base: float = 10000.0,
    rotary_dim: int | None = None,
) -> Array:
    """Take the keyword and forget it."""
    del rotary_dim
    return _score(q, k, offset, interleaved=interleaved, base=base)


@wrong(
    "sign of positions lost",
    "The score depends on the distance alone.",
    "REL-7.swap-score",
    **SCORE,
)
def score_of_the_distance(
    q: Array, k: Array, offset: Array, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """Lose the sign of the offset."""
    return _score(q, k, np.abs(offset), interleaved=interleaved, base=base)


@wrong(
    "sign of positions lost",
    "The score of one q and one k depends on the distance alone.",
    "REL-5.one-vector",
    **SCORE,
)
def score_of_distances(
    q: Array, k: Array, offset: Array, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """Compute the score at each distance once."""
    if q.ndim == k.ndim == 1:
        offset = np.abs(offset)
    return _score(q, k, offset, interleaved=interleaved, base=base)


@wrong("offset by one", "The offset starts at 1.", "REL-8.equal-score", **SCORE)
def score_from_offset_1(
    q: Array, k: Array, offset: Array, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """Add one."""
    return _score(q, k, offset + 1, interleaved=interleaved, base=base)


@wrong("score scaled", "The score is multiplied by its dimension.", "DEC-1.abel-score", **SCORE)
def score_scaled(
    q: Array, k: Array, offset: Array, *, interleaved: bool, base: float = 10000.0
) -> Array:
    """Take a mean for a sum, the wrong way round."""
    y = _score(q, k, offset, interleaved=interleaved, base=base)
    return np.asarray((y * y.dtype.type(q.shape[-1])).astype(q.dtype))


@wrong(
    "gain varies",
    "x shrinks with the position, as if a decay were multiplied in.",
    "ROT-11.norm",
    "DEC-3.score-rises",
    "REL-3.forms",
    "REL-8.forms",
    "DER-3.forms",
    "DEC-2.forms",
    "DEC-3.forms",
)
def fades_with_the_distance(x: Array, positions: Array) -> Array:
    """Multiply by a power that lacks its divisor."""
    gain = 0.98 ** np.minimum(np.abs(positions), 300).astype(np.float64)
    return (rope(x, positions) * gain[..., None, None]).astype(x.dtype)


def _partial_sums(offsets: Array, dim: int, base: float) -> Array:
    cos, sin = table(np.asarray(offsets), dim, base)
    return np.cumsum(cos + 1j * sin, axis=-1)


@wrong(
    "",
    "The moduli are added up instead of averaged.",
    "DEC-2.value",
    "DEC-2.largest",
    "DEC-2.reference",
    **DECAY,
)
def decay_of_the_sum(offsets: Array, dim: int, base: float = 10000.0) -> Array:
    """Take the sum for the mean."""
    return np.asarray(np.abs(_partial_sums(offsets, dim, base)).sum(axis=-1))


@wrong("", "The modulus of the mean is taken.", "DEC-2.value", **DECAY)
def decay_without_modulus(offsets: Array, dim: int, base: float = 10000.0) -> Array:
    """Average before taking the modulus."""
    return np.asarray(np.abs(_partial_sums(offsets, dim, base).mean(axis=-1)))


@wrong("", "The curve is fitted by a straight line of the logarithm.", "DEC-3.rises", **DECAY)
def decay_fitted(offsets: Array, dim: int, base: float = 10000.0) -> Array:
    """Draw what the figure looks like from afar."""
    far = np.log2(1 + np.abs(np.asarray(offsets, np.float64)))
    return np.asarray((dim / 2 + 1) / 2 / (1 + far) * min(base, 10000.0) / 10000.0)


@wrong("", "The curve rises with the distance.", "DEC-2.windows", **DECAY)
def decay_that_rises(offsets: Array, dim: int, base: float = 10000.0) -> Array:
    """Take the slow pairs first."""
    cos, sin = table(np.asarray(offsets), dim, base)
    return np.asarray(np.abs(np.cumsum((1 - cos) + 1j * sin, axis=-1)).mean(axis=-1))
