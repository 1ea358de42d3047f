"""A check that calls of other lengths, dtypes, bases and positions leave no trace (ROT-19)."""

import dataclasses

import numpy as np

from ropespec.conformance.case import Case, Space
from ropespec.conformance.judge.finding import Finding, held
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial

__all__: list[str] = []

STEPS = 8


def walk(trial: Trial, case: Case) -> list[Case]:
    """Make a sequence of calls: lengths grow and shrink, dtypes, bases and positions change.

    Positions cross powers of two, where tables are usually cut, at L-1, L and L+1.
    """
    rng = np.random.default_rng([case.seed, 3])
    takes = trial.keywords("apply_rotary")
    most = trial.most_tokens(case.batch)
    lengths = [n for n in (1, case.seq, case.seq + 1, 2 * case.seq) if n <= most]
    powers = [2**n for n in range(3, 18) if 2**n + 2 * case.seq + 2 < case.limit] or [1]
    calls = []
    for _ in range(STEPS):
        edge = int(rng.choice(powers)) + int(rng.integers(-1, 2))
        call = dataclasses.replace(
            case,
            seq=int(rng.choice(lengths)),
            start=max(edge - int(rng.integers(0, 3)), 0),
            dtype=str(rng.choice(trial.profile.dtypes)),
            seed=int(rng.integers(0, 1000)),
        )
        if "base" in takes:
            base = float(rng.choice([case.frequencies.base, 10000.0, 500000.0]))
            call = call.stating(base=base)
        if "interleaved" in takes:
            layout = bool(rng.choice(trial.profile.layouts))
            call = call.stating(interleaved=layout)
        calls.append(call)
    return calls


@check(
    "ROT-19.walk",
    "A call depends on the calls before it: a cache is keyed by too little, or grows wrongly.",
    space=Space(values=("normal",), positions=("arange", "ragged")),
    share=0.5,
    applies=lambda trial: (
        "every new shape is compiled; ROT-19.history covers it"
        if trial.profile.framework.compiles
        else None
    ),
)
def leaves_no_trace(trial: Trial, case: Case) -> Finding:
    """A call that is wrong after others is right on a fresh instance: then the others are to blame.

    A call that is wrong on a fresh instance too is the business of other checks.
    """
    for number, call in enumerate(walk(trial, case), start=1):
        positions = call.make_positions()
        x = call.make_x(positions)
        y = trial.rotate(call, x, positions)
        finding = trial.judge(call, x, positions, y)
        if finding.passed:
            continue
        trial.session.refresh()
        fresh = trial.rotate(call, x, positions)
        if not trial.judge(call, x, positions, fresh).passed:
            return held()
        message = (
            f"call {number} of a sequence is wrong, and right on a fresh instance: "
            "earlier calls of other lengths, dtypes or positions changed it"
        )
        return dataclasses.replace(finding, message=message, general=False)
    return held()
