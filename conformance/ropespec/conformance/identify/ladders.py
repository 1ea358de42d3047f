"""Frequencies that were measured, and those of a base or of a scheme that are the same.

A number is proposed in as few digits as the measurement allows. Whatever is proposed here is then
run beside the subject.
"""

from collections.abc import Iterator, Sequence
from decimal import localcontext
from functools import lru_cache

import numpy as np

from ropespec.conformance.identify.angles import Rung, wrapped
from ropespec.conformance.identify.blends import blends
from ropespec.conformance.identify.numbers import rounder
from ropespec.conformance.identify.probe import Float
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.frequency import LADDERS, fitted_scale
from ropespec.conformance.mistakes.given import Given
from ropespec.spec.convention import Convention, Frequencies
from ropespec.spec.errors import ArgumentError
from ropespec.spec.scaling import (
    Linear,
    LongRope,
    NtkAware,
    Proportional,
    Scaling,
    has_frequencies,
)

__all__ = ["choices", "is_near", "ladders", "searched"]

KNOWN = (10000.0, 500000.0, 1e6, 150000.0, 5e6, 1e7, 100000.0, 1000.0, 100.0, 160000.0)
"""Bases that models have."""

_U = 2.0**-24
_COARSE = 0.008  # frequencies cut off to bfloat16 are off by 2^-7 at most
_SHORT = 5  # digits


@lru_cache(maxsize=512)
def _theta(of: Frequencies, dim: int) -> Float | None:
    """Return the frequencies in float64; None if a scheme has none for so many components."""
    if isinstance(of.scheme, Scaling) and not has_frequencies(of.scheme, dim):
        return None
    with localcontext(prec=24):
        try:
            return np.array([float(one) for one in of.theta(dim)])
        except ArgumentError:  # of sections of other pairs
            return None


def is_near(of: Frequencies, rung: Rung) -> bool:
    """Whether frequencies are those measured."""
    return _near(_theta(of, rung.rotary_dim), rung)


def _near(expected: Float | None, rung: Rung, *, coarse: bool = False) -> bool:
    """Whether frequencies are those measured, but for what float32 loses; fast ones modulo 2 pi.

    Those behind the pairs that rotate must be 0.
    """
    count = len(rung.speed)
    if expected is None or len(expected) < count or expected[count:].any():
        return False
    first, size = expected[:count], np.abs(expected[:count])
    lost = 8 + 4 * np.abs(np.log(np.maximum(size, 1e-30))) + 5 * np.arange(count)
    room = (_COARSE if coarse else lost * _U) * size + 2e-9 + (3e-8 if coarse else 0.0)
    # Frequencies that are given may have either sign.
    measured = -rung.speed if rung.clockwise and (first >= 0).all() else rung.speed
    return bool((np.abs(wrapped(first - measured)) <= room).all())


def ladders(rungs: Sequence[Rung], claimed: Frequencies) -> Iterator[Frequencies]:
    """Return frequencies of these many components that are the ones measured, likely ones first.

    Parameters
    ----------
    rungs : sequence of Rung
        Measured at one or two head dimensions.
    claimed : Frequencies
        Tried before all others.
    """
    done = set[Frequencies]()
    found = False
    for one in _tried(rungs, claimed):
        if one not in done and all(_near(_theta(one, r.rotary_dim), r) for r in rungs):
            found = True
            yield one
        done.add(one)
    if found:
        return
    for one in dict.fromkeys((claimed, *map(Frequencies, KNOWN), *_plain(rungs, 3))):
        if all(_near(_theta(one, r.rotary_dim), r, coarse=True) for r in rungs):
            yield one
            return


def _tried(rungs: Sequence[Rung], claimed: Frequencies) -> Iterator[Frequencies]:
    yield claimed
    yield Frequencies(claimed.base)
    yield from _plain(rungs, _SHORT)
    yield from _divided(rungs)
    yield from _stretched(rungs, claimed.base)
    yield from _proportional(rungs, claimed.base)
    yield from (Frequencies(*one) for one in blends(rungs, (claimed.base, *KNOWN)))
    yield from _plain(rungs, 9)


def _line(rung: Rung) -> tuple[float, float] | None:
    """Return ln of the first frequency, and of base^(1/width), if they fall evenly."""
    speed = np.abs(rung.speed)
    if len(speed) < 2 or speed.min() < 1e-9:
        return None
    i = np.arange(len(speed))
    slope, first = np.polyfit(i, np.log(speed), 1, w=1 / (1 + 1e-9 / (_U * speed)))
    off = np.abs(np.log(speed) - first - slope * i).max()
    return (float(first), float(-slope)) if off < 2 * _COARSE else None


def _plain(rungs: Sequence[Rung], digits: int) -> Iterator[Frequencies]:
    """Return base^(-2i/r) of one base."""
    lines = [_line(rung) for rung in rungs]
    bases = [np.exp(one[1] * r.rotary_dim / 2) for one, r in zip(lines, rungs, strict=True) if one]
    if len(bases) == len(rungs) and min(bases) > 1.01 and max(bases) < 1.05 * min(bases):
        room = 1e-4 if digits > 3 else 2e-2
        yield from (Frequencies(one) for one in rounder(bases[0], room, digits) if one > 1)


def _divided(rungs: Sequence[Rung]) -> Iterator[Frequencies]:
    line = _line(rungs[0])
    if line is None or line[0] > -1e-6 or line[1] <= 0:
        return
    for base in rounder(float(np.exp(line[1] * rungs[0].rotary_dim / 2)), 1e-4, _SHORT):
        for factor in rounder(float(np.exp(-line[0])), 1e-5, 6):
            if base > 1 and factor > 1:
                yield Frequencies(base, Linear(factor))


def _stretched(rungs: Sequence[Rung], claimed: float) -> Iterator[Frequencies]:
    """Return base s^(r/(r-2)): two widths tell both, one tells s under a base that is known."""
    lines = [_line(rung) for rung in rungs]
    if any(one is None or abs(one[0]) > 1e-4 for one in lines) or rungs[0].rotary_dim < 4:
        return
    logs = [one[1] * r.rotary_dim / 2 for one, r in zip(lines, rungs, strict=True) if one]
    powers = [r.rotary_dim / max(r.rotary_dim - 2, 1) for r in rungs]
    bases: tuple[float, ...] = (claimed, *KNOWN)
    if len(rungs) > 1 and powers[0] != powers[1]:
        ratio = (logs[1] - logs[0]) / (powers[1] - powers[0])
        bases = (*bases, *rounder(float(np.exp(logs[0] - powers[0] * ratio)), 3e-3, _SHORT))
    for base in bases:
        ratio = float(np.exp((logs[0] - np.log(base)) / powers[0])) if base > 1 else 0.0
        digits = 6 if len(rungs) > 1 else 3
        yield from (
            Frequencies(base, NtkAware(one)) for one in rounder(ratio, 3e-5, digits) if one > 1
        )


def _proportional(rungs: Sequence[Rung], claimed: float) -> Iterator[Frequencies]:
    """Return the first frequencies of a head of which the rest stands still."""
    first = rungs[0]
    still = np.abs(first.speed) < 1e-9
    count = int(np.argmax(still)) if still.any() else len(first.speed)
    if not still.any() or count == 0 or not still[count:].all():
        return
    for base in (claimed, *KNOWN):
        for factor in rounder(1 / float(np.abs(first.speed[0])), 1e-5, 6):
            if factor >= 1:
                share = count / len(first.speed)
                yield Frequencies(base, Proportional(share, factor))


def searched(rungs: Sequence[Rung], base: float) -> Iterator[Frequencies]:
    """Return a factor of its own for each pair, where none is sped up.

    Such a list is for one head_dim alone; what answers at two has none.
    """
    rung = rungs[0]
    plain = _theta(Frequencies(base), rung.rotary_dim)
    assert plain is not None
    speed = np.abs(rung.speed)
    falls = bool((np.diff(speed) < 0).all() and speed.min(initial=1.0) > 1e-9)
    if len(rungs) > 1 or not falls or (speed > plain * (1 + 1e-6)).any():
        return
    factors = tuple(next(rounder(one, 6e-7, 9)) for one in plain / speed)
    yield Frequencies(base, LongRope(factors, factors, 1.0, 1, 2, attention_factor=1.0))


def choices(rungs: Sequence[Rung], base: float) -> Iterator[Choice]:
    """Return ladders that nobody can claim and that are those measured.

    Parameters
    ----------
    rungs : sequence of Rung
        Measured.
    base : float
        The one that is claimed.
    """
    line = _line(rungs[0])
    tried = list(LADDERS)
    if line is not None and abs(line[0]) > 1e-4:
        scales = rounder(float(np.exp(line[0])), 1e-4, 6)
        tried += [fitted_scale(one) for one in scales]
    for choice in tried:
        made = [choice.change["frequency"](_call(rung, base)) for rung in rungs]
        if all(_near(one, rung) for one, rung in zip(made, rungs, strict=True)):
            yield choice


def _call(rung: Rung, base: float) -> Given:
    x = np.zeros((1, 1, 3, rung.head_dim))  # as many heads as it was measured with
    asked = Convention.of(interleaved=False, base=base, rotary_dim=rung.rotary_dim)
    return Given(x, np.zeros((1, 1), np.int64), asked)
