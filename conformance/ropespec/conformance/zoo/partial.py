"""Wrong partial rotation: what turns, by which frequencies, with which partner."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.zoo.entry import wrong
from ropespec.conformance.zoo.parts import half, interleaved, rope, table

__all__ = [
    "odd_width",
    "padded_lanes",
    "partner_in_the_tail",
    "reads_on_behind_the_table",
    "rotation_discarded",
    "tail_halved",
    "tail_in_front",
]

Array = NDArray[Any]
PART: dict[str, Any] = {"rotary_dim": 8, "head_dims": (16, 32)}


@wrong(
    "R4",
    "The part that was rotated is dropped, the unrotated part put back.",
    "FREQ-6.neighbours",
    "FREQ-2.read-off",
    **PART,
)
def rotation_discarded(x: Array, positions: Array) -> Array:
    """Compute, then concatenate the wrong name."""
    turned = rope(x[..., :8], positions)
    del turned
    return np.concatenate([x[..., :8], x[..., 8:]], axis=-1)


@wrong(
    "R6",
    "A width of 6 is padded to 8 and the tail rotates with it.",
    "ROT-14.tail",
    rotary_dim=6,
    head_dims=(16,),
)
def padded_lanes(x: Array, positions: Array) -> Array:
    """Forget the mask of the columns: lanes 6 and 7 turn by frequencies of the ladder of 6."""
    angle = positions.astype(np.float64)[..., None] * 10000.0 ** (-np.arange(0, 8, 2) / 6)
    rest = half(x[..., :6], np.cos(angle[..., :3]), np.sin(angle[..., :3]))
    lanes = half(x[..., 6:8], np.cos(angle[..., 3:]), np.sin(angle[..., 3:]))
    return np.concatenate([rest, lanes, x[..., 8:]], axis=-1)


@wrong(
    "R1",
    "The partner is half a head away instead of half of rotary_dim.",
    "ROT-14.tail",
    "ROT-7.pairing",
    **PART,
)
def partner_in_the_tail(x: Array, positions: Array) -> Array:
    """Pair component i with i + head_dim/2."""
    n = x.shape[-1] // 2
    y = x.copy()
    chosen = np.concatenate([x[..., :4], x[..., n : n + 4]], axis=-1)
    turned = half(chosen, *table(positions, 8))
    y[..., :4], y[..., n : n + 4] = turned[..., :4], turned[..., 4:]
    return y


@wrong(
    "tail changed",
    "Lanes up to 16 of 12 are turned by what stands behind the row of the table.",
    "ROT-14.tail",
    interleaved=True,
    rotary_dim=12,
    head_dims=(16, 32),
)
def reads_on_behind_the_table(x: Array, positions: Array) -> Array:
    """Load a row of 8 pairs from a table of 6, and store all lanes."""
    cos, sin = (np.append(part.ravel(), [1.0, 0.0]) for part in table(positions, 12))
    at = 6 * np.arange(positions.size).reshape(positions.shape)[..., None] + np.arange(8)
    at = np.minimum(at, len(cos) - 1)
    return np.concatenate([interleaved(x[..., :16], cos[at], sin[at]), x[..., 16:]], axis=-1)


@wrong("tail scaled", "The tail comes back halved.", "ROT-14.tail", **PART)
def tail_halved(x: Array, positions: Array) -> Array:
    """Scale what must pass through."""
    return np.concatenate([rope(x[..., :8], positions), x[..., 8:] * x.dtype.type(0.5)], axis=-1)


@wrong("R9", "The tail is moved to the front.", "ROT-14.tail", "ROT-10.identity", **PART)
def tail_in_front(x: Array, positions: Array) -> Array:
    """Concatenate in the wrong order."""
    return np.concatenate([x[..., 8:], rope(x[..., :8], positions)], axis=-1)


@wrong(
    "O1",
    "An odd width gives one frequency more than there are pairs.",
    "FREQ-1.even",
    offers="inv_freq",
    refusals=True,
)
def odd_width(dim: int, base: float = 10000.0) -> Array:
    """Return ceil(dim/2) frequencies."""
    return np.asarray(base ** (-np.arange(0, dim, 2) / dim))
