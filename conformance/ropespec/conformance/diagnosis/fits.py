# ruff: noqa: ARG005  # a term may leave out what others take
"""Gains, products, limits of size: numbers of their own, fitted to what failed."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from ropespec.conformance.diagnosis.read import multipliers, snapped
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.mistakes.chain import Chain, run
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.gains import everything_times, tail_times
from ropespec.conformance.mistakes.given import Array
from ropespec.conformance.mistakes.stored import clipped_at
from ropespec.conformance.mistakes.table import gained
from ropespec.conformance.mistakes.turns import WHOLE_TURNS, fast_sine
from ropespec.conformance.mistakes.widths import as_wide

__all__ = ["fitted_clip", "fitted_gains", "fitted_products", "fitted_sines", "fitted_widths"]


def fitted_gains(wrong: Sequence[Seen], chain: Chain) -> Iterator[Choice]:
    """Return factors on what turns, on the whole or on the tail."""
    sizes, tails = list[Array](), list[Array]()
    for seen in wrong[:6]:
        given = seen.given
        factor = multipliers(seen, chain)
        pairs = chain.pairing(given)
        if not np.isfinite(factor).any():  # nothing can be read off what is made of a pair
            sizes.append(_ratios(seen, chain))
            continue
        chosen = seen.wrong[..., pairs.to_first] | seen.wrong[..., pairs.to_second]
        sizes.append(np.abs(factor)[chosen])
        tail = np.s_[..., given.turning :]
        with np.errstate(all="ignore"):
            ratio = seen.y[tail] / given.x.astype(np.float64)[tail]
        tails.append(ratio[seen.wrong[tail]])
    for values, make in ((sizes, (gained, everything_times)), (tails, (tail_times,))):
        joined = np.concatenate(values) if values else np.zeros(0)
        joined = joined[np.isfinite(joined)]
        if not len(joined):
            continue
        middle = float(np.median(joined))
        spread = float(np.mean(np.abs(joined - middle) <= 0.02 * abs(middle) + 1e-6))
        if spread > 0.95 and abs(middle - 1) > 1e-7:
            for one in make:
                for digits in (1e-4, 1e-6, 1e-8):
                    yield one(snapped(middle, digits))


def _ratios(seen: Seen, chain: Chain) -> Array:
    """Return by what the wrong components must be multiplied."""
    with np.errstate(all="ignore"):
        return np.asarray((seen.y / run(chain, seen.given).y)[seen.wrong])


_TERMS: dict[str, Callable[[Array, Array, Array, Array], Array]] = {
    "a c": lambda a, b, c, s: a * c,
    "a s": lambda a, b, c, s: a * s,
    "b c": lambda a, b, c, s: b * c,
    "b s": lambda a, b, c, s: b * s,
    "a": lambda a, b, c, s: a + 0 * c,
    "b": lambda a, b, c, s: b + 0 * c,
}


def fitted_products(wrong: Sequence[Seen], chain: Chain) -> Iterator[Choice]:
    """Return what each member is made of: one or two products of a, b, the cosine and the sine."""
    few = [seen for seen in wrong if seen.given.turning >= 4][:4]
    if not few:
        return
    members = [
        [one for one in _forms() if all(_made_of(seen, chain, one, which) for seen in few)]
        for which in (0, 1)
    ]
    for first in members[0][:3]:
        for second in members[1][:3]:
            yield _product_of(first, second)


_Form = tuple[tuple[str, float], ...]


def _forms() -> Iterator[_Form]:
    signed = [(name, sign) for name in _TERMS for sign in (1.0, -1.0)]
    for k, one in enumerate(signed):
        yield (one,)
        yield from ((one, two) for two in signed[k + 1 :] if two[0] != one[0])


def _value(form: _Form, *parts: Array) -> Array:
    return np.asarray(sum(sign * _TERMS[name](*parts) for name, sign in form))


def _made_of(seen: Seen, chain: Chain, form: _Form, which: int) -> bool:
    given = seen.given
    pairs = chain.pairing(given)
    x = given.x.astype(np.float64)
    a, b = x[..., pairs.first], x[..., pairs.second]
    angle = chain.angle(given, chain.place(given), chain.frequency(given))
    made = _value(form, a, b, *chain.table(given, angle))
    at = (pairs.to_first, pairs.to_second)[which]
    wrong = (seen.wrong[..., pairs.to_first] | seen.wrong[..., pairs.to_second]).any(axis=(0, 1, 2))
    room = seen.made.allowed[..., pairs.to_first] * 2
    same = np.abs(seen.y[..., at] - made) <= room
    return bool(same[..., wrong].all())


def _said(form: _Form) -> str:
    words = "".join(f" {'+' if sign > 0 else '-'} {name}" for name, sign in form)
    return words.removeprefix(" + ").strip()


def _product_of(first: _Form, second: _Form) -> Choice:
    def product(a: Array, b: Array, c: Array, s: Array) -> tuple[Array, Array]:
        return _value(first, a, b, c, s), _value(second, a, b, c, s)

    what = f"of a pair (a, b) come {_said(first)} and {_said(second)}"
    return Choice("operands confused", "product", what, {"product": product}, 1.6)


def fitted_clip(wrong: Sequence[Seen]) -> Iterator[Choice]:
    """Return the result cut at the size that all wrong components have."""
    sizes = {seen.given.dtype: np.abs(seen.y[seen.off]) for seen in wrong[:6] if seen.off.any()}
    every = np.concatenate([*sizes.values(), np.zeros(0)])
    if every.size and np.isfinite(every).all() and np.ptp(every) <= _STEP * every.max():
        finest = min(sizes, key=("float64", "float32", "float16", "bfloat16").index)
        yield clipped_at(snapped(float(sizes[finest].max()), 1e-5))


_STEP = 8e-3
"""How far apart the neighbours of a number are, at most, in the coarsest dtype."""


def fitted_widths(wrong: Sequence[Seen]) -> Iterator[Choice]:
    """Return rotations of as many components as come out changed, if those are not as claimed."""
    widths = set[int]()
    for seen in wrong:
        moved = (seen.y != seen.given.x.astype(np.float64)).any(axis=(0, 1, 2))
        width = 2 * -(-(int(np.flatnonzero(moved).max(initial=-1)) + 1) // 2)
        if 2 < width != seen.given.turning:
            widths.add(width)
    yield from map(as_wide, sorted(widths)[:_WIDTHS])


_WIDTHS = 4
"""How many are tried: a width that is read off by chance differs from call to call."""


def fitted_sines(wrong: Sequence[Seen], chain: Chain) -> Iterator[Choice]:
    """Return sines whose range was reduced with a rounded 2 pi."""
    digits = _IN_FLOAT64 if any(one.given.dtype == "float64" for one in wrong) else _IN_FLOAT32
    turns = [float(np.float32(2 * np.pi)), *(turn for n in digits for turn in _written(n))]
    for how, whole in WHOLE_TURNS.items():
        found = (*turns, *_turns(wrong, chain, whole))
        yield from (fast_sine(turn, how) for turn in dict.fromkeys(found))


_IN_FLOAT32, _IN_FLOAT64 = range(2, 8), range(2, 13)
"""Decimals of 2 pi, or of pi, that leave an error to be seen."""


def _written(decimals: int) -> Iterator[float]:
    """Return 2 pi, and twice pi, with so many decimals, rounded or cut off."""
    for times, one in ((1, 2 * np.pi), (2, np.pi)):
        steps = one * 10**decimals
        yield from (times * float(way(steps)) / 10**decimals for way in (np.round, np.floor))


_DENOMINATOR = 120


def _turns(wrong: Sequence[Seen], chain: Chain, whole: Callable[[Array], Array]) -> Iterator[float]:
    """Return what is taken for a turn, if the phase is off by so much for each of them."""
    angles, phases = list[Array](), list[Array]()
    for seen in wrong[:12]:
        given = seen.given
        angle = chain.angle(given, chain.place(given), chain.frequency(given))
        factor = multipliers(seen, chain)
        angle = np.broadcast_to(angle, factor.shape)
        chosen = np.isfinite(factor) & (np.abs(angle) > np.pi)
        angles.append(angle[chosen])
        phases.append(np.angle(factor * np.exp(-1j * angle))[chosen])
    angle, phase = np.concatenate(angles), np.concatenate(phases)
    off = 0.0
    for most in 3.0 ** np.arange(1, 11):
        count = whole(angle / (2 * np.pi + off))
        near = (np.abs(count) <= most) & (np.abs(count) > most / 3)
        if near.any():
            n, turned = count[near], phase[near]
            turned = turned + 2 * np.pi * np.round((-off * n - turned) / (2 * np.pi))
            off = float(np.median(-turned / n))
    if abs(off) > 1e-7 and abs(off) < 0.5:
        turn = 2 * np.pi + off
        exact = 2 * float(Fraction(turn / 2).limit_denominator(_DENOMINATOR))
        near = [exact] if abs(exact - turn) < 1e-6 else []
        yield from dict.fromkeys((*near, *(snapped(turn, digits) for digits in (1e-6, 1e-7, 1e-9))))
