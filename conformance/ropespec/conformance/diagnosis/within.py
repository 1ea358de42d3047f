"""Functions that rotate on the way: what they rotate is made a rotation, and examined as one."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ropespec.conformance.diagnosis.ask import Answer, Asker, Lost
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.conduct import special
from ropespec.conformance.diagnosis.others import answered
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.diagnosis.told import fact
from ropespec.conformance.diagnosis.where import EVERYWHERE
from ropespec.conformance.diagnosis.wording import examined, in_words
from ropespec.conformance.mistakes.chain import RIGHT, claimed_pairs, ladder
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.profile import Profile, ProfileError
from ropespec.conformance.results import Diagnosis
from ropespec.conformance.subject.session import Session
from ropespec.spec.scaling import (
    DynamicNtk,
    Linear,
    Llama3,
    NtkAware,
    NtkByParts,
    PaperDynamicNtk,
    Proportional,
    Scaling,
    Yarn,
)

__all__ = ["WITHIN", "within"]

_WIDEST = 512
"""Components of all heads of a token: so wide are the weights that pass them on."""

_MOST_SCORED = 2**19
"""Components of all vectors that are scored in one call."""

_FARTHEST = 5000
"""How long a table may be that is made for one call."""


class _Call(NamedTuple):
    """How a rotation is asked of a function: its arguments, and what of its results is y."""

    arrays: tuple[Any, ...]
    read: Callable[..., Array]


def _projected(given: Given, positions: Array) -> _Call:
    """Let weights of 0 and 1, others in each call, give each head its own components of x."""
    b, s, h, d = given.shape
    order = np.random.default_rng(zlib.crc32(given.x.tobytes())).permutation(h * d)
    weight = np.eye(h * d)[np.argsort(order)].reshape(h, d, h * d).astype(given.x.dtype)
    return _Call((given.x.reshape(b, s, h * d)[..., order], positions, weight), lambda y: y)


def _by_scores(given: Given, positions: Array) -> _Call | None:
    """Score each unit vector with x, by the position as an offset: components of x rotated."""
    d = given.shape[-1]
    if given.x.size * d > _MOST_SCORED:
        return None
    keys = np.broadcast_to(given.x[..., None, :], (*given.shape, d)).reshape(-1, d)
    units = np.tile(np.eye(d, dtype=given.x.dtype), (given.x.size // d, 1))
    places = np.broadcast_to(positions[..., None, None], given.shape)
    arrays = units, np.ascontiguousarray(keys), places.reshape(-1)
    return _Call(arrays, lambda scores: scores.reshape(given.shape))


def _with_tables(given: Given, positions: Array) -> _Call:
    wide = np.float64 if given.dtype == "float64" else np.float32
    cos, sin = (part.astype(wide) for part in _tables(given, positions))
    return _Call((given.x, cos, sin), lambda y: y)


def _with_complex(given: Given, positions: Array) -> _Call | None:
    """Give the printed function what all rows have, and take its query."""
    if positions.ndim == 2 and (positions != positions[:1]).any():
        return None
    cos, sin = _tables(given, positions.reshape(-1, given.x.shape[1])[0])
    return _Call((given.x, given.x, (cos + 1j * sin).astype(np.complex64)), lambda q, _: q)


def _tables(given: Given, positions: Array) -> tuple[Array, Array]:
    angle = positions[..., None] * ladder(given)
    return np.cos(angle), np.sin(angle)


def _by_tables(given: Given, positions: Array) -> _Call:
    return _Call((positions, given.turning), lambda c, s: _turned(given, c, s))


def _by_embedding(given: Given, positions: Array) -> _Call:
    return _Call(
        (positions, given.turning), lambda pe: _turned(given, pe[..., 1::2], pe[..., 0::2])
    )


def _by_angles(given: Given, positions: Array) -> _Call:
    return _Call(
        (positions, ladder(given)), lambda angle: _turned(given, np.cos(angle), np.sin(angle))
    )


def _by_rows(given: Given, positions: Array) -> _Call | None:
    """Ask for a table as long as it must be, and take the rows of the positions."""
    least, most = int(positions.min(initial=0)), int(positions.max(initial=0))
    if least < 0 or most > _FARTHEST:
        return None
    arrays = given.turning, most + 1, given.base
    return _Call(arrays, lambda cis: _turned(given, cis.real[positions], cis.imag[positions]))


def _by_frequencies(given: Given, positions: Array) -> _Call:
    def read(theta: Array) -> Array:
        angle = positions[..., None] * theta
        return _turned(given, np.cos(angle), np.sin(angle))

    return _Call((given.turning,), read)


def _turned(given: Given, cos: Array, sin: Array) -> Array:
    """Rotate x by tables of (B, S, pairs) or (S, pairs)."""
    first, second, *_ = claimed_pairs(given)
    y = given.x.astype(np.float64)
    c, s = (np.asarray(part, dtype=np.float64)[..., None, :] for part in (cos, sin))
    a, b = y[..., first], y[..., second]
    y[..., first], y[..., second] = a * c - b * s, b * c + a * s
    return y


def _by_scaled_frequencies(given: Given, positions: Array) -> _Call:
    """Rotate x by frequencies of a scheme, and lengthen it as the scheme does."""
    gain = 1.0 if given.scaling is None else float(given.scaling.gain)
    call = _by_frequencies(given, positions)

    def read(theta: Array) -> Array:
        y = call.read(theta)
        y[..., : given.turning] *= gain
        return y

    return _Call(call.arrays, read)


def _rotated(given: Given, positions: Array) -> _Call:
    return _Call((given.x, positions), lambda y: y)


def _by_matrices(given: Given, positions: Array) -> _Call:
    def read(matrices: Array) -> Array:
        turned = given.x[..., : given.turning].astype(np.float64)
        of_tokens = np.broadcast_to(matrices, (*given.shape[:2], *matrices.shape[-2:]))
        y = np.einsum("bsde,bshe->bshd", of_tokens, turned)
        return np.concatenate([y, given.x[..., given.turning :]], axis=-1)

    return _Call((positions, given.turning), read)


_ROTATING: dict[str, Callable[[Given, Array], _Call | None]] = {
    "apply_rotary_cos_sin": _with_tables,
    "apply_rotary_emb": _with_complex,
    "project_query": _projected,
    "project_key": _projected,
    "relative_score": _by_scores,
}
"""How each function of x is asked for a rotation."""

_OF_TABLES: dict[str, Callable[[Given, Array], _Call | None]] = {
    "rotation_matrix": _by_matrices,
    "cos_sin": _by_tables,
    "sinusoidal_embedding": _by_embedding,
    "angles": _by_angles,
    "precompute_freqs_cis": _by_rows,
    "inv_freq": _by_frequencies,
}
"""How each of the others is, whose result rotates x here."""

_OF_SCHEMES: dict[str, Callable[[Given, Array], _Call | None]] = {
    "inv_freq_scaled": _by_scaled_frequencies,
    "cos_sin_scaled": _by_tables,
    "apply_rotary_scaled": _rotated,
}
"""How those that take a scheme are."""

_SCHEMES: tuple[Scaling, ...] = (
    *(Linear(4.0), NtkAware(4.0), DynamicNtk(4.0, 64, 256), PaperDynamicNtk(64, 256)),
    *(NtkByParts(8.0, 4096), Yarn(8.0, 4096), Llama3(8.0, 1.0, 4.0, 8192), Proportional(0.5)),
)
"""Schemes that are tried of them after the one that is claimed."""

_CALLS = _ROTATING | _OF_TABLES | _OF_SCHEMES

WITHIN = ("apply_rotary_dense", "apply_rotary_complex", *_CALLS)
"""Functions that are a rotation, or have one in them."""


def within(session: Session, function: str) -> Iterator[Diagnosis]:
    """Name what a function does in place of the rotation in it.

    Parameters
    ----------
    session : Session
        The subject.
    function : str
        Of the API; nothing is named of one that is none of `WITHIN`.
    """
    claimed = _of_whole_heads(session, function) if function in WITHIN else None
    if claimed is None:
        return
    if function in _OF_SCHEMES:
        claimed = _first_wrong(session, function, claimed)
        if claimed is None:
            return
        session = session.under(claimed, session.timeout)
    asker = _asker(session, function)
    maker = Maker(claimed, session.offers[function].keywords)
    outcome, right = examined(asker, maker, RIGHT, ())
    told = list(in_words(asker, outcome, right))
    if not told and function not in _OF_TABLES:
        told += special(asker, maker, right, sound=True)
    called = function
    if function in _OF_SCHEMES and claimed.scaling is not None:
        called = f"{function} of {claimed.scaling.name}"
    for one in told:
        where = called if one.where == str(EVERYWHERE) else f"{called}: {one.where}"
        if _CALLS.get(function) is _projected and one.name == "changed by earlier calls":
            yield fact("weights of another call", "", where, one.evidence)
        else:
            yield replace(one, where=where)


def _asker(session: Session, function: str) -> Asker:
    return (_Within if function in _CALLS else Asker)(session, function=function)


def _first_wrong(session: Session, function: str, claimed: Profile) -> Profile | None:
    """Return the claims with the first scheme of which a few calls are wrong; None if none is."""
    told = [] if session.profile.scaling is None else [session.profile.scaling]
    for scheme in (*told, *_SCHEMES):
        try:
            profile = replace(claimed, scaling=scheme)
        except ProfileError:  # no size has frequencies of it
            continue
        asker = _asker(session.under(profile, session.timeout), function)
        maker = Maker(profile, session.offers[function].keywords)
        for given in islice(maker.battery(), _FEW):
            answer = asker.ask(given)
            if answer is not None and answer.y is not None and Seen(answer, RIGHT).is_wrong:
                return profile
    return None


_FEW = 24
"""Calls of a battery that show whether a scheme is wrong."""


@dataclass(slots=True)
class _Within(Asker):
    """Makes a rotation of a function that has one in it."""

    def ask(self, given: Given) -> Answer | None:
        """Call the function; None for what it is not asked."""
        if given.axes or given.strided or given.strided_positions or not _fits(given):
            return None
        self.calls += 1
        if self.anew:
            self.fresh()
        given = replace(given, past=tuple(self.past))
        shared = self.session.profile.shared_positions
        call = _CALLS[self.function](given, given.positions[0] if shared else given.positions)
        if call is None:
            return None
        try:
            keywords = given.convention.keywords
            if self.function in _OF_SCHEMES:
                keywords["scaling"] = given.scaling
            got = answered(self.session, self.function, call.arrays, keywords)
            y = call.read(*got)
        except Lost as lost:
            self.past.clear()
            return Answer(given, None, lost.answer, str(lost))
        except (TypeError, ValueError, IndexError):  # other results than are asked for
            return Answer(given, None, "shape")
        self.past.append(given.alone())
        fits = y.shape == given.shape
        return Answer(given, y if fits else None, "" if fits else "shape")


def _fits(given: Given) -> bool:
    _, _, heads, dim = given.shape
    return given.x.size > 0 and heads * dim <= _WIDEST


def _of_whole_heads(session: Session, function: str) -> Profile | None:
    """Return what is claimed of the rotation in a function; None where that is another."""
    profile, taken = session.profile, session.offers[function].keywords
    if function in _OF_SCHEMES:
        profile = replace(profile, scaling=None)
    if profile.scheme is not None or profile.numbers or profile.trailing or profile.pairs_apart:
        return None
    layouts = profile.layouts if "interleaved" in taken else profile.layouts[:1]
    of_neighbours = function in ("apply_rotary_complex", "apply_rotary_emb")
    return replace(profile, layouts=(True,) if of_neighbours else layouts)
