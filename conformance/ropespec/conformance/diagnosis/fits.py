# ruff: noqa: ARG005  # a term may leave out what others take
"""Choices with numbers of their own, fitted to what failed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.read import multipliers, places, snapped, unwrapped
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.mistakes.chain import Chain, ladder
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.frequency import (
    LADDERS,
    fitted_base,
    fitted_scale,
    fitted_width,
    listed,
)
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.place import (
    BLOCKS,
    LIMITED,
    SOURCES,
    blocked,
    combined,
    limited,
)
from ropespec.conformance.mistakes.turning import (
    clipped_at,
    everything_times,
    fast_sine,
    gained,
    tail_times,
)

__all__ = ["fitted_frequencies", "fitted_gains", "fitted_places"]


class _Tokens(NamedTuple):
    """Tokens with their decoded positions, and each source's value there."""

    found: Array  # (N,)
    sources: dict[str, Array]  # (N,) each
    own: Array
    givens: list[tuple[Given, Array]]  # the calls, and which tokens of each


def fitted_places(wrong: Sequence[Seen], chain: Chain) -> Iterator[Choice]:
    """Return places that explain every position that was decoded, the simplest first."""
    tokens = _decoded(wrong, chain)
    if tokens is None or len(tokens.found) < 2:
        return
    room = 2e-3 + 2e-5 * np.abs(tokens.found)
    yield from _sums(tokens, room)
    yield from _blocks(tokens, room)
    yield from _limits(tokens)


def _decoded(wrong: Sequence[Seen], chain: Chain) -> _Tokens | None:
    found, own, givens = list[Array](), list[Array](), list[tuple[Given, Array]]()
    sources: dict[str, list[Array]] = {word: [] for word in SOURCES}
    for seen in wrong:
        if chain.frequency(seen.given).shape[-1] < 4:
            continue
        decoded = places(seen, chain)
        pairs = chain.pairing(seen.given)
        chosen = decoded.fits & seen.wrong[..., pairs.to_first].any(axis=-1)
        far = np.abs(decoded.found) < 0.9 * np.pi / np.abs(chain.frequency(seen.given)).min()
        at = np.flatnonzero(chosen & far)
        if not len(at):
            continue
        at = at[:: max(len(at) // 60, 1)]
        found.append(decoded.found.ravel()[at])
        own.append(_spread(seen.given, "own")[at])
        givens.append((seen.given, at))
        for word in SOURCES:
            sources[word].append(_spread(seen.given, word)[at])
    if not found:
        return None
    joined = {word: np.concatenate(parts) for word, parts in sources.items()}
    return _Tokens(np.concatenate(found), joined, np.concatenate(own), givens)


def _spread(given: Given, word: str) -> Array:
    return np.broadcast_to(SOURCES[word][2](given)[..., 0], given.x.shape[:3]).ravel()


_FACTORS = (1.0, -1.0, 2.0, 0.5, 3.0, 4.0, 0.25)


def _sums(tokens: _Tokens, room: Array) -> Iterator[Choice]:
    """Return sums of up to two sources and a constant."""
    words = [w for w in SOURCES if w != "zero"]
    if np.all(np.abs(tokens.found - tokens.found[0]) <= room):
        yield combined((), snapped(float(tokens.found[0]), 1e-3))
    alone, scaled = list[str](), 0
    for word in words:
        rest = tokens.found - tokens.sources[word]
        if np.all(np.abs(rest - np.round(rest[0])) <= room):
            alone.append(word)
            yield combined(((word, 1.0),), float(np.round(rest[0])))
    for word in words:
        source = tokens.sources[word]
        if alone or not np.ptp(source):
            continue
        factor, constant = np.polyfit(source, tokens.found, 1)
        line = factor * source + constant
        if 1e-4 < abs(factor) < 1e4 and np.all(np.abs(tokens.found - line) <= room):
            scaled += 1
            yield combined(
                ((word, snapped(float(factor), 1e-4)),), snapped_integer(float(constant))
            )
            if scaled > 3:
                break
    if not (alone or scaled):
        yield from islice(_pairs_of(tokens, room, words), 12)


def snapped_integer(value: float) -> float:
    """Return the integer or half that a number is, or the number in few digits."""
    near = round(2 * value) / 2
    return near if abs(near - value) < 5e-3 else snapped(value, 1e-3)


def _pairs_of(tokens: _Tokens, room: Array, words: Sequence[str]) -> Iterator[Choice]:
    matrix = np.stack([tokens.sources[word] for word in words])
    for k, word in enumerate(words):
        for factor in _FACTORS:
            rest = tokens.found - factor * matrix[k]
            for other in (1.0, -1.0, 2.0, -2.0, 0.5):
                left = rest[None] - other * matrix
                level = np.round(left[:, :1])
                fits = np.all(np.abs(left - level) <= room, axis=1)
                for j in map(int, np.flatnonzero(fits)):
                    if j > k or (j != k and factor != other):
                        terms = ((word, factor), (words[j], other))
                        yield combined(terms, float(level[j, 0]))


_SIZES = (
    *range(2, 34),
    *(48, 63, 64, 65, 96, 100, 127, 128, 129, 192, 200, 255, 256, 257, 384, 500, 511, 512, 513),
    *(1000, 1023, 1024, 1025, 2000, 2047, 2048, 2049, 4096),
)


def _blocks(tokens: _Tokens, room: Array) -> Iterator[Choice]:
    """Return places by blocks of some size."""
    if np.all(np.abs(tokens.found - tokens.own) <= room):
        return
    for word, (_, _, source) in BLOCKS.items():
        for size in _SIZES:
            begin, fits = 0, True
            for given, at in tokens.givens:
                end = begin + len(at)
                values = np.broadcast_to(source(given, size)[..., 0], given.x.shape[:3]).ravel()
                fits = bool(np.all(np.abs(values[at] - tokens.found[begin:end]) <= room[begin:end]))
                begin = end
                if not fits:
                    break
            if fits:
                yield blocked(word, size)


def _limits(tokens: _Tokens) -> Iterator[Choice]:
    """Return places that end at the length of a table."""
    size = np.abs(tokens.own)
    most = float(np.abs(tokens.found).max())
    ends = {round(most) + 1}
    over = size - np.abs(tokens.found)
    steps = np.round(over[over > 0.5])
    if len(steps):
        ends |= {int(np.gcd.reduce(steps.astype(np.int64))), int(steps.min())}
    for end in ends:
        if end < 2:
            continue
        for kind in LIMITED:
            choice = limited(kind, int(end))
            yield choice


def fitted_gains(wrong: Sequence[Seen], chain: Chain) -> Iterator[Choice]:
    """Return factors on what turns, on the whole or on the tail."""
    sizes, tails = list[Array](), list[Array]()
    for seen in wrong[:6]:
        given = seen.given
        factor = multipliers(seen, chain)
        pairs = chain.pairing(given)
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
                for digits in (1e-4, 1e-6):
                    yield one(snapped(middle, digits))


_STEPS = np.array([1, 3, 9, 27, 81, 243, 729])


def fitted_frequencies(
    asker: Asker, wrong: Sequence[Seen], chain: Chain, right: Chain
) -> Iterator[Choice]:
    """Measure the frequencies where it fails, and return the ladders that they are."""
    measured: dict[tuple[int, int], Array] = {}
    templates: dict[tuple[int, int], Given] = {}
    for seen in wrong:
        key = (seen.given.turning, seen.given.x.shape[-1])
        templates.setdefault(key, seen.given)
    for key, template in list(templates.items())[:4]:
        speed = _measured(asker, template, chain)
        if speed is not None:
            measured[key] = speed
    if not measured:
        return
    yield from _ladders(measured, templates, right)


def _measured(asker: Asker, template: Given, chain: Chain) -> Array | None:
    """Follow the phases of the pairs over steps of 1, 3, 9, ... where the template fails."""
    start = int(template.positions.max(initial=0))
    seq = template.x.shape[1]
    wanted = np.concatenate([[0], _STEPS]) + start
    rows = list[Array]()
    whole = seq >= len(wanted)
    order = [np.resize(wanted, seq)] if whole else [np.full(seq, at) for at in wanted]
    for places_ in order:
        positions = np.broadcast_to(places_, template.positions.shape).copy()
        answer = asker.ask(replace(template, positions=positions))
        if answer is None or answer.y is None:
            return None
        factor = multipliers(Seen(answer, chain), chain)
        count = len(wanted) if whole else 1
        rows += [factor[0, t, 0] for t in range(count)]
    table = np.stack(rows)
    with np.errstate(all="ignore"):
        phase = np.angle(table[1:] / table[:1])
    if not np.isfinite(phase).all():
        return None
    speed, off = unwrapped(phase, _STEPS.astype(np.float64))
    return speed if off.max(initial=0.0) < 0.6 else None


def _ladders(
    measured: dict[tuple[int, int], Array], templates: dict[tuple[int, int], Given], right: Chain
) -> Iterator[Choice]:
    del right

    def same(choice: Choice) -> bool:
        return all(
            _near(choice.change["frequency"](templates[key]), speed)
            for key, speed in measured.items()
        )

    for choice in LADDERS:
        if same(choice):
            yield choice
    lines = [_line(templates[key], speed) for key, speed in measured.items()]
    ratios = np.concatenate([line.ratios for line in lines])
    level = np.allclose(ratios, ratios[0], rtol=3e-4, atol=1e-6)
    if level and abs(ratios[0] - 1) > 1e-6 and abs(ratios[0]) > 1e-6:
        yield fitted_scale(snapped(float(np.mean(ratios)), 1e-4))
    straight = all(line.straight for line in lines)
    bases, widths = np.array([line.base for line in lines]), np.array([w.width for w in lines])
    if straight and np.allclose(bases, bases[0], rtol=2e-2):
        claimed = float(next(iter(templates.values())).base)
        tried = [snapped(float(np.median(bases)), digits) for digits in (1e-2, 1e-3, 1e-4, 1e-6)]
        yield from (fitted_base(base) for base in dict.fromkeys(tried) if base != claimed)
    if straight and np.isfinite(widths[0]) and np.allclose(widths, widths[0], rtol=1e-2):
        yield fitted_width(float(np.round(np.median(widths))))
    by_width = {key[0]: speed for key, speed in measured.items()}
    yield listed(by_width, _described(measured, templates), _free_key(measured))


class _Line(NamedTuple):
    """Measured frequencies beside the claimed ones, and the ladder that they may be."""

    ratios: Array
    straight: bool
    base: float
    width: float


def _line(given: Given, speed: Array) -> _Line:
    ratios = speed / ladder(given)
    if len(speed) < 2 or (speed <= 0).any():
        return _Line(ratios, straight=False, base=0.0, width=np.inf)
    fall = -np.log(speed)
    slope = float(fall[-1] / (len(speed) - 1))
    straight = bool(np.allclose(fall, slope * np.arange(len(speed)), atol=2e-3))
    width = 2 * float(np.log(given.base)) / slope if slope else np.inf
    return _Line(ratios, straight, float(np.exp(slope * given.turning / 2)), width)


def _free_key(measured: dict[tuple[int, int], Array]) -> str:
    speed = np.abs(next(iter(measured.values())))
    filled = (speed > 1e-7).mean()
    return "I1" if len(speed) > 3 and filled < 0.5 else "unknown frequencies"


def _near(wanted: Array, speed: Array) -> bool:
    if wanted.shape != speed.shape:
        return False
    return bool(np.all(np.abs(wanted - speed) <= 3e-4 * np.abs(wanted) + 3e-6))


def _described(
    measured: dict[tuple[int, int], Array], templates: dict[tuple[int, int], Given]
) -> str:
    key = next(iter(measured))
    ratio = measured[key] / ladder(templates[key])
    told = ", ".join(f"{r:.4g}" for r in ratio[:6])
    more = ", ..." if len(ratio) > 6 else ""
    return f"the frequencies are these times the claimed ones, at width {key[0]}: {told}{more}"


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
    sizes = np.concatenate([np.abs(seen.y[seen.wrong]) for seen in wrong[:6]])
    if len(sizes) and np.isfinite(sizes).all() and np.ptp(sizes) <= 1e-5 * sizes.max():
        yield clipped_at(snapped(float(sizes.max()), 1e-5))


def fitted_sines(wrong: Sequence[Seen]) -> Iterator[Choice]:
    """Return sines whose range was reduced with a rounded 2 pi."""
    del wrong
    turns = (
        float(np.float32(2 * np.pi)),
        6.28,
        6.283,
        6.2832,
        6.2831,
        6.28318,
        6.283185,
        6.2831853,
    )
    for turn in turns:
        yield fast_sine(turn)
