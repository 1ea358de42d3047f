"""What becomes of attention logits when q comes from A and k from B."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.compare.both import Both
from ropespec.conformance.compare.measure import Held
from ropespec.conformance.judge.rotation import error_ratios
from ropespec.conformance.judge.values import make_values
from ropespec.spec.convention import Convention

__all__ = ["Drift", "logit_drift"]

HEADS = 8


@dataclass(frozen=True, slots=True)
class Drift:
    """The largest change of a logit q . k / sqrt(head_dim) of standard normal q and k.

    Attributes
    ----------
    dtype : str
        Of q and k.
    head_dim : int
        Their size.
    query : int
        Position of the query.
    distances : tuple of int
        How far the keys lie before it.
    drift : tuple of float
        max over heads of abs(q_A . k_B - q_A . k_A) / sqrt(head_dim), by distance.
    bound : tuple of float
        What the budgets of both keys allow there.
    largest, ratio : float
        The largest drift, and the largest drift / bound.
    at : int
        The distance of the largest drift.
    """

    dtype: str
    head_dim: int
    query: int
    distances: tuple[int, ...]
    drift: tuple[float, ...]
    bound: tuple[float, ...]
    largest: float
    ratio: float
    at: int


def logit_drift(
    both: Both, dtype: str, held: tuple[Held, Held], head_dim: int, limit: int, seed: int
) -> Drift | None:
    """Measure the drift of logits over distances; None where a side gives no answer.

    The query stands at `limit`, the largest position, where angles err most. With e_A and e_B the
    budgets of a key, abs(q_A . k_B - q_A . k_A) <= sum_i abs(q_A)_i (e_A + e_B)_i.
    """
    setting = both.terms.settings[0]
    distances = _distances(limit)
    count = len(distances)
    positions = (limit - np.array(distances, dtype=np.int64))[None]
    keywords = setting.keywords[0]

    def drawn(which: int) -> NDArray[np.floating]:
        return make_values(
            "normal",
            (1, count, HEADS, head_dim),
            dtype,
            2 * seed + which,
            positions=positions,
            by=Convention.of(**keywords),
        )

    queries = both.ask(setting, {}, drawn(0), np.full_like(positions, limit)).answers[0].y
    keys = both.ask(setting, {}, drawn(1), positions)
    first, second = (one.y for one in keys.answers)
    if queries is None or first is None or second is None:
        return None
    q, k_a, k_b = (one.astype(np.float64) for one in (queries, first, second))
    allowed = np.zeros_like(k_a)
    for side, one, frame in zip(both.sides, held, both.frames(keys), strict=True):
        if frame is not None:
            allowed += frame.allowed(one.precision, side.machine)
    scale = np.sqrt(head_dim)
    each = np.abs(np.sum(q * k_b, -1) - np.sum(q * k_a, -1)) / scale
    # The products and sums are the judge's own, in float64.
    size = np.abs(q) * (np.abs(k_a) + np.abs(k_b)) * (head_dim + 8) * 2.0**-52
    most = np.sum(np.abs(q) * allowed + size, -1) / scale
    ratio = float(error_ratios(each, np.zeros_like(each), most).max())
    drift, bound = each.max(axis=(0, 2)), most.max(axis=(0, 2))
    top = int(np.argmax(drift))
    return Drift(
        dtype,
        head_dim,
        limit,
        distances,
        tuple(float(one) for one in drift),
        tuple(float(one) for one in bound),
        float(drift[top]),
        ratio,
        distances[top],
    )


def _distances(limit: int) -> tuple[int, ...]:
    """Return 0, 1, 2, 4 ... and `limit`."""
    doubling = [0, *(2**i for i in range(limit.bit_length()) if 2**i < limit), limit]
    return tuple(dict.fromkeys(doubling))
