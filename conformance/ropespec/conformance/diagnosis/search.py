"""What is done where it fails: the alternatives that reproduce every wrong component."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.candidates import BASES
from ropespec.conformance.diagnosis.firsts import firsts as read_off
from ropespec.conformance.diagnosis.fit_frequencies import fitted_frequencies
from ropespec.conformance.diagnosis.fit_heads import fitted_heads
from ropespec.conformance.diagnosis.fit_members import fitted_members
from ropespec.conformance.diagnosis.fit_numbers import fitted_numbers
from ropespec.conformance.diagnosis.fit_places import fitted_places, fitted_sums
from ropespec.conformance.diagnosis.fit_quarters import fitted_quarters
from ropespec.conformance.diagnosis.fits import (
    fitted_clip,
    fitted_gains,
    fitted_products,
    fitted_sines,
    fitted_widths,
)
from ropespec.conformance.diagnosis.seen import Seen, agree, telling
from ropespec.conformance.mistakes.blocks import LATE_BLOCKS
from ropespec.conformance.mistakes.chain import Chain, run
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.dynamic import DYNAMIC
from ropespec.conformance.mistakes.frequency import LADDERS, fitted_base
from ropespec.conformance.mistakes.inexact import INEXACT
from ropespec.conformance.mistakes.numbered_tables import MADE_FOR_ONE_NUMBER
from ropespec.conformance.mistakes.numbers import of_blocks, of_exponents, of_rates
from ropespec.conformance.mistakes.place import WHOLE, combined
from ropespec.conformance.mistakes.rounding import beside_another, roundings
from ropespec.conformance.mistakes.scaled import of_schemes
from ropespec.conformance.mistakes.short_tables import OF_ONE_CALL
from ropespec.conformance.mistakes.sources import SOURCES
from ropespec.conformance.mistakes.steps import SEGMENTS
from ropespec.conformance.mistakes.three import THREE
from ropespec.conformance.mistakes.turning import GRADIENTS, RARE_TURNS, TURNS

__all__ = ["Search"]

_FEW = 14
_LARGE = 20000
_TRIED = 12
_SCREEN = 6
"""How many small calls refute most choices, before the large ones are asked."""
_TELLING = 0.05
_OF_WHOLE_CALLS = {"place", "memory", "call", "store"}
"""Stages that look at other tokens, so that a call cannot be cut."""


@dataclass(slots=True)
class Search:
    """The calls that fail, and what may explain them.

    Attributes
    ----------
    asker : Asker
        For measurements where it fails.
    right : Chain
        What is claimed.
    wrong : sequence of Seen
        Calls with wrong components.
    until : float
        When to stop, by `time.process_time`.
    """

    asker: Asker
    right: Chain
    wrong: Sequence[Seen]
    until: float

    def levels(self) -> Iterator[list[Choice]]:
        """Return the choices that reproduce every wrong component, the simplest first.

        Single choices, then what the members of a pair are made of, then what each component is:
        each of them only if nothing before was confirmed.
        """
        order = _varied(self.wrong)
        members = fitted_members(self.asker, order, self.right)
        for tried in (self._single(order), fitted_products(order, self.right), members):
            yield self._simplest(tried, order)

    def doubles(self) -> list[Choice]:
        """Return two choices together that reproduce every wrong component."""
        order = _varied(self.wrong)
        return self._simplest(self._double(order), order)

    def firsts(self) -> Iterator[Choice]:
        """Return what can be read off while another mistake is made as well."""
        plain = (*_PLAIN, *_PLAIN_LADDERS, *_SOURCES, *_OF_ONE_TOKEN)
        return read_off(self.asker, _varied(self.wrong), self.right, plain)

    def seconds(self) -> list[Choice]:
        """Return what reproduces every component that is wrong beside what was read off."""
        order = _varied(self.wrong)
        return self._simplest(self._second(order), order)

    def _simplest(self, tried: Iterable[Choice], order: Sequence[Seen]) -> list[Choice]:
        small = [seen for seen in order if seen.y.size <= _LARGE][:_SCREEN] or order
        kept = list[Choice]()
        fits = _unique(one for one in tried if self.explains(one, small))
        for one in sorted(fits, key=lambda one: one.cost):
            if kept and (one.cost > kept[0].cost + 1.0 or len(kept) == _TRIED):
                break
            kept += [one] if self.explains(one, order) else []
        return kept

    def explains(self, choice: Choice, order: Sequence[Seen]) -> bool:
        """Whether a choice makes every wrong component of the calls."""
        chain = choice.chain(self.right)
        for seen in order:
            if seen.y.size > _LARGE and not {*choice.stage.split(" and ")} & _OF_WHOLE_CALLS:
                part = seen.cropped
                if part is not None and not reproduces(chain, part, choice):
                    return False
            if not reproduces(chain, seen, choice):
                return False
        return True

    def _single(self, order: Sequence[Seen]) -> Iterator[Choice]:
        if self.asker.backward:
            yield from GRADIENTS
        yield from TURNS
        claimed = self.asker.session.profile
        yield from fitted_numbers(claimed, order, self.right)
        yield from of_exponents(claimed.sections, claimed.scheme)
        yield from of_rates(claimed.scheme)
        yield from of_blocks(claimed.sections)
        yield from of_schemes(None if claimed.axial else claimed.scaling, claimed.base)
        yield from LADDERS
        yield from (fitted_base(base) for base in BASES if base != order[0].given.base)
        yield from (combined(((word, 1.0),), 0.0) for word in SOURCES if word != "own")
        yield from fitted_places(order, self.right)
        yield from fitted_widths(order)
        yield from WHOLE
        yield from (*MADE_FOR_ONE_NUMBER, *OF_ONE_CALL)
        yield from LATE_BLOCKS
        yield from DYNAMIC
        yield from fitted_gains(order, self.right)
        yield from fitted_frequencies(self.asker, order, self.right)
        yield from RARE_TURNS
        yield from THREE
        yield from fitted_clip(order)
        yield from fitted_sines(order, self.right)
        yield from SEGMENTS
        yield from fitted_quarters(order, self.right)
        yield from INEXACT
        yield from fitted_heads(order)
        for dtype in dict.fromkeys(seen.given.dtype for seen in order):
            yield from roundings(dtype)

    def _second(self, order: Sequence[Seen]) -> Iterator[Choice]:
        """Return the simpler ones of the single choices, and what is measured."""
        yield from (*_PLAIN, *_PLAIN_LADDERS, *_SOURCES, *_OF_ONE_TOKEN)
        yield from (fitted_base(base) for base in BASES if base != order[0].given.base)
        yield from fitted_places(order, self.right)
        yield from fitted_gains(order, self.right)
        measured = fitted_frequencies(self.asker, order, self.right)
        yield from (one for one in measured if not one.free)
        for dtype in dict.fromkeys(seen.given.dtype for seen in order):
            yield from beside_another(dtype)

    def _double(self, order: Sequence[Seen]) -> Iterator[Choice]:
        """Return two choices together: one that is tried, and one measured under it."""
        few = sorted(order, key=_axes_of_one)[:4]
        yield from self._crossed(few, [(_SOURCES, _OF_ONE_TOKEN)])
        for first in (*_TURNS, *_PLAIN_LADDERS, *beside_another(order[0].given.dtype)):
            if time.process_time() > self.until:
                return
            if "place" in first.change:
                continue
            for second in islice(fitted_sums(few, first.chain(self.right)), 20):
                both = None if second.key in _CONSTANT else self._together(first, second, few)
                yield from [both] if both else []
        places, rounds = [*_SOURCES, *_OF_ONE_TOKEN], list(beside_another(few[0].given.dtype))
        stages: _Stages = [(places, _PLAIN_LADDERS), (_PLAIN, places), (_PLAIN, _PLAIN_LADDERS)]
        yield from self._crossed(few, [*stages, (_TURNS, rounds), (_PLAIN, _PLAIN)])
        yield from self._crossed(few, [(_UNREADABLE, _NUMBERS)])

    def _crossed(self, few: Sequence[Seen], stages: "_Stages") -> Iterator[Choice]:
        """Return pairs of choices without numbers that explain some calls."""
        for firsts, seconds in stages:
            for first in firsts:
                if time.process_time() > self.until:
                    return
                for second in seconds:
                    if first is second or (set(first.change) & set(second.change)) - {"place"}:
                        continue
                    both = self._together(first, second, few)
                    yield from [both] if both else []

    def _together(self, first: Choice, second: Choice, few: Sequence[Seen]) -> Choice | None:
        """Return two choices as one if they explain calls that neither of them makes alone."""
        both = first.and_also(second)
        if not all(reproduces(both.chain(self.right), seen, both) for seen in few):
            return None
        return None if any(self._alike(both, one) for one in (first, second)) else both

    def _alike(self, both: Choice, one: Choice) -> bool:
        """Whether one choice alone makes the same of every call that fails."""
        chains = both.chain(self.right), one.chain(self.right)
        made = ([run(chain, seen.given) for chain in chains] for seen in self.wrong)
        return all(agree(alone.y, two).all() for two, alone in made)


_FITTED = 2.0
"""The cost of a choice with a number of its own."""
_NOWHERE = ("own", "zero", "length", "rows", "heads", "sign")
_CONSTANT = ("position 0 for all", "one position for all calls")
_TURNED = ("product", "pairing", "tail", "table", "call")
_Stages = list[tuple[Sequence[Choice], Sequence[Choice]]]
_SOURCES = tuple(combined(((word, 1.0),), 0.0) for word in SOURCES if word not in _NOWHERE)
_OF_ONE_TOKEN = (combined((("size", 1.0),), 0.0), *(one for one in WHOLE if one.cost < _FITTED))
_PLAIN = tuple(one for one in TURNS if one.cost < _FITTED)
_TURNS = tuple(one for one in TURNS if one.stage in _TURNED and one.cost < _FITTED)
_PLAIN_LADDERS = tuple(one for one in LADDERS if one.cost < _FITTED)
_UNREADABLE = tuple(one for one in TURNS if one.stage in ("product", "table", "store"))
"""Of some of these no cosine and sine can be read off, so that numbers have to be tried."""
_NUMBERS = (
    *(combined((("own", 1.0),), by) for by in (1.0, -1.0)),
    *(combined((("own", by),), 0.0) for by in (2.0, 4.0, 0.5, 0.25, 0.125)),
    *(fitted_base(base) for base in BASES),
)


def reproduces(chain: Chain, seen: Seen, choice: Choice) -> bool:
    """Whether a chain makes the wrong components of a call."""
    try:
        if chain.nudged and _is_far(replace(chain, nudged=()), seen):
            return False
        made = run(chain, seen.given)
    except (ValueError, IndexError):  # shapes for which the choice makes no sense
        return False
    if made.y.shape != seen.y.shape:
        return False
    if choice.free and np.isnan(made.y).any():
        return True  # nothing was measured there
    same = agree(seen.y, made)[seen.wrong]
    if not same.all():
        return False
    told = telling(seen, made)[seen.wrong]
    return bool(told.sum() >= min(_TELLING * len(told), 2)) or not _clearly_wrong(seen)


def _is_far(chain: Chain, seen: Seen) -> bool:
    """Whether most wrong components are made otherwise, which no rounding to the other side mends.

    What is nudged takes longer than the chain itself, and concerns few components.
    """
    made = run(chain, seen.given)
    if made.y.shape != seen.y.shape:
        return True
    return bool((~agree(seen.y, made))[seen.wrong].mean() > _MOST_OFF)


_MOST_OFF = 0.9


def _clearly_wrong(seen: Seen) -> bool:
    """Whether a call is off by so much that what explains it must differ from what is claimed."""
    with np.errstate(all="ignore"):
        near = np.abs(seen.y - seen.made.y) < 8 * seen.made.allowed
    return not bool(near[seen.off].all())


def _varied(wrong: Sequence[Seen]) -> list[Seen]:
    """Return the calls that fail, small ones of different kinds first."""

    def kind(seen: Seen) -> tuple[object, ...]:
        b, s, h, d = seen.given.shape
        return (min(b, 2), min(s, 2), min(h, 2), d, seen.given.dtype, seen.given.strided)

    small = sorted(wrong, key=lambda seen: seen.y.size)
    groups: dict[tuple[object, ...], list[Seen]] = {}
    for seen in small:
        groups.setdefault(kind(seen), []).append(seen)
    mixed = [group[k] for k in range(3) for group in groups.values() if len(group) > k]
    telling = [seen for seen in mixed if seen.given.turning >= 8] or mixed
    first = [seen for seen in telling if seen.y.size > 200][:4]
    return list(dict.fromkeys((*first, *telling, *small)))[: 3 * _FEW]


def _axes_of_one(seen: Seen) -> int:
    """Count the axes along which a call tells nothing."""
    return sum(size == 1 for size in seen.given.shape[:3])


def _unique(choices: Iterable[Choice]) -> list[Choice]:
    return list({(one.key, one.what): one for one in choices}.values())
