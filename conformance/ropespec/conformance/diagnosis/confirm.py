"""What was found, run beside the subject on fresh calls; only what agrees is kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ropespec.conformance.diagnosis.ask import Asker
from ropespec.conformance.diagnosis.battery import Maker
from ropespec.conformance.diagnosis.edges import no_runs
from ropespec.conformance.diagnosis.seen import Seen, agree, nearer, telling
from ropespec.conformance.diagnosis.wanted import with_feature
from ropespec.conformance.diagnosis.where import EVERYWHERE, Atom, Where, conditions
from ropespec.conformance.mistakes.chain import Chain, Made, run
from ropespec.conformance.mistakes.choice import Choice
from ropespec.conformance.mistakes.given import Array, Given

__all__ = [
    "Confirmed",
    "Explanation",
    "applies",
    "confirmed",
    "expected",
    "explains",
    "fresh_calls",
    "located",
    "places",
]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A choice and where it is made, and what else is done everywhere."""

    choice: Choice
    where: Where
    beside: Choice | None = None


@dataclass(frozen=True, slots=True)
class Confirmed:
    """An explanation and how much of the fresh calls it explains."""

    explanation: Explanation
    elements: int
    of: int
    calls: int


def expected(explanation: Explanation, seen: Seen) -> Made:
    """Return what a call should come to."""
    beside, made = explanation.beside, seen.made
    right = seen.right if beside is None else beside.chain(seen.right)
    if beside is not None:
        made = run(right, seen.given)
    other = run(explanation.choice.chain(right), seen.given)
    here = explanation.where.mask(seen.given)
    if other.y.shape != here.shape:
        return made
    return Made(np.where(here, other.y, made.y), np.where(here, other.allowed, made.allowed))


def located(choice: Choice, seen: Sequence[Seen], *, history: bool = False) -> list[Where]:
    """Return where a choice is made: wherever it alone explains, and nowhere it is refuted."""
    evidence = _Evidence(choice)
    evidence.take(seen)
    return evidence.places(history=history)


def places(choice: Choice, seen: Sequence[Seen], more: Sequence[Seen]) -> Iterator[Where]:
    """Return where a choice may be made, one place after another, each as all calls so far say.

    Parameters
    ----------
    choice : Choice
        What is made.
    seen : sequence of Seen
        The calls that say where.
    more : sequence of Seen
        The fresh calls; it grows while places are tried.
    """
    evidence, told, taken = _Evidence(choice), set[str](), len(more)
    evidence.take(seen)
    while len(told) < _PLACES:
        found = (one for one in evidence.places() if str(one) not in told)
        where = next(found, None)
        if where is None:
            return
        told.add(str(where))
        yield where
        evidence.take(more[taken:])
        taken = len(more)


_PLACES = 4
"""How many of them are tried."""


class _Evidence:
    """Where calls say that a choice is made, and where it is not."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._calls: list[tuple[Given, Array, Array]] = []
        self._refuted = False

    def take(self, seen: Sequence[Seen]) -> None:
        """Look at more calls."""
        for one in sorted(seen, key=lambda one: not one.is_wrong):
            try:
                other = run(self._choice.chain(one.right), one.given)
            except (ValueError, IndexError):
                continue
            if other.y.shape != one.y.shape:
                self._refuted = True
                return
            by_it = agree(one.y, other)
            differs = ~agree(other.y, Made(one.made.y, one.made.allowed + other.allowed))
            if self._choice.free and np.isnan(other.y).any():
                continue
            if (one.wrong & ~by_it).any():
                self._refuted = True
                return
            self._calls.append((one.given, one.wrong, ~one.wrong & ~by_it & differs))

    def places(self, *, history: bool = False) -> list[Where]:
        """Return what tells the one from the other; nothing if a call refutes the choice."""
        if self._refuted:
            return []
        calls = sorted(self._calls, key=lambda call: not call[1].any())
        givens, yes = [given for given, _, _ in calls], [made for _, made, _ in calls]
        found = conditions(givens, yes, [not_made for _, _, not_made in calls], history=history)
        if self._choice.stage in ("pairing", "call", "store"):
            return [one for one in found if not one.of_components]
        return found


def explains(explanation: Explanation, seen: Seen) -> tuple[int, int]:
    """Count the components that an explanation explains, and all that tell anything."""
    try:
        made = expected(explanation, seen)
    except (ValueError, IndexError):
        return 0, seen.y.size
    if explanation.choice.free and np.isnan(made.y).any():
        return 0, 0  # nothing was measured there
    same = agree(seen.y, made)
    return int(same.sum()), same.size


def confirmed(
    asker: Asker,
    maker: Maker,
    right: Chain,
    explanation: Explanation,
    seed: int,
    like: Sequence[Seen] = (),
) -> tuple[Confirmed | None, list[Seen]]:
    """Run an explanation beside the subject on fresh calls, some of them of the shapes of others.

    Returns
    -------
    tuple
        What was confirmed, None if a call refutes it; and the calls.
    """
    fresh = list[Seen]()
    elements = total = calls = 0
    refuted, applied = False, 0
    asked = (*fresh_calls(maker, seed, explanation.where), *_alike(maker, like, seed))
    for given in (*asked, *_measured(maker, right, explanation.choice, seed)):
        answer = asker.ask(given)
        if answer is None or answer.y is None:
            continue
        seen = Seen(answer, right)
        fresh.append(seen)
        got, of = explains(explanation, seen)
        elements, total, calls = elements + got, total + of, calls + 1
        refuted |= got < of
        applied += _telling(explanation, seen) if of else 0
    if refuted or applied < _LEAST:
        return None, fresh
    return Confirmed(explanation, elements, total, calls), fresh


def _telling(explanation: Explanation, seen: Seen) -> int:
    """Count the components that tell an explanation from what is claimed.

    Where it ends is told by what differs clearly alone.
    """
    made = expected(explanation, seen)
    told = telling(seen, made)
    return int((told if explanation.where.atoms else told | nearer(seen, made)).sum())


_LEAST = 4
"""In how many components of fresh calls an explanation must differ from what is claimed."""


def applies(explanation: Explanation, seen: Sequence[Seen]) -> bool:
    """Whether it differs from what is claimed in calls enough to have been tried at all."""
    return sum(int(telling(one, expected(explanation, one)).sum()) for one in seen) >= _LEAST


def fresh_calls(maker: Maker, seed: int, where: Where = EVERYWHERE) -> list[Given]:
    """Make fresh calls of fresh shapes, and others on both sides of every limit."""
    rng = np.random.default_rng([seed, 41])
    compiled = maker.profile.compiles
    made = list[Given]()
    patterns = ("scattered", "ragged", "from", "far", "packed", "gaps", "signs", "falling")
    shapes = [(2, 5, 3), (1, 1, 1), (3, 8, 2)] if compiled else []
    dims = maker.dims[: 2 if compiled else 6]
    for k in range(8 if compiled else 20):
        shape = tuple(int(n) for n in (rng.integers(1, 5), rng.integers(1, 20), rng.integers(1, 5)))
        if k % 5 == 4:
            shape = (int(rng.integers(1, 4)), 1, int(rng.integers(1, 4)))
        shape = shapes[k % 3] if compiled else shape
        dim = dims[0] if k % 2 else dims[int(rng.integers(len(dims)))]
        dtype = maker.profile.dtypes[k % len(maker.profile.dtypes)]
        pattern = patterns[k % len(patterns)]
        made.append(maker.given(shape, pattern, seed + k, dim=dim, dtype=dtype))  # type: ignore[arg-type]
    # What is off in the slow pairs of wide heads alone is off most there.
    made.append(_last(maker, (2, 5, 3), seed + 9, max(dims)))
    made.append(maker.given((2, 5, 3), np.tile(_run_to_the_last(maker, 5), (2, 1)), seed + 10))
    made += maker.flags(seed + 7)
    made += [maker.given((2, 5, 2), "scattered", seed, values=of) for of in ("large", "tiny")]
    made += () if compiled else no_runs(maker, seed)
    for atom in where.atoms:
        made += _around(maker, atom, where, seed)[: 1 if compiled else None]
    return made


def _alike(maker: Maker, like: Sequence[Seen], seed: int) -> list[Given]:
    """Make calls of the shapes of some others, of one token more, and like them but for numbers.

    What depends on how positions lie to each other, or on a value of x, shows in the last alone.
    """
    made = [
        replace(one.given, x=-one.given.x, positions=positions)
        for one in like
        for positions in (one.given.positions, _further(one.given.positions, maker))
    ]
    for k, (b, s, h, d) in enumerate(dict.fromkeys(one.given.shape for one in like)):
        made.append(maker.given((b, s, h), "scattered", seed + 30 + k, dim=d))
        made.append(maker.given((b, s + 1, h), "ragged", seed + 40 + k, dim=d))
        made.append(_last(maker, (b, s, h), seed + 60 + k, d))
    return made


def _run_to_the_last(maker: Maker, count: int) -> Array:
    """Return so many positions in a row, the last one that is claimed."""
    return np.maximum(maker.profile.max_position - np.arange(count)[::-1], 0)


def _last(maker: Maker, shape: tuple[int, int, int], seed: int, dim: int) -> Given:
    """Make a call near the last position that is claimed."""
    most = maker.profile.max_position
    before = np.random.default_rng([seed, 43]).integers(0, min(400, most + 1), shape[:2])
    return maker.given(shape, most - before, seed, dim=dim)


def _measured(maker: Maker, right: Chain, choice: Choice, seed: int) -> list[Given]:
    """Make calls of the widths for which there are numbers, where these were measured."""
    if not choice.free:
        return []
    made = [maker.given((2, 5, 2), "scattered", seed + 50, dim=dim) for dim in maker.dims]
    return [one for one in made if not np.isnan(run(choice.chain(right), one).y).any()]


def _further(positions: Array, maker: Maker) -> Array:
    """Return all positions one further, or one back, or as they are where neither is claimed."""
    if positions.max(initial=0) < maker.profile.max_position:
        return positions + 1
    return positions - (maker.profile.negative_positions or positions.min(initial=0) > 0)


def _around(maker: Maker, atom: Atom, where: Where, seed: int) -> list[Given]:
    """Make calls just below, at and just above a limit."""
    values = [atom.value - 1, atom.value, atom.value + 1]
    return [
        given
        for k, value in enumerate(values)
        for given in with_feature(maker, atom.feature, value, where, seed + 60 + k)
    ]
