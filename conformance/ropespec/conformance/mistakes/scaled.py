"""Frequencies that are claimed to be scaled: what somebody made of the scheme instead."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace

import numpy as np

from ropespec.conformance.mistakes.blends import of_blends
from ropespec.conformance.mistakes.chain import Pairs, Place, ladder
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.gains import of_gains, of_other_gains, times
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.orders import restarted, spread
from ropespec.conformance.mistakes.pairing import claimed_layout
from ropespec.conformance.mistakes.whole_numbers import of_integers, of_shares
from ropespec.spec.errors import ArgumentError
from ropespec.spec.scaling import (
    DynamicNtk,
    Linear,
    Llama3,
    LongRope,
    NtkAware,
    NtkByParts,
    Proportional,
    Scaling,
    Yarn,
    has_frequencies,
)

__all__ = ["MISTAKES", "of_schemes"]

MISTAKES = entries("""
dead scaling
    A scheme is claimed, and nothing of it is there; read its numbers under their right keys.
another scheme
    The frequencies are those of another scheme, or of other numbers; compare each with the claim.
scaling that is not claimed
    The frequencies are scaled, and no scheme is claimed; claim it, or leave it out.
frequencies divided by the factor of the base
    Every frequency is divided by what the base is to be multiplied by; the first one stays 1.
pairs of the part
    Pairs are made within the part that turns; proportional rotation makes them of the whole head.
offset not scaled
    Of the offset of a call and the steps from there only one is divided; divide their sum.
""")

_PLAIN = 0.5
"""The cost of the simplest: what divides a width by itself also makes plain frequencies."""
_FACTORS = (2.0, 4.0, 8.0, 16.0, 32.0, 40.0)
_LENGTHS = (2048, 4096, 8192, 32768)
_SHARES = (0.25, 0.5, 0.75)
_SWAPPED = (("beta_fast", "beta_slow"), ("low_freq_factor", "high_freq_factor"))
_BASES = (10000.0, 100000.0, 150000.0, 500000.0, 1e6)


def of_schemes(claimed: Scaling | None, base: float) -> Iterator[Choice]:
    """Return what may stand in place of a scheme that is claimed, or where none is.

    Parameters
    ----------
    claimed : Scaling or None
        The scheme.
    base : float
        The base that is claimed with it.
    """
    if claimed is None:
        yield from _unclaimed(base)
        return
    dead = _under(None)
    yield Choice("dead scaling", "frequency", "the frequencies are not scaled", dead, _PLAIN)
    for other_base in _BASES:
        if other_base != base:
            what = f"the frequencies are not scaled, and of base {other_base:g}"
            yield Choice("dead scaling", "frequency", what, _under(None, other_base))
    if float(claimed.gain) != 1.0:
        yield from of_gains(claimed)
        alone = {"frequency": dead["frequency"]}
        what = "the frequencies are not scaled, and only the factor on cos and sin is there"
        yield Choice("dead scaling", "frequency", what, alone, _PLAIN)
    yield from of_other_gains(claimed)
    yield from _of_its_kind(claimed)
    for other, its_base in _others(claimed, base):
        if (other, its_base) != (claimed, base):
            yield from _named("another scheme", other, its_base, _apart(other, claimed))
    if isinstance(claimed, LongRope):
        yield _of_the_other_list(claimed, base)


def _of_its_kind(claimed: Scaling) -> Iterator[Choice]:
    """Return what can be made of a scheme of this kind alone."""
    if isinstance(claimed, Yarn | Llama3 | NtkByParts):
        yield from of_blends(claimed)
    if isinstance(claimed, DynamicNtk | NtkAware):
        what = f"all frequencies are divided by {claimed.factor:g}^(d/(d-2))"
        divided = {"frequency": _divided(claimed.factor)}
        yield Choice("frequencies divided by the factor of the base", "frequency", what, divided)
        what = "the base grows by a power d/(d-2) of the whole head, and not of what rotates"
        yield Choice("another scheme", "frequency", what, {"frequency": _by_the_whole_head})
    if isinstance(claimed, Linear):
        yield from of_integers(claimed.factor)
        yield from _of_offsets(claimed.factor)
    if isinstance(claimed, Proportional):
        what = "what turns comes first in the head, and is cut into halves by itself"
        change = {"pairing": _among_what_turns, "frequency": lambda g: ladder(g)[: _turning(g)]}
        yield Choice("pairs of the part", "pairing", what, change, _PLAIN)
        what = "the frequencies are those of a rotation of what turns alone"
        yield Choice("F3", "frequency", what, {"frequency": _of_what_turns})
        yield from of_shares(claimed)


def _of_offsets(factor: float) -> Iterator[Choice]:
    """Return positions of which a part is divided: where a run begins, or the steps from there."""

    def place(offset: float, step: float) -> Place:
        def divided(given: Given) -> Array:
            positions = given.positions.astype(np.float64)
            steps = restarted(positions)
            return spread((positions - steps) / offset + steps / step, given)

        return divided

    plain = _under(None)["frequency"]
    for words, divisors in (
        ("the steps of a run are divided and where it begins is not", (1.0, factor)),
        ("where a run begins is divided and its steps are not", (factor, 1.0)),
    ):
        change = {"place": place(*divisors), "frequency": plain}
        yield Choice("offset not scaled", "place and frequency", words, change)


def _by_the_whole_head(g: Given) -> Array:
    theta, dim, whole = ladder(g), g.turning, g.x.shape[-1]
    if dim in (2, whole):
        return theta
    grown = theta[1] ** (-dim / 2) / g.base
    base = g.base * grown ** ((dim - 2) / dim * whole / (whole - 2))
    return np.asarray(base ** (-np.arange(0, dim, 2) / dim))


def _turning(g: Given) -> int:
    return int((ladder(g) > 0).sum())


def _among_what_turns(g: Given) -> Pairs:
    return claimed_layout(g, _turning(g))


def _of_what_turns(g: Given) -> Array:
    turning = ladder(g) > 0
    count = max(int(turning.sum()), 1)
    return np.where(turning, g.base ** (-np.arange(len(turning)) / count), 0.0)


def _of_the_other_list(claimed: LongRope, base: float) -> Choice:
    """Return the frequencies of the other list, with the factor on cos and sin that is claimed."""
    other = _of_other_length(claimed)
    what = f"the frequencies are those of length {other.length}, and the factor is the claimed one"
    alone = {"frequency": _under(other, base)["frequency"]}
    return Choice("another scheme", "frequency", what, alone, 1.9)


def _unclaimed(base: float) -> Iterator[Choice]:
    """Return what models have, but for another base alone or a factor alone, which have names."""
    for other, its_base in _models(base):
        if not isinstance(other, NtkAware) and (type(other), its_base) != (Linear, base):
            yield from _named("scaling that is not claimed", other, its_base)


def _apart(other: Scaling, claimed: Scaling) -> str:
    """Say in which numbers a scheme is not the one of its kind that is claimed."""
    if type(other) is not type(claimed):
        return ""
    pairs = {
        one.name: (getattr(other, one.name), getattr(claimed, one.name)) for one in fields(claimed)
    }
    return "".join(
        f", {name.replace('_', ' ')} {new} in place of {old}"
        for name, (new, old) in pairs.items()
        if new != old and not isinstance(old, tuple)
    )


def _named(key: str, scheme: Scaling, base: float, apart: str = "") -> Iterator[Choice]:
    """Return what has the frequencies of a scheme, with its factor on cos and sin and without."""
    words = f"{scheme.name}, factor {getattr(scheme, 'factor', 1):g}"
    length = getattr(scheme, "original_length", None)
    words += f", original length {length}" if length else ""
    share = getattr(scheme, "proportion", None)
    words += f", {share:g} of all pairs" if share else ""
    what = f"the frequencies are those of {words}, of base {base:g}{apart}"
    for gained in (True, False)[: 1 + (float(scheme.gain) != 1.0)]:
        yield Choice(key, "frequency", what, _under(scheme, base, gained=gained), 2.0)


def _under(
    scheme: Scaling | None, base: float | None = None, *, gained: bool = True
) -> dict[str, object]:
    """Return the stages under another scheme, with its gain or without one."""

    def frequency(g: Given) -> Array:
        if scheme is not None and not has_frequencies(scheme, g.turning):
            return np.full(g.turning // 2, np.nan)
        return ladder(g.scaled(scheme, base))

    gain = 1.0 if scheme is None or not gained else float(scheme.gain)
    return {"frequency": frequency, "table": times(gain)}


def _divided(factor: float) -> Callable[[Given], Array]:
    def frequency(g: Given) -> Array:
        stretched = factor ** (g.turning / max(g.turning - 2, 1))
        return np.asarray(ladder(g.scaled(None)) / stretched)

    return frequency


def _others(claimed: Scaling, base: float) -> Iterator[tuple[Scaling, float]]:
    """Return what is near the claim, then what models have."""
    if isinstance(claimed, Yarn):
        yield replace(claimed, truncate=not claimed.truncate), base
        yield NtkByParts(claimed.factor, claimed.original_length), base
    if isinstance(claimed, LongRope):
        yield _of_other_length(claimed), base
    factor = float(getattr(claimed, "factor", 1.0))
    yield from ((one, base) for one in _nudged(claimed, factor))
    length = int(getattr(claimed, "original_length", _LENGTHS[0]))
    yield from _models(base, (factor, *_FACTORS), (length, *_LENGTHS))


def _of_other_length(claimed: LongRope) -> LongRope:
    """Return the claim with the other of its two lists."""
    original = claimed.original_length
    return replace(claimed, length=original if claimed.length > original else original + 1)


def _nudged(claimed: Scaling, factor: float) -> Iterator[Scaling]:
    """Return the claim with one of its numbers taken for another: scaled, inverted, exchanged."""
    told = {one.name: getattr(claimed, one.name) for one in fields(claimed)}
    changes = [{a: told[b], b: told[a]} for a, b in _SWAPPED if a in told]
    for name in {"original_length", "length"} & {*told}:
        powers = (2.0**power for power in range(8, 21))
        lengths = (*(told[name] * times for times in (factor, 1 / factor, 2.0, 0.5)), *powers)
        changes += [{name: int(one)} for one in lengths if one >= 1]
    if "factor" in told:
        changes += [{"factor": one} for one in (factor**2, factor**0.5, 2 * factor, factor / 2)]
    for change in changes:
        with suppress(ArgumentError):  # a scheme has limits to its numbers
            yield replace(claimed, **change)


def _models(
    base: float, factors: Sequence[float] = _FACTORS, lengths: Sequence[int] = _LENGTHS
) -> Iterator[tuple[Scaling, float]]:
    """Return the schemes and bases that models have."""
    for its_base in dict.fromkeys((base, *_BASES)):
        yield from ((Proportional(share), its_base) for share in _SHARES)
        for factor in dict.fromkeys(factors):
            tried: list[Scaling] = [Linear(factor), NtkAware(factor)]
            for length in dict.fromkeys(lengths):
                tried += [Llama3(factor, 1.0, 4.0, length), Yarn(factor, length)]
            yield from ((one, its_base) for one in tried)
