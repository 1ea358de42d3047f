"""Several position numbers that are claimed: which of them pairs follow instead."""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ropespec.conformance.mistakes.chain import Pairs, Place, claimed_pairs, ladder, own_position
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.entry import entries
from ropespec.conformance.mistakes.given import Array, Given
from ropespec.conformance.mistakes.table import members_apart
from ropespec.spec.axes import Anew, Sections, Told, Woven
from ropespec.spec.convention import Scheme
from ropespec.spec.errors import ArgumentError

__all__ = [
    "MISTAKES",
    "Followed",
    "Sectioned",
    "arrangements",
    "following",
    "measured",
    "members_following",
    "of_blocks",
    "of_doubled",
    "of_exponents",
    "of_rates",
    "sectioned",
    "under_base",
]

MISTAKES = entries("""
one position number
    All pairs follow the same number of a token; let each follow that of its section.
position numbers exchanged
    The sections follow the numbers in another order; time, height and width come in this one.
sections of components
    Sections count components where they are to count pairs; a section of n has n pairs.
sections arranged otherwise
    Consecutive sections are taken for sections in turn, or the other way round; the model says
    which it has.
exponent that runs on
    The sections have the frequencies of the whole; those of each begin at its first pair.
exponent begun anew
    Each section has the frequencies of a rotation of its own; one exponent runs through all.
halves of each block
    The pairs are halves of the components of each section; they are those of all together.
other sections
    Pairs follow other numbers than those of their sections; read the sections from the
    configuration of the model.
""")

Followed = tuple[int, ...]
"""Which position number each pair follows."""

Arrangement = tuple[str, str, Followed]


def arrangements(sections: tuple[int, ...]) -> Iterator[Arrangement]:
    """Return the mistake, its words and what pairs follow, the nearest to the claim first.

    Parameters
    ----------
    sections : tuple of int
        The claim.
    """
    pairs, count = sum(sections), len(sections)
    for kind, how in ((Woven, "in turn"), (Sections, "consecutive")):
        for followed in _followed(kind, sections):
            yield "sections arranged otherwise", f"the sections are {how}", followed
    for number in range(count):
        what = f"all pairs follow number {number} of a token"
        yield "one position number", what, (number,) * pairs
    ends = [0, *(end // 2 for end in itertools.accumulate(sections[:-1])), pairs]
    parts = tuple(stop - start for start, stop in itertools.pairwise(ends))
    yield "sections of components", "the sections count components", Sections(parts).followed()
    for order in itertools.permutations(range(count)):
        what = f"the sections follow numbers {', '.join(map(str, order))}, in this order"
        for kind in (Sections, Woven):
            for followed in _followed(kind, sections):
                yield "position numbers exchanged", what, tuple(order[one] for one in followed)


def _followed(kind: type[Sections | Woven], sections: tuple[int, ...]) -> Iterator[Followed]:
    try:
        yield kind(sections).followed()
    except ArgumentError:  # such sections do not fit in turn
        return


def measured(followed: Followed) -> Arrangement:
    """Name what pairs follow by sections, if they have some, and else pair by pair."""
    what, found = f"pairs follow numbers {_listed(followed)}", sectioned(followed)
    if len(set(followed)) == 1:
        what = f"all pairs follow number {followed[0]}"
    elif found is not None:
        counts = ", ".join(map(str, found.sections))
        what = f"the sections are {counts}, {'in turn' if found.in_turn else 'consecutive'}"
    return "other sections", what, followed


class Sectioned(NamedTuple):
    """Sections that can be claimed."""

    sections: tuple[int, ...]
    in_turn: bool


def sectioned(followed: Followed) -> Sectioned | None:
    """Return the sections by which pairs follow numbers so; None where no claim says it."""
    counts = tuple(followed.count(number) for number in range(max(followed) + 1))
    for kind, in_turn in ((Sections, False), (Woven, True)):
        if 0 not in counts and followed in _followed(kind, counts):
            return Sectioned(counts, in_turn)
    return None


def following(arrangement: Arrangement, base: float | None = None) -> Choice:
    """Return the choice of other numbers, and of another base if one is given."""
    key, what, followed = arrangement
    change: dict[str, Any] = {"place": _by(followed)}
    if base is None:
        return Choice(key, "place", what, change, 0.5)
    what += f", and the frequencies are those of base {base:g}"
    return Choice(key, "place and frequency", what, change | under_base(base), 2.0)


def _by(followed: Followed) -> Place:
    def place(given: Given) -> Array:
        return own_position(given.following(followed) if given.axes else given)

    return place


def of_exponents(sections: tuple[int, ...] | None, claimed: Scheme | None) -> Iterator[Choice]:
    """Return the frequencies of the whole for those of blocks, or the other way round.

    Parameters
    ----------
    sections : tuple of int or None
        The claim; nothing is returned where a token has one number.
    claimed : Scheme or None
        What the frequencies are.
    """
    if sections is None:
        return
    other = claimed.scheme if isinstance(claimed, Anew) else Anew(sections, claimed)

    def frequency(given: Given) -> Array:
        fits = not isinstance(other, Anew) or given.turning == 2 * sum(sections)
        return ladder(given.scaled(other)) if fits else ladder(given)

    key = "exponent begun anew" if isinstance(other, Anew) else "exponent that runs on"
    what = "the frequencies of each section begin at its first pair"
    if not isinstance(other, Anew):
        what = "one exponent runs through all sections"
    yield Choice(key, "frequency", what, {"frequency": frequency}, 0.5)
    if isinstance(claimed, Anew) and claimed.scheme is None:
        yield _of_width(sections, sum(sections), "all")
        yield _of_width(sections, max(sections), "the widest")
        yield _of_width(sections, min(sections), "the narrowest")
        yield _of_width(sections, sum(sections) / len(sections), "an equal share of all")
        yield _dealt_out(sections)


def _of_width(sections: tuple[int, ...], pairs: float, whose: str) -> Choice:
    """Return frequencies that begin at each section and fall as those of another width."""
    index = np.concatenate([np.arange(own) for own in sections])

    def frequency(given: Given) -> Array:
        fits = given.turning == 2 * len(index)
        return np.asarray(given.base ** (-index / pairs)) if fits else ladder(given)

    what = f"the exponent of each section is divided by the width of {whose}"
    return Choice("F3", "frequency", what, {"frequency": frequency}, 0.5)


def _dealt_out(sections: tuple[int, ...]) -> Choice:
    """Return the frequencies of the whole head, each section having one in so many."""
    several = len(sections)
    index = np.concatenate([several * np.arange(own) + k for k, own in enumerate(sections)])

    def frequency(given: Given) -> Array:
        fits = given.turning == 2 * len(index)
        return np.asarray(given.base ** (-index / len(index))) if fits else ladder(given)

    what = "the frequencies of the whole are dealt out to the sections in turn"
    return Choice("exponent that runs on", "frequency", what, {"frequency": frequency}, 0.6)


def of_blocks(sections: tuple[int, ...] | None) -> Iterator[Choice]:
    """Return the pairs of a half-split rotation inside each section; nothing where there are none.

    Parameters
    ----------
    sections : tuple of int or None
        The claim.
    """
    if sections is None:
        return
    starts = itertools.accumulate(sections[:-1], initial=0)
    first = np.concatenate(
        [2 * start + np.arange(own) for start, own in zip(starts, sections, strict=True)]
    )
    second = first + np.repeat(sections, sections)

    def pairing(given: Given) -> Pairs:
        fits = given.turning == 2 * len(first)
        return Pairs(first, second, first, second) if fits else claimed_pairs(given)

    what = "each section has its own components, and pairs are halves of these"
    yield Choice("halves of each block", "pairing", what, {"pairing": pairing}, 0.5)


def members_following(first: Followed, second: Followed, sections: tuple[int, ...]) -> Choice:
    """Return the choice in which the members of a pair do not follow the same number.

    Parameters
    ----------
    first, second : tuple of int
        Which number the first and the second members of the pairs follow.
    sections : tuple of int
        The claim.
    """

    def places(given: Given) -> tuple[Array, Array]:
        one, two = first, second
        if len(given.axes) != len(first):  # of another width, or of one number
            one = two = given.axes
        return own_position(given.following(one)), own_position(given.following(two))

    def farther(given: Given) -> Array:
        one, two = places(given)
        return np.where(np.abs(one) > np.abs(two), one, two)

    def angles(given: Given, angle: Array) -> tuple[Array, Array]:
        del angle
        one, two = (np.asarray(place * ladder(given)) for place in places(given))
        return one, two

    if first + second == of_doubled(sections):
        key, what = "sections of components", "sections of twice the length cut the doubled table"
    else:
        key = "other sections"
        what = f"first members follow numbers {_listed(first)}, and second ones {_listed(second)}"
    return Choice(key, "table", what, {"place": farther, **members_apart(angles)}, 0.5)


def of_doubled(sections: tuple[int, ...]) -> Followed:
    """Return what components follow where sections of twice the length cut the doubled table."""
    return tuple(np.repeat(np.arange(len(sections)), 2 * np.array(sections)).tolist())


def _listed(followed: Followed) -> str:
    return " ".join(map(str, followed))


def of_rates(claimed: Scheme | None) -> Iterator[Choice]:
    """Return rates of one number alone, and those of the numbers in another order.

    Parameters
    ----------
    claimed : Scheme or None
        What the frequencies are; nothing is returned where none are given.
    """
    if not isinstance(claimed, Told):
        return
    rows = claimed.frequencies
    still, each = (0.0,) * len(rows[0]), range(len(rows))
    for number in each:
        what = f"pairs follow number {number} of a token alone"
        alone = tuple(row if one == number else still for one, row in enumerate(rows))
        yield _by_rates("one position number", what, Told(alone))
    for order in itertools.permutations(each):
        what = f"the rates are those of numbers {', '.join(map(str, order))}, in this order"
        if order != tuple(each):
            other = Told(tuple(rows[one] for one in order))
            yield _by_rates("position numbers exchanged", what, other)


def _by_rates(key: str, what: str, other: Told) -> Choice:
    def place(given: Given) -> Array:
        return own_position(given.scaled(other))

    def frequency(given: Given) -> Array:
        return ladder(given.scaled(other))

    return Choice(key, "place and frequency", what, {"place": place, "frequency": frequency}, 0.5)


def under_base(base: float) -> dict[str, Any]:
    """Return the frequencies of another base."""

    def frequency(given: Given) -> Array:
        return ladder(given.scaled(given.scaling, base))

    return {"frequency": frequency}
