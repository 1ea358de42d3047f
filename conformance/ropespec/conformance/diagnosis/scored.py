"""Scores of one query and one key: every choice at one stage is run beside, as a turned key."""

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

__all__ = ["DRAWS", "NEARBY", "close", "places", "scored", "sent"]

DRAWS = 4
NEARBY = 400
"""How far positions go that are to tell frequencies apart."""
_DIM = 16
_SCORE = "relative_score"


def scored(session: Session) -> Iterator[Diagnosis]:
    """Name the choice that relative_score makes of one q and k at many offsets, if there is one.

    Of many it is examined as a rotation (`within`); of one it may take another way.

    Parameters
    ----------
    session : Session
        The subject.
    """
    kept, elements = list[Choice](), 0
    for draw in range(DRAWS):
        rng = np.random.default_rng([107, draw])
        q, k = rng.standard_normal((2, _DIM)).astype(np.float32)
        offset = rng.integers(-200, 200, 9 + draw)
        x = np.broadcast_to(k, (1, len(offset), 1, _DIM))
        given = _given(session, x, offset[None])
        got = answered(session, _SCORE, (q, k, offset), given.convention.keywords)
        if len(got) != 1:
            return
        fits = [c for c, y in made(given) if close(got[0], y[0, :, 0] @ q)]
        kept = fits if draw == 0 else [one for one in kept if one in fits]
        elements += got[0].size
    if kept and AS_CLAIMED not in kept:
        yield of_choices(kept, f"{_SCORE} of one q and k", elements, DRAWS)


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
    session: Session, rng: np.random.Generator, shape: tuple[int, int], most: int = NEARBY
) -> Array:
    """Draw positions of (B, S) that tell frequencies apart, of both signs if that is claimed."""
    most = min(session.profile.max_position, most)
    least = -most if session.profile.negative_positions else 0
    positions = rng.integers(least, most + 1, shape)
    return np.broadcast_to(positions[:1], shape) if session.profile.shared_positions else positions


def sent(session: Session, positions: Array) -> Array:
    """Return positions as they are passed."""
    return positions[0] if session.profile.shared_positions else positions
