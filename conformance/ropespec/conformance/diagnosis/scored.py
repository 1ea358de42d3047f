"""Scores of pairs of vectors: every choice at one stage is run beside them, as a turned key."""

from collections.abc import Iterator

import numpy as np

from ropespec.conformance.diagnosis.candidates import AS_CLAIMED, made
from ropespec.conformance.diagnosis.others import answered
from ropespec.conformance.diagnosis.told import of_choices
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.results import Diagnosis
from ropespec.conformance.subject.session import Session
from ropespec.spec.convention import Convention

__all__ = ["DRAWS", "close", "places", "scored", "sent"]

DRAWS = 4
_DIM = 16
_SCORE = "relative_score"


def scored(session: Session) -> Iterator[Diagnosis]:
    """Name the choice that relative_score makes in every one of some fresh calls, if there is one.

    Parameters
    ----------
    session : Session
        The subject.
    """
    for single in (False, True):
        kept, elements = _kept(session, single=single)
        if kept and AS_CLAIMED not in kept:
            where = f"{_SCORE} of one q and k" if single else _SCORE
            yield of_choices(kept, where, elements, DRAWS)
            return


def _kept(session: Session, *, single: bool) -> tuple[list[Choice], int]:
    """Return the choices that fit all draws, of many q and k or of one each, and the numbers."""
    kept, elements = list[Choice](), 0
    for draw in range(DRAWS):
        rng = np.random.default_rng([107, draw])
        q, k = (rng.standard_normal((9 + draw, _DIM)).astype(np.float32) for _ in range(2))
        offset = rng.integers(-200, 200, len(q))
        asked = (q[0], k[0], offset) if single else (q, k, offset)
        q, k = (np.broadcast_to(part, q.shape) for part in asked[:2])
        given = _given(session, k[None, :, None], offset[None])
        got = answered(session, _SCORE, asked, given.convention.keywords)
        if len(got) != 1:
            return [], 0
        fits = [c for c, y in made(given) if close(got[0], np.einsum("nd,nd->n", q, y[0, :, 0]))]
        kept = fits if draw == 0 else [one for one in kept if one in fits]
        elements += got[0].size
    return kept, elements


def _given(session: Session, x: Array, positions: Array) -> Given:
    """Make the call of a rotation, of a part of the head if scores are of that."""
    profile = session.profile
    takes = "rotary_dim" in session.offers[_SCORE].keywords
    part = _DIM // 2 if takes else min(profile.rotary_dim or _DIM, _DIM)
    asked = Convention.of(interleaved=profile.layouts[0], base=float(profile.base), rotary_dim=part)
    return Given(x.astype(np.float32), positions, asked)


def close(got: Array, expected: Array) -> bool:
    """Whether numbers are the same within what functions of float32 differ."""
    same = got.shape == expected.shape and got.dtype.kind == "f"
    return same and bool(np.allclose(got, expected, atol=2e-3, rtol=2e-3))


def places(
    session: Session, rng: np.random.Generator, shape: tuple[int, int], most: int = 400
) -> Array:
    """Draw positions of (B, S) that tell frequencies apart, of both signs if that is claimed."""
    most = min(session.profile.max_position, most)
    least = -most if session.profile.negative_positions else 0
    positions = rng.integers(least, most + 1, shape)
    return np.broadcast_to(positions[:1], shape) if session.profile.shared_positions else positions


def sent(session: Session, positions: Array) -> Array:
    """Return positions as they are passed."""
    return positions[0] if session.profile.shared_positions else positions
