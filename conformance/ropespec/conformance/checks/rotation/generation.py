"""Checks of calls as they follow each other in generation: prompts, tokens, tokens taken back."""

import dataclasses
import itertools
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.walked import (
    blamed_on_others,
    judged_at,
    listed,
    usual_case,
)
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge.finding import Finding, held
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial

__all__: list[str] = []

_GENERATION = (
    (0, 4),
    (4, 1),
    (5, 1),
    (6, 1),
    (7, 4),
    (11, 1),
    (9, 1),
    (10, 1),
    (0, 4),
    (4, 1),
    (0, 1),
)
"""Where calls begin and how many tokens they have: a prompt, tokens that go on from it, a chunk,
tokens that are taken back, and the next prompts, of which the last is a single token."""


_SLOTS = (
    (0, 0, 4),
    (4, 4, 1),
    (5, 0, 1),
    (6, 1, 1),
    (7, 1, 1),
    (0, 2, 1),
    (1, 3, 1),
)
"""Where the first row begins and where the others do, and tokens: a row goes on while another is
given to a new request, or stands still."""

_STEPS = 96
"""So many tokens go on one by one from a prompt, so that what is carried along adds up."""


def _prompts(trial: Trial, seed: int, strength: int) -> Walk:
    del seed, strength
    usual, claimed = usual_case(trial, 0), trial.profile
    rows = {1, usual.batch} if not claimed.compiles else {usual.batch}
    few = claimed.dtypes[:1] if claimed.compiles else claimed.dtypes
    made = itertools.product(sorted(rows), few)
    return listed(dataclasses.replace(usual, batch=number, dtype=dtype) for number, dtype in made)


@check(
    "ROT-19.generation",
    "A token that goes on where the call before ended is not rotated by its own position.",
    space=Space(values=("normal",)),
)
@walks(_prompts)
def goes_on(trial: Trial, case: Case) -> Finding:
    """Prompts and single tokens follow each other as in generation, rows from other places on.

    A row alone goes on for many tokens; of several one goes on while others begin again. What is
    wrong on a fresh instance too is the business of other checks.
    """
    made = _calls(trial, case)
    if not made or trial.judge(case, *_joined(made)).passed:
        return held()
    for number, one in enumerate(made):
        found = trial.judge(one.case, one.x, one.positions, one.y)
        if not found.passed:
            begun = [call.name for call in made[:number]]
            few = [*begun[:2], "...", *begun[-2:]] if len(begun) > len(_GENERATION) else begun
            before = ", ".join(few)
            message = f"a call of {one.name} is wrong after {before}, and right on a fresh instance"
            again = partial(judged_at, trial, one.case, one.positions)
            return blamed_on_others(trial, found, again, message)
    return held()


class _Made(NamedTuple):
    """One call of many: how it is named, what was asked, and what came back."""

    name: str
    case: Case
    x: NDArray[Any]
    positions: NDArray[np.int64]
    y: NDArray[Any]


def _calls(trial: Trial, case: Case) -> list[_Made]:
    """Make the calls, in order, from a fresh instance on."""
    apart = not trial.profile.shared_positions
    rows = 3 * np.arange(case.batch)[:, None] * apart
    alone = case.batch == 1
    long = ((0, 4), *((4 + step, 1) for step in range(_STEPS)))
    alike = ((start, start, tokens) for start, tokens in (*_GENERATION, *(long if alone else ())))
    trial.session.refresh()
    made = []
    for start, others, tokens in (*alike, *(_SLOTS if apart and not alone else ())):
        starts = np.where(np.arange(case.batch) == 0, start, others)[:, None]
        positions = (rows + starts + np.arange(tokens)).astype(np.int64)
        if positions.max() > case.limit or positions.size > trial.most_tokens(1):
            continue
        call = dataclasses.replace(case, seq=tokens)
        x = call.make_x(positions)
        y = trial.rotate(call, x, positions)
        made.append(_Made(_named(start, others, tokens), call, x, positions, y))
    return made


def _joined(made: list[_Made]) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[Any]]:
    """Return x, positions and results of all calls as if they were one: to judge few is dear."""
    parts = ([one.x for one in made], [one.positions for one in made], [one.y for one in made])
    x, positions, y = (np.concatenate(part, axis=1) for part in parts)
    return x, positions, y


def _named(start: int, others: int, tokens: int) -> str:
    """Say where a call begins."""
    more = f", in other rows from {others} on," if others != start else ""
    return f"{tokens} from {start} on{more}"
