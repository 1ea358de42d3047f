"""Checks that calls leave no trace: those of another kind, and those much like it (ROT-19)."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space, pool
from ropespec.conformance.checks.rotation.common import differentiable
from ropespec.conformance.checks.rotation.walked import (
    blamed_on_others,
    judged_at,
    listed,
    usual_alone,
    usual_case,
)
from ropespec.conformance.coverage.positions import LAST
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge.finding import Finding, broken, compare, held
from ropespec.conformance.judge.values import ALIKE
from ropespec.conformance.registry import check, walks
from ropespec.conformance.subject.session import NotPossible, SubjectRaised
from ropespec.conformance.trial import Trial, unfit
from ropespec.spec.convention import Keywords

__all__: list[str] = []

ROUND = (0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3, 0)
"""A way along each of the twelve arrows between nothing, one, the other and both."""

EDGES = tuple(2**n - 1 for n in range(3, 18))
"""Where tables are usually cut."""

LONGER = 4


@dataclass(frozen=True, slots=True)
class Step:
    """A call: of which case, and in which mode."""

    case: Case
    mode: str = "plain"


Change = Callable[[Step], Step]


def _set(**values: object) -> Change:
    def change(step: Step) -> Step:
        return dataclasses.replace(step, case=dataclasses.replace(step.case, **values))  # type: ignore[arg-type]  # fields of a case

    return change


def _state(**keywords: Unpack[Keywords]) -> Change:
    return lambda step: dataclasses.replace(step, case=step.case.stating(**keywords))


def changes(trial: Trial, case: Case) -> list[Change]:
    """Return what may change from one call to the next: each makes one thing of a case another."""
    claimed, takes = trial.profile, trial.keywords("apply_rotary")
    found: list[Change] = []
    if claimed.compiles:
        rows, tokens, heads, dim = pool(claimed.head_dims, one_row=claimed.axes == "shd")[1]
        found.append(_set(batch=rows, seq=tokens, heads=heads, head_dim=dim))
    else:
        tokens = min(case.seq + LONGER, trial.most_tokens(case.batch))
        found += [_set(seq=tokens)] * (tokens > case.seq)
        wider = claimed.max_tokens is None or case.seq * (case.batch + 1) <= claimed.max_tokens
        found += [_set(batch=case.batch + 1)] * (wider and claimed.axes != "shd")
        found += [_set(head_dim=dim) for dim in claimed.head_dims if dim > case.head_dim][-1:]
        if "rotary_dim" in takes and case.head_dim > 2:
            found.append(_state(rotary_dim=2))
    if edges := [edge for edge in EDGES if edge + case.seq + LONGER <= case.limit]:
        found.append(_set(start=edges[case.seed % len(edges)]))
    found += [_set(dtype=dtype) for dtype in claimed.dtypes if dtype != case.dtype][:2]
    if "base" in takes:
        found.append(_state(base=10000.0 if case.frequencies.base != 10000.0 else 500000.0))
    if "interleaved" in takes and len(set(claimed.layouts)) == 2:
        found.append(_state(interleaved=not case.keywords["interleaved"]))
    return [*found, *_modes(trial)]


def _modes(trial: Trial) -> list[Change]:
    modes = []
    if trial.profile.gradients and differentiable(trial) is None:
        modes.append("gradient")
    if trial.profile.framework.unrecorded:
        modes.append("unrecorded")
    return [lambda step, mode=mode: dataclasses.replace(step, mode=mode) for mode in modes]  # type: ignore[misc]  # bound now


def _pairs(trial: Trial, case: Case) -> list[tuple[Change, Change]]:
    return list(itertools.combinations(changes(trial, case), 2))


def _every_pair(trial: Trial, seed: int, strength: int) -> Walk:
    del seed, strength
    usual = usual_case(trial, 0)
    return listed(
        dataclasses.replace(usual, seed=number) for number in range(len(_pairs(trial, usual)))
    )


@check(
    "ROT-19.walk",
    "A call depends on the calls before it: a cache is keyed by too little, or grows wrongly.",
    space=Space(values=("normal",), positions=("arange", "ragged")),
)
@walks(_every_pair)
def leaves_no_trace(trial: Trial, case: Case) -> Finding:
    """A call that is wrong after others is right on a fresh instance: then the others are to blame.

    A call that is wrong on a fresh instance too is the business of other checks.
    """
    pairs = _pairs(trial, case)
    if not pairs:
        return held()
    one, other = pairs[case.seed % len(pairs)]
    start = Step(case)
    steps = (start, one(start), other(start), other(one(start)))
    for number, place in enumerate(ROUND, start=1):
        finding = _made(trial, steps[place])
        if finding.passed:
            continue
        message = (
            f"call {number} of a sequence is wrong, and right on a fresh instance: earlier calls "
            "of other lengths, dtypes or positions changed it"
        )
        return blamed_on_others(trial, finding, partial(_made, trial, steps[place]), message)
    return held()


def _tokens_and_runs(trial: Trial, seed: int, strength: int) -> Walk:
    del seed, strength
    return listed(dataclasses.replace(usual_case(trial, 0), seed=number) for number in range(2))


@check(
    "ROT-19.grown",
    "A table that is made longer ends a row before the largest position of a call.",
    space=Space(values=("normal",)),
)
@walks(_tokens_and_runs)
def grows_in_time(trial: Trial, case: Case) -> Finding:
    """Calls of a fresh instance reach each power of two, the position before it and the one after.

    In the second case a run does, which begins before a power of two and ends behind it, and a
    token between two powers comes next. What is wrong after the farthest call too is the business
    of other checks.
    """
    most = min(case.limit, LAST)
    trial.session.refresh()
    for positions in (_runs if case.seed % 2 else _tokens)(case, most):
        found = judged_at(trial, case, positions)
        if found.passed:
            continue
        trial.session.refresh()
        far = np.flip(most - np.arange(case.seq)) + np.zeros((case.batch, 1), dtype=np.int64)
        if not all(judged_at(trial, case, one).passed for one in (far, positions)):
            return held()
        end = positions.max(initial=0)
        message = (
            f"the first call that reaches {end} is wrong, and right after one that goes farther"
        )
        return dataclasses.replace(found, message=message, general=False)
    return held()


def _tokens(case: Case, most: int) -> Iterator[NDArray[np.int64]]:
    ends = {min(2**k + by, most) for k in range(most.bit_length()) for by in (-1, 0, 1)}
    return (_reaching(case, end) for end in sorted(ends))


def _runs(case: Case, most: int) -> Iterator[NDArray[np.int64]]:
    run = np.zeros((case.batch, 1), dtype=np.int64) + np.arange(case.seq)
    for k in range(1, most.bit_length()):
        for start in (2**k - case.seq + 1, 2**k - 1):
            if start >= 0 and start + case.seq - 1 <= most:
                yield run + start
        yield _reaching(case, min(2**k + 2 ** (k - 1), most))


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


def _takes_both_modes(trial: Trial) -> str | None:
    if not trial.profile.framework.unrecorded:
        return f"{trial.profile.array} records nothing"
    if not trial.profile.gradients:
        return "no gradient claimed"
    return differentiable(trial)


@check(
    "ROT-19.unrecorded",
    "What is kept of a call that records no gradient cannot be used where one is taken.",
    space=Space(values=("normal",)),
    applies=_takes_both_modes,
)
@walks(usual_alone)
def leaves_what_can_be_recorded(trial: Trial, case: Case) -> Finding:
    """The first call of an instance records nothing, and the gradient is taken at the second."""
    plain, back = Step(case, mode="unrecorded"), Step(case, mode="gradient")
    trial.session.refresh()
    if not _made(trial, plain).passed:
        return held()
    try:
        found = _made(trial, back)
    except SubjectRaised as error:
        trial.session.refresh()
        if not _made(trial, back).passed:
            raise
        found = broken(f"the gradient raises {error}")
    where = f"after a first call under {trial.profile.framework.unrecorded}"
    return found if found.passed else dataclasses.replace(found, message=f"{where} {found.message}")


def _made(trial: Trial, step: Step) -> Finding:
    case = step.case
    positions = case.make_positions()
    if step.mode == "plain":
        return judged_at(trial, case, positions)
    x = case.make_x(positions)
    if step.mode == "gradient":
        return _back(trial, case, x, positions)
    try:
        rotated = trial.session.rotate_unrecorded(x, positions, keywords=case.keywords)
    except NotPossible:
        return held()
    return unfit(rotated, x) or trial.judge(case, x, positions, rotated.y)


def _back(
    trial: Trial, case: Case, x: NDArray[np.floating], positions: NDArray[np.int64]
) -> Finding:
    got = trial.rotate_vjp(case, x, positions, x)
    exact = trial.expect(case, x, -positions)
    allowed = exact.allowed(trial.loosest(case.dtype), trial.machine)
    return compare(got, exact.y, allowed, name="gradient")
