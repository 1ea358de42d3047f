"""A rotation by several position numbers of which some are equal, or stand still (AXES-1)."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.walked import listed, usual_case
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge.finding import Finding, held
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial

__all__: list[str] = []

_TOKENS = 6
_FAR = 400
"""Positions of usual images and prompts."""

_WHERE = ("every token", "after text", "before text")
"""Which tokens of a call have such numbers; all numbers of the others are equal."""


def _groups(count: int) -> Iterator[tuple[int, ...]]:
    """Return each way to be equal or not: the group of each number, two groups at least."""

    def more(begun: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(begun) == count:
            yield begun
            return
        for group in range(max(begun) + 2):
            yield from more((*begun, group))

    return (groups for groups in more((0,)) if max(groups))


def _asked(count: int) -> list[tuple[tuple[int, ...], str, int | None]]:
    """Return what is asked of so many numbers: groups, which tokens have them, what stands still.

    In an image one of them does: all tokens of it have one time.
    """
    moving = [(groups, where, None) for groups in _groups(count) for where in _WHERE]
    apart = tuple(range(count))
    return [*moving, *((apart, where, still) for still in apart for where in _WHERE)]


def _walk(trial: Trial, seed: int, strength: int) -> Walk:
    """Walk all of it; a law of integers needs one dtype."""
    del seed, strength
    claimed, usual = trial.profile, usual_case(trial, 0)
    seq = min(_TOKENS, trial.most_tokens(usual.batch))
    usual = replace(usual, seq=seq, convention=claimed.rotation)
    return listed(replace(usual, seed=item) for item in range(len(_asked(claimed.numbers))))


@check(
    "AXES-1.alike",
    "Where some numbers of a token are equal, or one stands still, others are not looked at.",
    space=Space(numbers=True, min_seq=2, min_dim=8),
    applies=lambda trial: None if trial.profile.numbers > 1 else "one position number a token",
)
@walks(_walk)
def alike(trial: Trial, case: Case) -> Finding:
    """Each pair follows its own number, whichever of them are equal, and at which tokens."""
    if not case.convention.axes:
        return held()
    positions = _numbers(trial, case)
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    message = "a pair does not follow its own position number where others are equal or stand still"
    return trial.judge(case, x, positions, y, message=message)


def _numbers(trial: Trial, case: Case) -> NDArray[np.int64]:
    """Return positions (B, S, n)."""
    count = trial.profile.numbers
    asked = _asked(count)
    groups, where, still = asked[case.seed % len(asked)]
    rng = np.random.default_rng([case.seed, 47])
    rows = 1 if trial.profile.shared_positions else case.batch
    far = min(_FAR, case.limit)
    runs = rng.integers(0, far + 1, (rows, case.seq, count))
    if still is not None:
        runs[..., still] = rng.integers(0, far + 1)
    found = np.broadcast_to(runs, (case.batch, case.seq, count))[..., list(groups)]
    text = np.arange(case.seq)[:, None]
    is_text = {"after text": text < case.seq // 2, "before text": text >= case.seq // 2}
    return np.where(is_text.get(where, False), text, found)
