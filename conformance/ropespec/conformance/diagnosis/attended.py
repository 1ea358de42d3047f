"""One call of attention, and what each choice makes of its queries and keys."""

from dataclasses import dataclass, replace

import numpy as np

from ropespec.conformance.diagnosis.candidates import made
from ropespec.conformance.diagnosis.others import answered
from ropespec.conformance.diagnosis.scored import places, sent
from ropespec.conformance.mistakes.chain import RIGHT, run
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.subject.session import Session
from ropespec.spec.convention import Convention

__all__ = ["DIM", "SIZES", "Attended", "attended"]

DIM = 16
SIZES = {"": (5, 6), " of as many queries as keys": (0, 6), " of many keys": (5, 70)}
"""How many queries, 0 for as many as keys, and at least how many keys, by what a call is of."""


@dataclass(frozen=True, slots=True)
class Attended:
    """One call and what came of it.

    Attributes
    ----------
    q, k : Given
        With their positions.
    v : ndarray
        (B, T, G, D).
    mask : ndarray of bool
        (S, T).
    output, weights : ndarray
        (B, S, H, D) and (B, H, S, T).
    """

    q: Given
    k: Given
    v: Array
    mask: Array
    output: Array
    weights: Array

    @property
    def sides(self) -> tuple[dict[Choice, Array], dict[Choice, Array]]:
        """What each choice makes of the queries, and what of the keys."""
        queries, keys = dict(made(self.q)), dict(made(self.k))
        if self.q.positions.shape == self.k.positions.shape:
            queries[_OF_OTHERS] = run(RIGHT, replace(self.q, positions=self.k.positions)).y
            keys[_OF_OTHERS] = run(RIGHT, replace(self.k, positions=self.q.positions)).y
        return queries, keys


_OF_OTHERS = Choice(
    "positions of the other side",
    "place",
    "the position is that of the other side, in the same place",
    {},
    1.5,
)


def attended(session: Session, draw: int, size: str) -> Attended | None:
    """Call attention of one of `SIZES`; None if no such result came."""
    rng = np.random.default_rng([109, draw])
    queries, keys = SIZES[size]
    b, t, h = 2, keys + draw, 2 + draw % 2
    s = queries or t
    shapes = ((b, s, h, DIM), (b, t, h, DIM), (b, t, h, DIM))
    q, k, v = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    at, of = places(session, rng, (b, s)), places(session, rng, (b, t))
    mask = rng.random((s, t)) < _OPEN
    mask[:, :2] = [[True, False]] * s
    mask[0] = True
    profile = session.profile
    partial = DIM // 2 if "rotary_dim" in session.offers["attention"].keywords else None
    how = Convention.of(
        interleaved=profile.layouts[0], base=float(profile.base), rotary_dim=partial
    )
    keywords = how.keywords | {
        "query_positions": sent(session, at),
        "key_positions": sent(session, of),
        "mask": mask[None, None],
    }
    got = answered(session, "attention", (q, k, v), keywords)
    if len(got) != 2 or got[0].shape != q.shape or got[1].shape != (b, h, s, t):
        return None
    return Attended(Given(q, at, how), Given(k, of, how), v, mask, got[0], got[1])


_OPEN = 0.6
