"""Schemes that keep fast pairs and divide slow ones: what is done between, or at the ends."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ropespec.conformance.mistakes.chain import ladder
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.spec.scaling import Llama3, NtkByParts, Scaling, Yarn

__all__ = ["MISTAKES", "of_blends"]

MISTAKES = entries("""
inverted ramp
    The ramp of a blend runs the other way; divide where pairs are slow.
another blend
    Between the pairs that are kept and those that are divided the two are mixed otherwise;
    compare the ramp with the claim, and what it mixes.
""")


def of_blends(claimed: Yarn | Llama3 | NtkByParts) -> Iterator[Choice]:
    """Return other mixtures than the one that is claimed, the ends exchanged first.

    Parameters
    ----------
    claimed : Yarn, Llama3 or NtkByParts
        The scheme.
    """
    what = "the slow pairs are kept and the fast ones divided"
    yield Choice("inverted ramp", "frequency", what, {"frequency": _inverted(claimed.factor)})
    what = "where the two are blended, either has the other's share"
    within = {"frequency": _inverted(claimed.factor, ends=False)}
    yield Choice("inverted ramp", "frequency", what, within)
    yield from _blends(claimed)
    yield from _counts(claimed)
    if isinstance(claimed, Yarn):
        yield from _ends(claimed)


def _counts(claimed: Yarn | Llama3 | NtkByParts) -> Iterator[Choice]:
    """Return blends whose ends are told by another count than that of turns."""
    first, second = _NAMES[type(claimed)]
    for what, each in _COUNTED:
        ends: dict[str, Any] = {
            name: float(getattr(claimed, name)) / each for name in (first, second)
        }
        other = replace(claimed, **ends)
        change = {"frequency": _as_if(other)}
        yield Choice("another blend", "frequency", what, change)


_NAMES: dict[type, tuple[str, str]] = {
    Yarn: ("beta_fast", "beta_slow"),
    Llama3: ("low_freq_factor", "high_freq_factor"),
    NtkByParts: ("alpha", "beta"),
}
_COUNTED = (
    ("radians are counted in place of turns: wavelengths lack their 2 pi", 2 * np.pi),
    ("turns are divided by 2 pi twice", 1 / (2 * np.pi)),
)


def _as_if(other: Scaling) -> Callable[[Given], Array]:
    return lambda g: ladder(g.scaled(other))


def _ends(claimed: Yarn) -> Iterator[Choice]:
    """Return ramps whose ends are brought to whole indices otherwise."""
    ways: tuple[tuple[str, _Rounded, _Rounded], ...] = (
        ("both ends of the ramp are rounded down", np.floor, np.floor),
        ("both ends of the ramp are rounded up", np.ceil, np.ceil),
        ("both ends of the ramp are rounded to the nearest", np.round, np.round),
        ("the ramp is cut at both ends", np.ceil, np.floor),
    )
    for what, low, high in ways:
        change = {"frequency": _between(claimed, low, high)}
        yield Choice("another blend", "frequency", what, change)
    for base in _BASES:
        change = {"frequency": _between(claimed, np.floor, np.ceil, base=base)}
        yield Choice(
            "another blend", "frequency", f"the ramp has its ends by base {base:g}", change
        )
    for word, width in _WIDTHS:
        change = {"frequency": _between(claimed, np.floor, np.ceil, width)}
        what = f"the ends of the ramp are those of {word}"
        yield Choice("another blend", "frequency", what, change)
    for length in _LENGTHS:
        other = replace(claimed, original_length=length)
        change = {"frequency": _between(other, np.floor, np.ceil)}
        what = f"the ramp has its ends by an original length of {length}"
        yield Choice("another blend", "frequency", what, change)
    for what, most in _LAST:
        change = {"frequency": _between(claimed, np.floor, np.ceil, most=most)}
        yield Choice("another blend", "frequency", what, change)
    for what, number in _NUMBERED:
        change = {"frequency": _between(claimed, np.floor, np.ceil, number=number)}
        yield Choice("another blend", "frequency", what, change)


_BASES = (10000.0, 500000.0, 1e6)
_LENGTHS = (2048, 4096, 8192, 32768)
"""Defaults that functions for the ends of a ramp have, and that stay where none is handed on."""

_LAST: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("the ramp ends with the last pair at most", lambda r: r / 2 - 1),
    ("the ramp ends behind the last pair at most", lambda r: r / 2),
    ("the ramp ends wherever it comes to", lambda _: np.inf),
)
"""Where the upper end of a ramp is cut off, which is at d - 1."""

_NUMBERED: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("the ramp counts components, and not pairs", lambda i: 2 * i),
    ("the ramp counts every second pair", lambda i: i / 2),
    ("the ramp counts pairs from 1", lambda i: i + 1),
    ("the ramp counts pairs from the last", lambda i: i[::-1]),
)


def _always(width: int) -> Callable[[Given], int]:
    return lambda _: width


_WIDTHS: tuple[tuple[str, Callable[[Given], int]], ...] = (
    ("the whole head", lambda g: g.x.shape[-1]),
    ("what does not turn", lambda g: g.x.shape[-1] - g.turning),
    ("half of what turns", lambda g: g.turning // 2),
    ("twice what turns", lambda g: 2 * g.turning),
    *((f"{n} components", _always(n)) for n in (32, 64, 80, 96, 128, 192, 256)),
)
"""Of which width the ends of a ramp may be made."""

_Rounded = Callable[[float], float]


def _between(
    claimed: Yarn,
    below: _Rounded,
    above: _Rounded,
    width: Callable[[Given], int] = lambda g: g.turning,
    number: Callable[[Array], Array] = lambda i: i,
    base: float | None = None,
    most: Callable[[float], float] = lambda r: r - 1,
) -> Callable[[Given], Array]:
    def frequency(g: Given) -> Array:
        i, r = number(np.arange(g.turning // 2)), width(g)
        turns = (float(claimed.beta_fast), float(claimed.beta_slow))
        ends = [
            r * np.log(claimed.original_length / (2 * np.pi * each)) / (2 * np.log(base or g.base))
            for each in turns
        ]
        low, high = max(below(ends[0]), 0.0), min(above(ends[1]), most(r))
        share = 1 - np.clip((i - low) / max(high - low, 1e-3), 0.0, 1.0)
        plain = ladder(g.scaled(None))
        return np.asarray(plain * ((1 - share) / claimed.factor + share))

    return frequency


def _inverted(factor: float, *, ends: bool = True) -> Callable[[Given], Array]:
    def frequency(g: Given) -> Array:
        plain, scaled = ladder(g.scaled(None)), ladder(g)
        is_end = np.isclose(scaled, plain, 1e-12) | np.isclose(scaled, plain / factor, 1e-12)
        inverted = plain + plain / factor - scaled
        return np.asarray(inverted if ends else np.where(is_end, scaled, inverted))

    return frequency


Blend = Callable[[Array], Array]
"""The part of a frequency that is left, of the share of the ramp at its pair."""


def _blends(claimed: Yarn | Llama3 | NtkByParts) -> Iterator[Choice]:
    """Return other mixtures where a pair is neither kept nor divided."""
    factor = claimed.factor
    mixtures: list[tuple[str, Blend]] = [
        ("periods are blended, and not frequencies", lambda s: 1 / ((1 - s) * factor + s)),
        ("logarithms are blended, and not frequencies", lambda s: factor ** (s - 1)),
        ("what is between is divided", lambda s: np.where(s < 1, 1 / factor, 1.0)),
        ("what is between is kept", lambda s: np.where(s > 0, 1.0, 1 / factor)),
        ("the share is squared", lambda s: (1 - s * s) / factor + s * s),
    ]
    if not isinstance(claimed, Yarn):
        if isinstance(claimed, NtkByParts):
            share = _of_periods(float(claimed.alpha), float(claimed.beta))
        else:
            share = _of_periods(float(claimed.low_freq_factor), float(claimed.high_freq_factor))
        what = "the share grows with the wavelength, and not with the number of turns"
        mixtures.append((what, lambda s: (1 - share(s)) / factor + share(s)))
    for what, blend in mixtures:
        yield Choice("another blend", "frequency", what, {"frequency": _blended(factor, blend)})


def _of_periods(low: float, high: float) -> Blend:
    """Return the share that is linear in the period, of the one that is linear in its inverse."""

    def share(s: Array) -> Array:
        turns = low + s * (high - low)
        return np.asarray((1 / low - 1 / turns) / (1 / low - 1 / high))

    return share


def _blended(factor: float, blend: Blend) -> Callable[[Given], Array]:
    def frequency(g: Given) -> Array:
        plain, scaled = ladder(g.scaled(None)), ladder(g)
        share = np.clip((scaled / plain - 1 / factor) / (1 - 1 / factor), 0.0, 1.0)
        ends = np.isclose(share, np.round(share), atol=1e-9)
        return np.asarray(np.where(ends, scaled, plain * blend(np.where(ends, 0.5, share))))

    return frequency
