"""What is said of a mistake that nothing explains: where it is, and by how much it is off."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.elsewhere import elsewhere
from ropespec.conformance.diagnosis.rotation import Outcome
from ropespec.conformance.diagnosis.seen import Seen
from ropespec.conformance.diagnosis.told import fact, unknown
from ropespec.conformance.diagnosis.where import conditions
from ropespec.conformance.mistakes.given import Array
from ropespec.conformance.results import Diagnosis, Measured

__all__ = ["changed_by_others", "share", "tail_alone", "unexplained", "where"]

_LARGE = 30_000


def changed_by_others(asker: Asker, outcome: Outcome) -> Diagnosis | None:
    """Return that earlier calls are to blame, if calls that are wrong after them come right alone.

    What they leave behind is known where something reproduces it, and not here.
    """
    wrong = sorted((one for one in outcome.sequence if one.is_wrong), key=lambda one: one.y.size)
    for one in wrong[:_FEW]:
        asker.fresh()
        answer = asker.ask(one.given.alone())
        if answer is None or answer.y is None or Seen(answer, one.right).is_wrong:
            return None
    if not wrong:
        return None
    if (moved := elsewhere(wrong, where(outcome), "moved by earlier calls")) is not None:
        return moved
    few = min(len(wrong), _FEW)
    evidence = (
        f"{len(wrong)} of {len(outcome.sequence)} calls of sequences are wrong, and {few} of {few}"
        " of these right on a fresh instance"
    )
    said = "A call is right on a fresh instance and wrong after others."
    told = fact("changed by earlier calls", said, where(outcome), evidence)
    return replace(told, measured=tuple(_parts(outcome)))


_FEW = 3


def unexplained(outcome: Outcome) -> Diagnosis:
    """Say what was measured of calls that nothing reproduces."""
    said = _after_others(outcome) if outcome.by_history else _smallest(outcome)
    stopped = "The search was stopped for want of time." if outcome.stopped else ""
    sentence = " ".join(part for part in (said, _nearest(outcome), stopped) if part)
    return unknown(sentence, where(outcome), share(outcome), tuple(_parts(outcome)))


def tail_alone(outcome: Outcome) -> Diagnosis | None:
    """Return that what is to pass by comes otherwise, where all that turns is right."""
    if any(
        one.wrong[..., np.ravel(one.right.pairing(one.given)[:2])].any() for one in outcome.wrong
    ):
        return None
    told = fact("tail changed", "All that turns is right.", where(outcome), share(outcome))
    return replace(told, measured=tuple(_parts(outcome)))


def _after_others(outcome: Outcome) -> str:
    del outcome
    return "A call is wrong in another way on a fresh instance: earlier calls may be to blame."


def share(outcome: Outcome) -> str:
    """Say how much of what was asked is wrong."""
    off = sum(int(one.off.sum()) for one in outcome.seen)
    of = sum(one.y.size for one in outcome.seen)
    return (
        f"{off} of {of} components are wrong, in {len(outcome.wrong)} of {len(outcome.seen)} calls"
    )


def where(outcome: Outcome) -> str:
    """Say which calls, tokens or pairs are wrong, as far as one condition tells."""
    small = [one for one in outcome.seen if one.y.size < _LARGE]
    telling = [one for one in small if one.given.positions.any()] or small
    found = conditions(
        [one.given for one in telling],
        [one.wrong for one in telling],
        [~one.wrong for one in telling],
        history=outcome.by_history,
    )
    if found and found[0].atoms:
        return str(found[0])
    return f"{len(outcome.wrong)} of {len(outcome.seen)} calls"


def _smallest(outcome: Outcome) -> str:
    """Say what the smallest wrong call is, and by how much the worst component is off."""
    least = min(outcome.wrong, key=lambda one: one.y.size)
    off = np.abs(least.y - least.made.y)
    worst = np.where(least.off, np.nan_to_num(off, nan=np.inf), -1.0)
    b, s, h, d = np.unravel_index(int(np.argmax(worst)), off.shape)
    shape = " x ".join(map(str, least.given.shape))
    return (
        f"Nothing that was tried explains it. The smallest wrong call is {shape} of"
        f" {least.given.dtype}; y[{b}, {s}, {h}, {d}] is {least.y[b, s, h, d]:.6g} and should be"
        f" {least.made.y[b, s, h, d]:.6g} at position {int(least.given.positions[b, s])}."
    )


def _nearest(outcome: Outcome) -> str:
    if not outcome.nearest:
        return ""
    near = outcome.nearest[-1]
    return f"The nearest is: {near.choice.what} ({near.where}); fresh calls do not confirm it."


def _parts(outcome: Outcome) -> Iterator[Measured]:
    """Count what is wrong, and how far it is off, part by part."""
    calls = outcome.sequence or outcome.seen
    yield from _counted("dtype", calls, lambda one: np.array(one.given.dtype))
    yield from _counted("tokens", calls, lambda one: np.array(_size(one.given.x.shape[1])))
    yield from _counted("position", calls, _decades)
    width = max((one.given.turning for one in outcome.wrong), key=_number, default=0)
    alike = [one for one in calls if one.given.turning == width]
    yield from _counted("pair", alike, _pairs)
    if outcome.by_history:
        yield from _counted("call", calls, lambda one: np.array(_size(len(one.given.past) + 1)))


def _number(width: int) -> int:
    """Prefer the width that has most pairs, up to a usual one."""
    return width if width <= _USUAL else -width


_USUAL = 64


def _counted(by: str, calls: Sequence[Seen], label: Callable[[Seen], Array]) -> Iterator[Measured]:
    """Count components by a label, which goes with the shape of x; "" is left out."""
    wrong: dict[str, int] = {}
    of: dict[str, int] = {}
    off: dict[str, float] = {}
    for one in calls:
        labels = np.broadcast_to(label(one), one.y.shape)
        apart = _apart(one)
        for at in map(str, np.unique(labels)):
            here = labels == at
            wrong[at] = wrong.get(at, 0) + int(one.off[here].sum())
            of[at] = of.get(at, 0) + int(here.sum())
            off[at] = max(off.get(at, 0.0), float(apart[here & one.off].max(initial=0.0)))
    for at in sorted(set(of) - {""}, key=lambda at: (not at[:1].isdigit(), _first(at), at)):
        yield Measured(by, at, wrong[at], of[at], off[at] if np.isfinite(off[at]) else None)


def _first(label: str) -> int:
    digits = label.partition(" ")[0]
    return int(digits) if digits.isdigit() else 0


def _apart(seen: Seen) -> Array:
    """Return how far components are off, in units of the largest of their token."""
    with np.errstate(all="ignore"):
        size = np.abs(seen.given.x.astype(np.float64)).max(axis=-1, keepdims=True, initial=0.0)
        apart = np.abs(seen.y - seen.made.y) / np.where(size > 0, size, 1.0)
    return np.where(np.isnan(apart), np.inf, apart)


def _size(n: int) -> str:
    if n <= 1:
        return str(n)
    end = 2
    while end < n:
        end *= 4
    begin = max(end // 4 + 1, 2)
    return f"{begin} to {end}" if begin < end else str(end)


def _decades(seen: Seen) -> Array:
    """Return the decade of the position of each component that is to be rotated."""
    size = np.abs(seen.given.positions)[..., None, None]
    power = np.floor(np.log10(np.maximum(size, 1))).astype(np.int64)
    words = np.array(["1 to 9", *(f"{10**k} to {10 ** (k + 1) - 1}" for k in range(1, 19))])
    named = np.where(size == 0, "0", words[power])
    turning = np.arange(seen.y.shape[-1]) < seen.given.turning
    return np.where(turning, named, "")


def _pairs(seen: Seen) -> Array:
    """Return the pair of each component, and `tail`."""
    first, second, *_ = seen.right.pairing(seen.given)
    names = np.full(seen.y.shape[-1], "tail", dtype=object)
    names[first] = names[second] = [str(k) for k in range(len(first))]
    return names.astype(str)
