"""What can be read off a rotation that has two mistakes: one of them, whatever the other is."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.fit_frequencies import fitted_frequencies
from ropespec.conformance.diagnosis.read import multipliers, places, snapped
from ropespec.conformance.diagnosis.seen import Seen, agree
from ropespec.conformance.mistakes.chain import Chain, run
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.gains import everything_times
from ropespec.conformance.mistakes.given import Array
from ropespec.conformance.mistakes.place import combined
from ropespec.conformance.mistakes.table import gained

__all__ = ["firsts"]

_CALLS = 4
"""Calls that are looked at, for all of them would take the time of the search."""
_SHARE = 0.4
"""Of the tokens that are wrong, how many must tell the same: the other mistake may be of some."""
_PARTS = 4
"""Of one kind, how many are followed: each is a search of its own."""
_APART = 1e-2
"""How far a number is from one that says nothing."""


def firsts(
    asker: Asker, wrong: Sequence[Seen], right: Chain, plain: Sequence[Choice]
) -> Iterator[Choice]:
    """Return what is done wherever another mistake does not hide it, the likeliest first.

    Parameters
    ----------
    asker : Asker
        The subject.
    wrong : sequence of Seen
        Calls with wrong components.
    right : Chain
        What is claimed.
    plain : sequence of Choice
        Those without a number.
    """
    few = _few(wrong)
    if not few:
        return
    if _firm(few, right) >= _SHARE:
        yield from _numbers(asker, wrong, few, right)
    else:
        turned = ("pairing", "product", "store")
        firm = [one for one in plain if one.stage in turned and _firm(few, one.chain(right)) > 0.9]
        yield from firm[:_PARTS]
    yield from _parts(few, right, plain)


def _few(wrong: Sequence[Seen]) -> list[Seen]:
    """Return calls of several rows, tokens and heads, if there are some, with pairs enough."""
    wide = [one for one in wrong if one.given.turning >= 8]
    return sorted(wide, key=lambda one: sum(size == 1 for size in one.given.shape[:3]))[:_CALLS]


def _firm(few: Sequence[Seen], chain: Chain) -> float:
    """Return in how many of the tokens all pairs come out of the same length as they went in."""
    firm = list[Array]()
    for one in few:
        try:
            size = np.abs(multipliers(one, chain))
        except (ValueError, IndexError):  # shapes for which a choice makes no sense
            return 0.0
        with np.errstate(all="ignore"):
            middle = np.median(size, axis=-1, keepdims=True)
            near = np.abs(size - middle) <= _NEAR[one.given.dtype] * middle
        known = one.wrong.any(axis=-1) & np.isfinite(middle[..., 0])
        firm.append((near.mean(axis=-1) >= 0.8)[known])
    return float(np.concatenate(firm).mean()) if sum(map(len, firm)) else 0.0


_NEAR = {"float64": 1e-3, "float32": 1e-3, "float16": 1e-2, "bfloat16": 5e-2}
"""How far lengths may be apart that rounding to the dtype moves."""


def _numbers(
    asker: Asker, wrong: Sequence[Seen], few: Sequence[Seen], right: Chain
) -> Iterator[Choice]:
    """Return a factor on what turns, frequencies, and what is added to positions."""
    size = _usual(few, lambda one: np.median(np.abs(multipliers(one, right)), axis=-1), 1.0)
    if size is not None and size > 1e-4:
        yield from _times(size, few)
    for late in (False, True):
        measured = fitted_frequencies(asker, wrong, right, late=late)
        yield from _apart([one for one in measured if not one.free], few, right)
    added = _usual(few, lambda one: places(one, right).found - one.given.positions[..., None], 0.0)
    if added is not None and abs(added - round(added)) < 1e-2:
        yield combined((("own", 1.0),), float(round(added)))


def _times(factor: float, few: Sequence[Seen], *, tables: bool = True) -> Iterator[Choice]:
    """Return a factor on what turns, and on all where a tail is wrong or tables have no place."""
    tails = any(one.off[..., one.given.turning :].any() for one in few)
    if tables:
        yield gained(factor)
    if tails or not tables:
        yield everything_times(factor)


def _apart(ladders: Sequence[Choice], few: Sequence[Seen], right: Chain) -> Iterator[Choice]:
    """Return the simplest of ladders that are clearly not the claimed one, each of them once."""
    claimed = [right.frequency(one.given) for one in few]
    known = list[list[Array]]()
    for choice in sorted(ladders, key=lambda one: one.cost):
        made = [choice.chain(right).frequency(one.given) for one in few]
        if _alike(made, claimed, _MEASURED) or any(_alike(made, one, 1e-6) for one in known):
            continue
        known.append(made)
        yield choice
        if len(known) == _PARTS:
            return


_MEASURED = 1e-3
"""How far frequencies may be off what they were measured to be, or a little more."""


def _alike(some: Sequence[Array], others: Sequence[Array], near: float) -> bool:
    pairs = zip(some, others, strict=True)
    return all(
        np.allclose(one, other, rtol=near, atol=1e-2 * near)
        for one, other in pairs
        if one.shape == other.shape
    )


def _usual(few: Sequence[Seen], of: Callable[[Seen], Array], but: float) -> float | None:
    """Return the number other than one that many tokens have, in as few digits as it is known."""
    values: Array = np.concatenate([of(one)[one.wrong.any(axis=-1)] for one in few])
    values = np.sort(values[np.isfinite(values)])
    count = max(int(_SHARE * len(values)), 1)
    values = values[np.abs(values - but) > _APART]
    if len(values) <= count:
        return None
    widths = [float(last - first) for first, last in zip(values, values[count:], strict=False)]
    at = int(np.argmin(widths)) if widths else 0
    same = values[at : at + count + 1]
    middle, spread = float(np.median(same)), float(np.ptp(same))
    if spread > 1e-2 * max(abs(middle), 1e-3):
        return None
    digits = max(4 * spread / (max(abs(middle), 1e-30) * np.sqrt(len(same))), 1e-8)
    return snapped(middle, digits)


def _parts(few: Sequence[Seen], right: Chain, plain: Sequence[Choice]) -> Iterator[Choice]:
    """Return what explains many of the tokens, and the factor that is missing beside it."""
    found = list[tuple[float, Choice]]()
    for choice in plain:
        ratio, share = _explained(few, choice.chain(right))
        if share >= _SHARE / 2:
            found.append((share, choice))
        elif ratio is not None:
            yield from _times(ratio, few, tables="table" not in choice.change)
            break
    for _, choice in sorted(found, key=lambda one: -one[0])[:_PARTS]:
        yield choice


def _explained(few: Sequence[Seen], chain: Chain) -> tuple[float | None, float]:
    """Return the factor that all is off by, if there is one, and how many tokens are explained."""
    ratios, held = list[Array](), list[Array]()
    for one in few[:2]:
        try:
            made = run(chain, one.given)
        except (ValueError, IndexError):
            return None, 0.0
        if made.y.shape != one.y.shape:
            return None, 0.0
        with np.errstate(all="ignore"):
            ratios.append(np.asarray(one.y / made.y)[one.wrong])
        held.append(np.all(agree(one.y, made), axis=-1)[one.wrong.any(axis=-1)])
    share, ratio = float(np.concatenate(held).mean()), np.concatenate(ratios)
    middle = float(np.median(ratio))
    if not np.isfinite(middle) or abs(middle) < 1e-4 or abs(middle - 1) < 1e-4:
        return None, share
    near = np.abs(ratio - middle) <= 1e-5 * abs(middle)
    return (snapped(middle, 1e-7) if near.mean() > 0.9 else None), share
