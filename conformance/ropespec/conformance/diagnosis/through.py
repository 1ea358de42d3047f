"""Functions that rotate what they are given: every choice at one stage is run beside them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ropespec.conformance.diagnosis.candidates import AS_CLAIMED, made
from ropespec.conformance.diagnosis.others import answered
from ropespec.conformance.diagnosis.told import of_choices
from ropespec.conformance.mistakes.chain import claimed_pairs
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.results import Diagnosis
from ropespec.conformance.subject.session import Session
from ropespec.spec.convention import Convention

__all__ = ["DRAWS", "THROUGH", "close", "places", "sent", "through"]

DRAWS = 4
_DIM = 16


class _Asked(NamedTuple):
    """One call: its arguments, the rotation in it, what it makes of a rotated x, what is read."""

    arrays: tuple[Any, ...]
    given: Given
    seen: Callable[[Array], Array]
    read: Callable[..., Array] = lambda y: y
    results: int = 1


def through(session: Session, name: str) -> Diagnosis | None:
    """Name the choice that a function makes in every one of some fresh calls, if there is one.

    Parameters
    ----------
    session : Session
        The subject.
    name : str
        The function.
    """
    if name not in THROUGH:
        return None
    kept = list[Choice]()
    elements = 0
    for draw in range(DRAWS):
        asked = THROUGH[name](session, name, draw)
        given = asked.given
        keywords = {
            "interleaved": given.interleaved,
            "base": given.base,
            "rotary_dim": given.rotary_dim,
        }
        got = answered(session, name, asked.arrays, keywords)
        if len(got) != asked.results:
            return None
        numbers = asked.read(*got)
        fits = [c for c, y in made(given) if close(numbers, asked.seen(y))]
        kept = fits if draw == 0 else [one for one in kept if one in fits]
        elements += numbers.size
    if not kept or AS_CLAIMED in kept:
        return None
    return of_choices(kept, name, elements, DRAWS)


def close(got: Array, expected: Array) -> bool:
    """Whether numbers are the same within what functions of float32 differ."""
    same = got.shape == expected.shape and got.dtype.kind == "f"
    return same and bool(np.allclose(got, expected, atol=2e-3, rtol=2e-3))


def _given(session: Session, name: str, x: Array, positions: Array) -> Given:
    """Make the call of a rotation, of a part of the head if the function takes that."""
    profile = session.profile
    takes = "rotary_dim" in session.offers[name].keywords
    part = _DIM // 2 if takes else min(profile.rotary_dim or _DIM, _DIM)
    asked = Convention.of(interleaved=profile.layouts[0], base=float(profile.base), rotary_dim=part)
    return Given(x.astype(np.float32), positions, asked)


def places(session: Session, rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Draw positions of (B, S) that tell frequencies apart, of both signs if that is claimed."""
    most = min(session.profile.max_position, 400)
    least = -most if session.profile.negative_positions else 0
    positions = rng.integers(least, most + 1, shape)
    return np.broadcast_to(positions[:1], shape) if session.profile.shared_positions else positions


def sent(session: Session, positions: Array) -> Array:
    """Return positions as they are passed."""
    return positions[0] if session.profile.shared_positions else positions


def _rotated(session: Session, name: str, draw: int) -> _Asked:
    rng = np.random.default_rng([101, draw])
    x = rng.standard_normal((2, 5 + draw, 3, _DIM)).astype(np.float32)
    positions = places(session, rng, x.shape[:2])
    return _Asked((x, positions), _given(session, name, x, positions), lambda y: y)


def _projected(session: Session, name: str, draw: int) -> _Asked:
    rng = np.random.default_rng([103, draw])
    x = rng.standard_normal((2, 5 + draw, 6)).astype(np.float32)
    weight = rng.standard_normal((3, _DIM, 6)).astype(np.float32)
    positions = places(session, rng, x.shape[:2])
    plain = np.einsum("bsi,hdi->bshd", x.astype(np.float64), weight.astype(np.float64))
    given = _given(session, name, plain, positions)
    return _Asked((x, sent(session, positions), weight), given, lambda y: y)


def _scored(session: Session, name: str, draw: int) -> _Asked:
    """Ask for scores of pairs of vectors: the key is rotated by the offset."""
    rng = np.random.default_rng([107, draw])
    q, k = (rng.standard_normal((9 + draw, _DIM)).astype(np.float32) for _ in range(2))
    offset = rng.integers(-200, 200, len(q))
    given = _given(session, name, k[None, :, None], offset[None])
    return _Asked((q, k, offset), given, lambda y: np.einsum("nd,nd->n", q, y[0, :, 0]))


def _of_pairs(session: Session, name: str, positions: Array) -> Given:
    """Rotate the first member of each pair, a head for each."""
    x = np.zeros((1, len(positions), _DIM // 2, _DIM))
    given = _given(session, name, x, positions[None]).rotating(None)
    pairs = np.arange(_DIM // 2)
    given.x[..., pairs, claimed_pairs(given).first] = 1.0
    return given


def _members(given: Given) -> Callable[[Array], Array]:
    """Return what reads cosines and sines off the pairs whose first member was 1."""
    first, second, *_ = claimed_pairs(given)
    pairs = np.arange(_DIM // 2)
    return lambda y: np.stack([y[0][:, pairs, first], y[0][:, pairs, second]])


def _table(session: Session, name: str, draw: int) -> _Asked:
    rng = np.random.default_rng([113, draw])
    positions = places(session, rng, (1, 7 + draw))[0]
    given = _of_pairs(session, name, positions)
    return _Asked((positions, _DIM), given, _members(given), lambda c, s: np.stack([c, s]), 2)


def _ladder(session: Session, name: str, draw: int) -> _Asked:
    del draw
    given = _of_pairs(session, name, np.array([1]))

    def read(theta: Array) -> Array:
        return np.stack([np.cos(theta), np.sin(theta)])[:, None]

    return _Asked((_DIM,), given, _members(given), read)


def _matrix(session: Session, name: str, draw: int) -> _Asked:
    rng = np.random.default_rng([127, draw])
    positions = places(session, rng, (1, 5 + draw))[0]
    x = np.broadcast_to(np.eye(_DIM), (1, len(positions), _DIM, _DIM))
    given = _given(session, name, x, positions[None])
    return _Asked((positions, _DIM), given, lambda y: y[0].swapaxes(-1, -2))


THROUGH: dict[str, Callable[[Session, str, int], _Asked]] = {
    "apply_rotary_dense": _rotated,
    "apply_rotary_complex": _rotated,
    "project_query": _projected,
    "project_key": _projected,
    "relative_score": _scored,
    "rotation_matrix": _matrix,
    "cos_sin": _table,
    "inv_freq": _ladder,
}
"""How each function is asked, and what of it is a rotation."""
