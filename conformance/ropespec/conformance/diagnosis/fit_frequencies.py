"""Frequencies measured where it fails, and the ladders that they are."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.read import multipliers, snapped, unwrapped
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.mistakes.chain import Chain, ladder
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.frequency import (
    LADDERS,
    fitted_base,
    fitted_exponent,
    fitted_scale,
    fitted_stretch,
    fitted_width,
    listed,
)
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.rounding import rounded
from ropespec.spec.axes import Anew
from ropespec.spec.scaling import Llama3, NtkByParts, Yarn

__all__ = ["fitted_frequencies"]

_DENOMINATOR = 64
_ONE_OFF = 1 / _DENOMINATOR
"""How near to 1 a factor is if it is the ratio of two counts of which one is one too many."""
_STEPS = 3.0 ** np.arange(11)
_NEAR_STEPS = 7
"""How many of them are near enough for most tables, and so many are taken at least."""


def fitted_frequencies(
    asker: Asker, wrong: Sequence[Seen], chain: Chain, *, late: bool = False
) -> Iterator[Choice]:
    """Measure the frequencies where it fails, and return the ladders that they are.

    Parameters
    ----------
    asker : Asker
        The subject.
    wrong : sequence of Seen
        Calls with wrong components.
    chain : Chain
        What is claimed.
    late : bool
        Whether they are measured in the middle of the last row and in its last head, and not at
        the beginning.
    """
    measured: dict[tuple[int, int], Array] = {}
    templates: dict[tuple[int, int], Given] = {}
    for seen in [one for one in wrong if one.given.x.shape[1] > 2] if late else wrong:
        key = (seen.given.turning, seen.given.x.shape[-1])
        templates.setdefault(key, seen.given)
    for key, template in list(templates.items())[:4]:
        speed = _measured(asker, template, chain, late=late)
        if speed is not None:
            measured[key] = speed
    if not measured:
        return
    yield from _ladders(measured, templates)


def _measured(asker: Asker, template: Given, chain: Chain, *, late: bool) -> Array | None:
    """Follow the phases of the pairs over steps of 1, 3, 9, ... where the template fails.

    As far as positions are claimed, if all of them are turned alike, or else near by.
    """
    start = int(template.positions.max(initial=0))
    room = asker.session.profile.max_position - start
    for steps in (_STEPS[room >= _STEPS], _STEPS[:_NEAR_STEPS]):
        phase = _followed(asker, template, chain, steps, late=late)
        if phase is not None and len(steps) >= _NEAR_STEPS:
            speed, off = unwrapped(phase, steps)
            if off.max(initial=0.0) < _MOST_OFF:
                return speed
    return None


_MOST_OFF = 0.6


def _followed(
    asker: Asker, template: Given, chain: Chain, steps: Array, *, late: bool
) -> Array | None:
    """Return how far pairs have turned after each of some steps, (steps, n); None if unknown."""
    start = int(template.positions.max(initial=0))
    seq = template.x.shape[1]
    wanted = np.concatenate([[0], steps]).astype(np.int64) + start
    rows = list[Array]()
    whole = seq >= len(wanted) and not late
    order = [np.resize(wanted, seq)] if whole else [np.full(seq, at) for at in wanted]
    for places_ in order:
        positions = np.broadcast_to(places_, template.positions.shape).copy()
        answer = asker.ask(replace(template, positions=positions).following(()))
        if answer is None or answer.y is None:
            return None
        factor = multipliers(Seen(answer, chain), chain)
        if 2 * factor.shape[-1] != template.turning:  # there are more pairs than are claimed
            return None
        count = len(wanted) if whole else 1
        rows += [factor[-1, seq // 2, -1]] if late else [factor[0, t, 0] for t in range(count)]
    table = np.stack(rows)
    with np.errstate(all="ignore"):
        phase = np.angle(table[1:] / table[:1])
    return phase if np.isfinite(phase).all() else None


def _ladders(
    measured: dict[tuple[int, int], Array], templates: dict[tuple[int, int], Given]
) -> Iterator[Choice]:
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
        mean, fastest = float(np.mean(ratios)), float(lines[0].ratios[0])
        exact = float(Fraction(fastest).limit_denominator(_DENOMINATOR))
        near = [exact] if abs(exact - fastest) < 1e-5 * abs(fastest) else []
        yield from map(fitted_scale, dict.fromkeys((snapped(mean, 1e-4), *near)))
        if abs(fastest - 1) < _ONE_OFF:
            count = round(1 / (fastest - 1))
            yield fitted_scale(1 + 1 / count, f"{abs(count + 1)}/{abs(count)}")
    straight = all(line.straight for line in lines)
    bases, widths = np.array([line.base for line in lines]), np.array([w.width for w in lines])
    if straight and np.allclose(bases, bases[0], rtol=2e-2):
        claimed = float(next(iter(templates.values())).base)
        found = float(np.median(bases))
        few = [base for base in _rounded(claimed) if abs(base - found) < 1e-3 * found]
        tried = [base for base in few if abs(base - found) < 1e-6 * found]
        tried += [snapped(found, digits) for digits in (1e-2, 1e-3, 1e-4, 1e-6)]
        tried += few
        yield from (fitted_base(base) for base in dict.fromkeys(tried) if base != claimed)
    yield from _stretched(lines, measured, templates) if straight else ()
    if straight and np.isfinite(widths[0]) and np.allclose(widths, widths[0], rtol=1e-2):
        yield fitted_width(float(np.round(np.median(widths))))
    yield from _exponents(measured, templates)
    by_width = {key[0]: speed for key, speed in measured.items()}
    yield listed(by_width, _described(measured, templates), _free_key(measured, templates))


def _exponents(
    measured: dict[tuple[int, int], Array], templates: dict[tuple[int, int], Given]
) -> Iterator[Choice]:
    """Return the exponent (2i + a)/(k r + c), if there is one for all widths."""
    found = list[tuple[int, float, float]]()
    for key, speed in measured.items():
        if len(speed) < 3 or (speed <= 0).any():
            continue
        i, fall = np.arange(len(speed)), -np.log(speed) / np.log(templates[key].base)
        step, start = np.polyfit(i, fall, 1)
        if step <= 0 or not np.allclose(fall, start + step * i, atol=1e-3):
            return
        found.append((key[0], 2 / step, 2 * start / step))
    if not found:
        return
    r, widths, firsts = (np.array(column) for column in zip(*found, strict=True))
    first = float(np.round(np.median(firsts) * 4) / 4)
    slopes = [1.0] if len(set(r)) < 2 else [np.polyfit(r, widths, 1)[0]]
    for times in {float(np.round(slope * 4) / 4) for slope in slopes}:
        more = float(np.round(np.median(widths - times * r)))
        fits = np.allclose(widths, times * r + more, rtol=1e-2)
        if fits and np.ptp(firsts) < 0.1 and (first, times, more) != (0.0, 1.0, 0.0):
            yield fitted_exponent(first, times, more)


def _stretched(
    lines: "Sequence[_Line]",
    measured: dict[tuple[int, int], Array],
    templates: dict[tuple[int, int], Given],
) -> Iterator[Choice]:
    """Return the number whose powers the base is multiplied by, if it is the same at all widths."""
    given, widths = next(iter(templates.values())), np.array([width for width, _ in measured])
    if len(set(widths)) < 2 or widths.min() < 4:
        return
    times = (np.array([line.base for line in lines]) / given.base) ** (1 - 2 / widths)
    if np.allclose(times, times[0], rtol=3e-3) and abs(times[0] - 1) > 1e-2:
        key = "another scheme" if given.scaling is not None else "scaling that is not claimed"
        for digits in (1e-2, 1e-3, 1e-4):
            yield fitted_stretch(snapped(float(np.median(times)), digits), key)


def _rounded(base: float) -> Iterator[float]:
    """Return what a base is where it, or its logarithm, was kept in few bits or written short."""
    for kind in ("float16", "bfloat16", "float32"):
        few = rounded(np.array([np.log2(base), np.log(base), base]), kind)
        yield from map(float, (np.exp2(few[0]), np.exp(few[1]), few[2]))
    for decimals in range(1, 8):
        yield float(np.exp2(np.round(np.log2(base), decimals)))
        yield float(np.exp(np.round(np.log(base), decimals)))


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


def _free_key(
    measured: dict[tuple[int, int], Array], templates: dict[tuple[int, int], Given]
) -> str:
    """Return what is known of frequencies that nothing makes."""
    key, speed = next(iter(measured.items()))
    if len(speed) > 3 and (np.abs(speed) > 1e-7).mean() < 0.5:
        return "I1"
    scheme = templates[key].scaling
    scheme = scheme.scheme if isinstance(scheme, Anew) else scheme
    if scheme is None:
        return "unknown frequencies"
    shares = speed / ladder(templates[key].scaled(None))
    blended = isinstance(scheme, Yarn | Llama3 | NtkByParts) and bool(
        np.all((shares > 0.999 / scheme.factor) & (shares < 1.001))
    )
    return "another blend" if blended else "another scheme"


def _near(wanted: Array, speed: Array) -> bool:
    if wanted.shape != speed.shape:
        return False
    return bool(np.all(np.abs(wanted - speed) <= 3e-4 * np.abs(wanted) + 3e-6))


def _described(
    measured: dict[tuple[int, int], Array], templates: dict[tuple[int, int], Given]
) -> str:
    key = next(iter(measured))
    ratio = measured[key] / ladder(templates[key])
    told = ", ".join(f"{r:.6g}" for r in ratio[:6])
    more = ", ..." if len(ratio) > 6 else ""
    return f"the frequencies are these times the claimed ones, at width {key[0]}: {told}{more}"
