"""Checks of calls of several dtypes after each other, of instances that have seen none (ROT-19)."""

import dataclasses
from functools import partial

import numpy as np

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.walked import (
    blamed_on_others,
    judged_at,
    listed,
    usual_case,
)
from ropespec.conformance.checks.shared import of_two_dtypes
from ropespec.conformance.coverage.positions import LAST
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge.finding import Finding, held
from ropespec.conformance.judge.values import numpy_dtype
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial

__all__: list[str] = []


def _begins(case: Case) -> tuple[int, ...]:
    """Return where the calls of a dtype begin: as the dtype before, at one more, and far away.

    Far away a table grows, for the first dtype alone.
    """
    return (0, 1, max(min(case.limit, LAST) * 3 // 4, 1))


def _both_ways(trial: Trial, seed: int, strength: int) -> Walk:
    del seed, strength
    usual = usual_case(trial, 0)
    return listed(dataclasses.replace(usual, seed=number) for number in range(2))


@check(
    "ROT-19.dtypes",
    "What is kept has the dtype of the call that needed it first, and serves those of others.",
    space=Space(values=("normal",)),
    applies=of_two_dtypes,
)
@walks(_both_ways)
def keeps_no_dtype(trial: Trial, case: Case) -> Finding:
    """A fresh instance is called in dtypes of more and more digits, another in those of fewer.

    What is wrong as a first call too is the business of other checks.
    """
    claimed = sorted(trial.profile.dtypes, key=lambda name: numpy_dtype(name).itemsize)
    before = list[str]()
    trial.session.refresh()
    for dtype in claimed[:: -1 if case.seed % 2 else 1]:
        call = dataclasses.replace(case, dtype=dtype)
        for begin in _begins(case):
            run = np.minimum(np.arange(begin, begin + case.seq), case.limit)
            positions = np.broadcast_to(run, (case.batch, case.seq)).copy()
            found = judged_at(trial, call, positions)
            if found.passed:
                continue
            message = (
                f"a call of {dtype} is wrong after {', '.join(before) or 'another of it'}, and "
                "right on a fresh instance"
            )
            again = partial(judged_at, trial, call, positions)
            return blamed_on_others(trial, found, again, message)
        before.append(f"one of {dtype}")
    return held()
