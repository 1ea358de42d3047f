"""Checks of tables that are kept: for positions that are much like others, and grown (ROT-19)."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.walked import (
    blamed_on_others,
    judged_at,
    listed,
    usual_case,
)
from ropespec.conformance.coverage.positions import LAST
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge.finding import Finding, held
from ropespec.conformance.judge.values import ALIKE
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial

__all__: list[str] = []


def _ways_to_grow(trial: Trial, seed: int, strength: int) -> Walk:
    del seed, strength
    usual, count = usual_case(trial, 0), _ways(trial)
    return listed(dataclasses.replace(usual, seed=number) for number in range(count))


def _ways(trial: Trial) -> int:
    """Return how many of `_WAYS` there are of tokens that have as many numbers as these."""
    return len(_WAYS) if trial.profile.numbers else len(_WAYS) - 1


@check(
    "ROT-19.grown",
    "A table that is made longer ends a row before the largest position, or within a run.",
    space=Space(values=("normal",)),
)
@walks(_ways_to_grow)
def grows_in_time(trial: Trial, case: Case) -> Finding:
    """Calls of a fresh instance reach each power of two, the position before it and the one after.

    In the second case a run does, which begins before a power of two and ends behind it, and a
    token between two powers comes next; in the third one of several numbers of a token does, and
    then another. What is wrong after the farthest call too is the business of other checks.
    """
    most, way = min(case.limit, LAST), case.seed % _ways(trial)
    numbers = trial.profile.numbers if way == len(_WAYS) - 1 else 0
    if numbers:
        case = dataclasses.replace(case, convention=trial.profile.rotation)
    trial.session.refresh()
    for positions in _WAYS[way](case, most, numbers):
        found = judged_at(trial, case, positions)
        if found.passed:
            continue
        trial.session.refresh()
        far = np.flip(most - np.arange(case.seq)) + np.zeros((case.batch, 1), dtype=np.int64)
        far = np.repeat(far[..., None], numbers, axis=-1) if numbers else far
        if not all(judged_at(trial, case, one).passed for one in (far, positions)):
            return held()
        end = positions.max(initial=0)
        message = (
            f"the first call that reaches {end} is wrong, and right after one that goes farther"
        )
        return dataclasses.replace(found, message=message, general=False)
    return held()


def _tokens(case: Case, most: int, numbers: int) -> Iterator[NDArray[np.int64]]:
    del numbers
    ends = {min(2**k + by, most) for k in range(most.bit_length()) for by in (-1, 0, 1)}
    return (_reaching(case, end) for end in sorted(ends))


def _runs(case: Case, most: int, numbers: int) -> Iterator[NDArray[np.int64]]:
    del numbers
    run = np.zeros((case.batch, 1), dtype=np.int64) + np.arange(case.seq)
    for k in range(1, most.bit_length()):
        for start in (2**k - case.seq + 1, 2**k - 1):
            if start >= 0 and start + case.seq - 1 <= most:
                yield run + start
        yield _reaching(case, min(2**k + 2 ** (k - 1), most))


def _one_number(case: Case, most: int, numbers: int) -> Iterator[NDArray[np.int64]]:
    for k in range(most.bit_length()):
        end = _reaching(case, min(2 ** (k + 1) - 1, most))
        yield end[..., None] * (np.arange(numbers) == k % numbers)


_WAYS = (_tokens, _runs, _one_number)
"""The last is of tokens that have several numbers."""


def _reaching(case: Case, end: int) -> NDArray[np.int64]:
    positions = np.zeros((case.batch, case.seq), dtype=np.int64)
    positions[:, -1] = end
    return positions


_TOKENS = 6

_APART = 11
"""How far apart the numbers of a token are: those of neighbours are not each other's."""


@dataclass(frozen=True, slots=True)
class _Likeness:
    """Positions of two calls, and what of both is the same."""

    what: str
    case: Case
    first: NDArray[np.int64]
    second: NDArray[np.int64]


def _likenesses(trial: Trial, case: Case) -> list[_Likeness]:
    rows = np.arange(case.batch)[:, None] * (not trial.profile.shared_positions)
    run = (2 + np.arange(case.seq) + 3 * rows).astype(np.int64)
    found = [_Likeness(what, case, run, other(run)) for what, other in ALIKE.items()]
    if not trial.profile.numbers:
        return found
    count = np.arange(trial.profile.numbers)
    apart = dataclasses.replace(case, convention=trial.profile.rotation)
    own = run[..., None] + _APART * count
    for axis in count:
        one, others = own + case.seq * (count == axis), own + case.seq * (count != axis)
        found.append(_Likeness(f"numbers but number {axis} of each token", apart, own, one))
        found.append(_Likeness(f"numbers {axis} of each token", apart, own, others))
    turned = np.roll(own, 1, axis=-1)
    return [*found, _Likeness("numbers of each token, in another order,", apart, own, turned)]


def _every_likeness(trial: Trial, seed: int, strength: int) -> Walk:
    del seed, strength
    usual = usual_case(trial, 0)
    tokens = min(_TOKENS, trial.most_tokens(usual.batch))
    usual = dataclasses.replace(usual, seq=tokens)
    count = len(_likenesses(trial, usual))
    return listed(dataclasses.replace(usual, seed=number) for number in range(count))


@check(
    "ROT-19.likeness",
    "Tables are kept for positions of which the shape and some numbers are the same, not all.",
    space=Space(values=("normal",), min_seq=3),
)
@walks(_every_likeness)
def tells_positions_apart(trial: Trial, case: Case) -> Finding:
    """A call follows its own positions, though those of the call before were much like them.

    What is wrong on a fresh instance too is the business of other checks.
    """
    all_of_them = _likenesses(trial, case)
    like = all_of_them[case.seed % len(all_of_them)]
    shared = trial.profile.shared_positions and (like.second != like.second[:1]).any()
    if shared or max(like.first.max(initial=0), like.second.max(initial=0)) > case.limit:
        return held()
    judged_at(trial, like.case, like.first)
    for positions in (like.second, like.first):
        found = judged_at(trial, like.case, positions)
        if not found.passed:
            message = (
                f"a call is wrong after one of the same shape whose {like.what} are the same, and "
                "right on a fresh instance"
            )
            again = partial(judged_at, trial, like.case, positions)
            return blamed_on_others(trial, found, again, message)
    return held()
