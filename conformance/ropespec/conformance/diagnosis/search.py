"""What is done where it fails: the alternatives that reproduce every wrong component."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.candidates import BASES
from ropespec.conformance.diagnosis.fit_frequencies import fitted_frequencies
from ropespec.conformance.diagnosis.fit_numbers import fitted_numbers
from ropespec.conformance.diagnosis.fit_places import fitted_places
from ropespec.conformance.diagnosis.fits import (
    fitted_clip,
    fitted_gains,
    fitted_products,
    fitted_sines,
)
from ropespec.conformance.diagnosis.seen import Seen, agree, telling
from ropespec.conformance.mistakes.chain import Chain, run
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.dynamic import DYNAMIC
from ropespec.conformance.mistakes.frequency import LADDERS, fitted_base
from ropespec.conformance.mistakes.place import WHOLE, combined
from ropespec.conformance.mistakes.rounding import roundings
from ropespec.conformance.mistakes.scaled import of_schemes
from ropespec.conformance.mistakes.sources import SOURCES
from ropespec.conformance.mistakes.turning import GRADIENTS, TURNS

__all__ = ["Search"]

_FEW = 14
_LARGE = 20000
_TRIED = 12
_TELLING = 0.05


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

        Single choices, then what the members of a pair are made of, then two choices together:
        each of them only if nothing before was confirmed.
        """
        order = _varied(self.wrong)
        for tried in (self._single(order), fitted_products(order, self.right), self._double(order)):
            kept = _unique(one for one in tried if self.explains(one, order))
            ordered = sorted(kept, key=lambda one: one.cost)
            yield [one for one in ordered if one.cost <= ordered[0].cost + 1.0][:_TRIED]

    def explains(self, choice: Choice, order: Sequence[Seen]) -> bool:
        """Whether a choice makes every wrong component of the calls."""
        chain = choice.chain(self.right)
        for seen in order:
            if seen.y.size > _LARGE and choice.stage not in ("place", "memory", "call"):
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
        yield from of_schemes(claimed.scaling, claimed.base)
        yield from LADDERS
        yield from (fitted_base(base) for base in BASES if base != order[0].given.base)
        yield from (combined(((word, 1.0),), 0.0) for word in SOURCES if word != "own")
        yield from fitted_places(order, self.right)
        yield from WHOLE
        yield from DYNAMIC
        yield from fitted_gains(order, self.right)
        yield from fitted_frequencies(self.asker, order, self.right, self.right)
        yield from fitted_clip(order)
        yield from fitted_sines(order)
        for dtype in dict.fromkeys(seen.given.dtype for seen in order):
            yield from roundings(dtype)

    def _double(self, order: Sequence[Seen]) -> Iterator[Choice]:
        """Return two choices together: one that is tried, and one measured under it."""
        few = order[:3]
        simple = [c for c in TURNS if c.stage in ("product", "pairing", "tail", "table", "call")]
        for first in simple:
            if time.process_time() > self.until:
                return
            chain = first.chain(self.right)
            measured: list[Choice] = []
            if "frequency" not in first.change:
                measured += list(_bare(fitted_places(few, chain)))
            for second in measured:
                both = first.and_also(second)
                apart = not set(first.change) & set(second.change)
                if apart and self._together(first, second, both, order[0]):
                    yield both
        yield from self._crossed(order[0])

    def _crossed(self, seen: Seen) -> Iterator[Choice]:
        """Return pairs of choices without numbers that explain the smallest call."""
        sources = [combined(((word, 1.0),), 0.0) for word in SOURCES if word != "own"]
        stages = [list(TURNS), [*sources, *WHOLE], list(LADDERS)]
        for i, firsts in enumerate(stages):
            for seconds in stages[i:]:
                for first in firsts:
                    if time.process_time() > self.until:
                        return
                    for second in seconds:
                        if first is second or set(first.change) & set(second.change):
                            continue
                        both = first.and_also(second)
                        if self._together(first, second, both, seen):
                            yield both

    def _together(self, first: Choice, second: Choice, both: Choice, seen: Seen) -> bool:
        """Whether two choices explain a call that neither of them alone makes like that."""
        if not reproduces(both.chain(self.right), seen, both):
            return False
        made = run(both.chain(self.right), seen.given)
        return not any(
            agree(run(one.chain(self.right), seen.given).y, made).all() for one in (first, second)
        )


def _bare(choices: Iterable[Choice]) -> Iterator[Choice]:
    for k, choice in enumerate(choices):
        if k > 20:
            return
        yield choice


def reproduces(chain: Chain, seen: Seen, choice: Choice) -> bool:
    """Whether a chain makes the wrong components of a call."""
    try:
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
    return bool(told.sum() >= min(_TELLING * len(told), 2))


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


def _unique(choices: Iterable[Choice]) -> list[Choice]:
    return list({(one.key, one.what): one for one in choices}.values())
