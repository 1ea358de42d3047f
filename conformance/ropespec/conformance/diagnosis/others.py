"""Mistakes of the other functions a subject may offer, by comparison with the formulas of each."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.diagnosis.ask import Lost
from ropespec.conformance.diagnosis.formulas import ASKED
from ropespec.conformance.diagnosis.scores import Given, attention_forms
from ropespec.conformance.judge.rotation import from_pairs, pairs_of
from ropespec.conformance.mistakes.rounding import rounded
from ropespec.conformance.subject.session import (
    Session,
    SubjectCrashed,
    SubjectError,
    SubjectTimeout,
)
from ropespec.spec.convention import Convention

__all__ = ["answered", "find_others"]

Float = NDArray[np.float64]
Forms = Mapping[str, Callable[[], Float]]

_TOLERANCE = 2e-3
_DIM = 16


def _places(draw: int) -> NDArray[np.int64]:
    return np.arange(12) * (1 + draw % 3)


def _asked_at(draw: int) -> NDArray[np.int64]:
    row = np.random.default_rng([97, draw]).permutation([1, 4, 2, 9, 30 + draw])
    return np.stack([row, row])


def find_others(session: Session, draw: int = 0) -> tuple[tuple[str, str], ...]:
    """Return (function, mistake) for each offered function that computes a known wrong formula.

    Each is asked once, with numbers of its own for each draw. Functions that are right, or wrong
    in a way that is not known, are left out; `unknown` stands for a result that fits no formula.
    """
    base = float(session.profile.base)
    found = []
    for name, judge in (
        ("inv_freq", _inv_freq),
        ("cos_sin", _cos_sin),
        ("sinusoidal_embedding", _sinusoidal),
        ("project_query", _projection),
        ("project_key", _projection),
        ("project_value", _projection),
        ("attention", _attention),
    ):
        if name in session.offers:
            found.append((name, judge(session, name, base, draw)))
    found += [(name, _asked(session, name, base, draw)) for name in ASKED if name in session.offers]
    return tuple((name, word) for name, word in _together(dict(found)) if word not in _NOTHING)


_NOTHING = ("", "right")


def _together(words: dict[str, str]) -> list[tuple[str, str]]:
    """Name what shows only when the projections of queries and of keys are seen together."""
    sides = {name: words.get(name) for name in ("project_query", "project_key")}
    for name, word in sides.items():
        other = sides["project_key" if name == "project_query" else "project_query"]
        if other == "right" and word == "opposite":
            words[name] = "sum of positions"
        if other == "right" and word == "other pairing":
            words[name] = "weights not permuted"
    return list(words.items())


def _asked(session: Session, name: str, base: float, draw: int) -> str:
    """Compare a function with the reference under changed arguments."""
    asked = ASKED[name](session.profile.layouts[0], base, draw)
    got = answered(session, name, asked.arrays, asked.keywords)
    if not got:
        return ""
    for word, make in asked.forms.items():
        expected = make()
        parts = expected if isinstance(expected, tuple) else (expected,)
        if len(parts) == len(got) and all(
            g.shape == np.shape(e)
            and np.allclose(g, e, atol=_TOLERANCE, rtol=_TOLERANCE, equal_nan=True)
            for g, e in zip(got, parts, strict=True)
        ):
            return word
    return _scaled(got, asked.forms["right"]())


def _scaled(got: tuple[NDArray[Any], ...], right: Any) -> str:  # noqa: ANN401  # an array, or two
    """Return `gain` if all results are the right ones times one number, which is not 1."""
    parts = right if isinstance(right, tuple) else (right,)
    if [one.shape for one in got] != [np.shape(one) for one in parts]:
        return "unknown"
    found, wanted = (np.concatenate([np.ravel(one) for one in many]) for many in (got, parts))
    if not np.isfinite(found).all():
        return "unknown"
    factor = np.vdot(wanted, found).real / np.vdot(wanted, wanted).real
    same = np.allclose(found, factor * wanted, atol=_TOLERANCE)
    return "gain" if same and abs(factor - 1) > _TOLERANCE else "unknown"


def answered(
    session: Session, name: str, arrays: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Float, ...]:
    """Call a function with the keywords it takes; an empty tuple if it raises."""
    taken = session.offers[name].keywords
    optional = ("interleaved", "base", "rotary_dim", "device")
    passed = {k: v for k, v in keywords.items() if k not in optional or k in taken}
    try:
        reply = session.call(name, arrays, keywords=passed)
    except (SubjectCrashed, SubjectTimeout) as error:
        raise Lost(
            "timeout" if isinstance(error, SubjectTimeout) else "crash", error.message
        ) from error
    except SubjectError:
        return ()
    if any(value.dtype.kind not in "fVc" for value in reply.values):
        return ()
    return tuple(
        value if value.dtype.kind == "c" else value.astype(np.float64) for value in reply.values
    )


def _match(got: Float, forms: Forms) -> str:
    """Return the name of the first form that gives these numbers, or `unknown`."""
    for name, make in forms.items():
        expected = make()
        if expected.shape == got.shape and np.allclose(
            got, expected, atol=_TOLERANCE, rtol=_TOLERANCE, equal_nan=True
        ):
            return name
    return "unknown"


def _theta(base: float, dim: int = _DIM) -> Float:
    return np.asarray(base ** (-np.arange(0, dim, 2) / dim))


def _inv_freq(session: Session, name: str, base: float, draw: int) -> str:
    dim = (16, 24, 32, 20)[draw % 4]
    got = answered(session, name, (dim,), {"base": base})
    if not got:
        return ""
    i = np.arange(dim // 2)
    forms: dict[str, Callable[[], Float]] = {
        "right": lambda: _theta(base, dim),
        "base": lambda: _theta(10000.0 if base != 10000.0 else 500000.0, dim),
        "growing": lambda: 1 / _theta(base, dim),
        "exponent": lambda: base ** (-i / dim),
        "exponent twice": lambda: base ** (-4 * i / dim),
        "denominator": lambda: base ** (-2 * i / (dim - 2)),
        "index from 1": lambda: base ** (-2 * (i + 1) / dim),
        "reversed": lambda: _theta(base, dim)[::-1],
    }
    word = _match(np.log(np.abs(got[0]) + 1e-30), {k: _logged(v) for k, v in forms.items()})
    if word == "right" and _ignores_base(session, name, (dim,), got[0]):
        return "base"
    if word == "unknown" and got[0].shape == (dim // 2,) and not 0.5 < got[0][0] < 2.0:
        return "not initialised"
    odd = answered(session, name, (dim + 1,), {"base": base})
    return "odd width" if word == "right" and odd and len(odd[0]) > dim // 2 else word


def _logged(make: Callable[[], Float]) -> Callable[[], Float]:
    return lambda: np.asarray(np.log(make()))


def _cos_sin(session: Session, name: str, base: float, draw: int) -> str:
    got = answered(session, name, (_places(draw), _DIM), {"base": base})
    if len(got) != 2:
        return ""
    angle = _places(draw)[:, None] * _theta(base)
    c, s = np.cos(angle), np.sin(angle)
    pair: dict[str, tuple[Float, ...]] = {
        "right": (c, s),
        "swapped": (s, c),
        "opposite": (c, -s),
        "from 1": (np.cos(angle + _theta(base)), np.sin(angle + _theta(base))),
    }
    far = 100 * _places(draw)
    more = answered(session, name, (far, _DIM), {"base": base})
    wide = far[:, None] * _theta(base)
    for kind in ("float16", "bfloat16"):
        half = rounded(wide, kind)
        if len(more) == 2 and np.abs(half - wide).max() > 0.1:
            off = np.abs(more[0] - np.cos(wide)).max()
            if off > 0.05 and np.abs(more[0] - np.cos(half)).max() < off / 4:
                return "rounded angles"
    reverse = angle[:, ::-1]
    pair["reversed"] = (np.cos(reverse), np.sin(reverse))
    pair["twice"] = (np.repeat(c, 2, axis=-1), np.repeat(s, 2, axis=-1))
    return _match(np.stack(got), {k: _stacked(v) for k, v in pair.items()})


def _stacked(parts: tuple[Float, ...]) -> Callable[[], Float]:
    return lambda: np.stack(parts)


def _sinusoidal(session: Session, name: str, base: float, draw: int) -> str:
    got = answered(session, name, (_places(draw), _DIM), {"base": base})
    if not got:
        return ""

    def woven(sin_exponent: Float, cos_exponent: Float, at: float = base, start: int = 0) -> Float:
        p = (_places(draw) + start)[:, None]
        parts = (np.sin(p * at**-sin_exponent), np.cos(p * at**-cos_exponent))
        return np.stack(parts, axis=-1).reshape(len(_places(draw)), _DIM)

    even = np.arange(0, _DIM, 2) / _DIM
    odd = np.arange(1, _DIM, 2) / _DIM
    half = np.arange(_DIM // 2) / (_DIM // 2 - 1)
    plain = woven(even, even)
    s, c = plain[:, 0::2], plain[:, 1::2]
    forms: dict[str, Callable[[], Float]] = {
        "right": lambda: plain,
        "sines then cosines": lambda: np.concatenate([s, c], axis=-1),
        "cosines then sines": lambda: np.concatenate([c, s], axis=-1),
        "cosine first": lambda: np.stack([c, s], axis=-1).reshape(plain.shape),
        "unpaired, doubled": lambda: woven(2 * even, 2 * odd),
        "doubled": lambda: woven(2 * even, 2 * even),
        "cosine exponent": lambda: woven(even, odd),
        "cosine exponent, base 1000": lambda: woven(even, odd, 1000.0),
        "base 1000": lambda: woven(even, even, 1000.0),
        "base": lambda: woven(even, even, 10000.0 if base != 10000.0 else 500000.0),
        "denominator": lambda: woven(half, half),
        "denominator, sines then cosines": lambda: _halves(woven(half, half)),
        "from 1": lambda: woven(even, even, base, 1),
        "half the exponent": lambda: woven(even / 2, even / 2),
        "own exponent each": lambda: woven(2 * even, 2 * odd, base),
    }
    word = _match(got[0], forms)
    if word == "right" and _ignores_base(session, name, (_places(draw), _DIM), got[0]):
        return "base"
    cut = answered(session, name, (_places(draw), _DIM + 1), {"base": base})
    return "odd width" if word == "right" and cut else word


def _ignores_base(session: Session, name: str, arrays: tuple[Any, ...], usual: Float) -> bool:
    """Whether a function takes a base and gives the same for another."""
    if "base" not in session.offers[name].keywords:
        return False
    got = answered(session, name, arrays, {"base": _other(float(session.profile.base))})
    return bool(got) and got[0].shape == usual.shape and bool(np.allclose(got[0], usual))


def _other(base: float) -> float:
    return 500.0 if base != 500.0 else 10000.0


def _halves(woven: Float) -> Float:
    return np.concatenate([woven[:, 0::2], woven[:, 1::2]], axis=-1)


def _turn(x: Float, positions: Float, base: float, *, interleaved: bool) -> Float:
    """Rotate x (B, S, H, D) by positions (B, S)."""
    dim = x.shape[-1]
    angle = positions[..., None, None] * _theta(base, dim)
    by = Convention.of(interleaved=interleaved)
    a, b = pairs_of(x, by)
    c, s = np.cos(angle), np.sin(angle)
    return from_pairs(a * c - b * s, b * c + a * s, x[..., dim:], by)


def _projection(session: Session, name: str, base: float, draw: int) -> str:
    """Ask for x that is narrower than a head, and for x as wide, whose weights are square."""
    words = [_projected(session, name, base, draw, width) for width in (6, _DIM)]
    return next((word for word in words if word not in _NOTHING), words[0])


def _projected(session: Session, name: str, base: float, draw: int, width: int) -> str:
    rng = np.random.default_rng([61, draw])
    x = rng.standard_normal((2, 5, width)).astype(np.float32)
    weight = rng.standard_normal((3, _DIM, width)).astype(np.float32)
    positions = _asked_at(draw)
    layout = session.profile.layouts[0]
    where = positions[0] if session.profile.shared_positions else positions
    arrays = (x, weight) if name == "project_value" else (x, where, weight)
    keywords = {} if name == "project_value" else {"interleaved": layout, "base": base}
    got = answered(session, name, arrays, keywords)
    if not got:
        return ""
    plain = np.einsum("bsi,hdi->bshd", x.astype(np.float64), weight.astype(np.float64))
    at = positions.astype(np.float64)

    def turned(by: Float, y: Float = plain, *, interleaved: bool = layout) -> Float:
        return _turn(y, by, base, interleaved=interleaved)

    forms: dict[str, Callable[[], Float]] = {
        "rotated": lambda: turned(at),
        "opposite": lambda: turned(-at),
        "other pairing": lambda: turned(at, interleaved=not layout),
        "from 1": lambda: turned(at + 1),
        "twice": lambda: turned(2 * at),
        "plain": lambda: plain,
    }
    if name == "project_value":
        forms["rotated"] = lambda: turned(np.broadcast_to(np.arange(5.0), (2, 5)))
    if width == _DIM:
        swapped = np.einsum("bsi,hid->bshd", x.astype(np.float64), weight.astype(np.float64))
        still = name == "project_value"
        forms["weight transposed"] = lambda: swapped if still else turned(at, swapped)
    word = _match(got[0], forms)
    expected = "plain" if name == "project_value" else "rotated"
    return "right" if word == expected else word


def _attention(session: Session, name: str, base: float, draw: int) -> str:
    rng = np.random.default_rng([67, draw])
    shape = (2, 5, 2, _DIM)
    q, k, v = (rng.standard_normal(shape).astype(np.float32) for _ in range(3))
    positions = _asked_at(draw)
    layout = session.profile.layouts[0]
    where = positions[0] if session.profile.shared_positions else positions
    mask = np.tril(np.ones((5, 5), dtype=bool))
    mask[2] = False
    at = positions.astype(np.float64)

    def turn(x: Float, factor: float, other: bool = False) -> Float:
        return _turn(x, factor * at, base, interleaved=layout != other)

    words = []
    hidden = np.ones((5, 5), dtype=bool)
    hidden[:, 3] = False
    loud, loudest = k.copy(), q.copy()
    loud[:, 3] *= _LOUD
    loudest[0, 4, 0] *= _LOUD
    causal = np.tril(np.ones((5, 5), dtype=bool))
    calls = ((q, k, causal), (q, k, mask), (q, loud, hidden), (loudest, k, causal))
    for queries, keys, given_mask in calls:
        keywords = {
            "query_positions": where,
            "key_positions": where,
            "interleaved": layout,
            "base": base,
            "mask": given_mask[None, None],
        }
        got = answered(session, name, (queries, keys, v), keywords)
        if len(got) != 2:
            return ""
        words.append(_matched(got, attention_forms(Given(queries, keys, v, given_mask, turn))))
    return _of_all(*words)


def _of_all(whole: str, with_empty: str, *with_loud: str) -> str:
    """Return the word of a plain call, or that of one with empty rows, or with loud scores."""
    if whole != "right":
        return whole
    if with_empty != "right":
        return "empty row" if with_empty == "unknown" else with_empty
    return next((word for word in with_loud if word.startswith(_OF_LOUD)), whole)


_LOUD = 1e6
_OF_LOUD = ("largest of masked keys", "largest score of")


def _matched(got: tuple[Float, ...], forms: Mapping[str, Callable[[], tuple[Float, Float]]]) -> str:
    """Return the first form with this output and these weights, or with the output alone."""

    def same(left: Float, right: Float) -> bool:
        return left.shape == right.shape and np.allclose(
            left, right, atol=_TOLERANCE, rtol=_TOLERANCE, equal_nan=True
        )

    made = {name: make() for name, make in forms.items()}
    for name, (output, weights) in made.items():
        if same(got[0], output) and same(got[1], weights):
            return name
    return "output alone" if same(got[1], made["right"][1]) else "unknown"
