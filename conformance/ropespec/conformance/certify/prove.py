"""From a target and claims to a certificate."""

import math
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ropespec.conformance.certify.block import unit_inputs
from ropespec.conformance.certify.cluster import Workers, connected, work
from ropespec.conformance.certify.found import Found, Tally
from ropespec.conformance.certify.journal import Journal
from ropespec.conformance.certify.plan import Plan, Setting, settings_of
from ropespec.conformance.judge.precision import Precision
from ropespec.conformance.opening import open_subject
from ropespec.conformance.profile import Profile
from ropespec.conformance.subject.errors import SubjectError, TargetUnusable
from ropespec.conformance.trial import Trial, Unfit

__all__ = ["Certificate", "planned", "prove"]

SAMPLE = 2048
"""Positions on which the precision class is measured that is then proved."""

NEAR = 2**17
"""Positions among which those with a telling angle are looked for."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was proved, or what stands against it.

    Attributes
    ----------
    plan : Plan
        What was to be proved.
    tallies : tuple of Tally
        What was found of each setting.
    workers : int
        How many there were at the end.
    seconds : float
        Of this run, without what an earlier one had done.
    done_before : int
        Blocks that an earlier run had done.
    """

    plan: Plan
    tallies: tuple[Tally, ...]
    workers: int
    seconds: float
    done_before: int

    @property
    def machine(self) -> str:
        """Where the judge runs."""
        return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"

    @property
    def holds(self) -> bool:
        """Whether all of it is proved."""
        return all(tally.holds for tally in self.tallies)


def planned(
    target: str,
    claims: Mapping[str, Any],
    timeout: float,
    *,
    positions: tuple[int, int],
    head_dims: tuple[int, ...] = (),
) -> Plan:
    """Call the subject a few times, and return what is to be proved of it.

    Parameters
    ----------
    target, claims, timeout
        As in `open_subject`.
    positions : tuple of int
        The first position, and the one after the last.
    head_dims : tuple of int
        Sizes of the last axis; empty for 128, or the largest that is claimed below it.

    Raises
    ------
    TargetUnusable
        If the subject cannot be loaded, does not claim the range, or gives no result.
    """
    with open_subject(target, claims, timeout) as session:
        profile, trial = session.profile, Trial(session)
        _require_range(profile, *positions)
        dims = head_dims or (_usual(profile),)
        return Plan(
            target,
            dict(claims),
            *positions,
            _settings(trial, dims, positions),
            _angles(*positions),
            profile.max_tokens,
            dict(session.environment),
            timeout,
        )


def prove(
    plan: Plan,
    *,
    workers: Workers,
    progress_file: Path | None,
    on_found: Callable[[int, int, str], None],
) -> Certificate:
    """Judge all blocks of a plan from `planned` that are not done yet.

    Parameters
    ----------
    plan : Plan
        What is to be proved.
    workers : Workers
        Where it is done.
    progress_file : Path or None
        Where what is done is kept until all is; an earlier run with the same plan is gone on with.
    on_found : callable
        Called after each block with how many are done, how many there are, and a few words.

    Raises
    ------
    SchedulerUnusable
        If there are no workers.
    OtherPlan
        If the file is of another plan.
    """
    with Journal(progress_file, plan) as journal:
        tallies = _Tallies(plan, on_found)
        for found in journal.done:
            tallies.add(found)
        done = {found.number for found in journal.done}
        left = (block for block in plan.blocks() if block.number not in done)
        with connected(workers) as client:
            began = time.monotonic()
            for found in work(client, plan, left):
                journal.add(found)
                tallies.add(found)
            pace = len(client.scheduler_info()["workers"]), time.monotonic() - began
    return Certificate(plan, tallies.each, *pace, len(done))


class _Tallies:
    """What is found of each setting so far; `on_found` is told after each block."""

    def __init__(self, plan: Plan, on_found: Callable[[int, int, str], None]) -> None:
        self.each = tuple(Tally() for _ in plan.settings)
        self._plan, self._tell = plan, on_found
        self._done, self._blocks = 0, sum(plan.sizes())

    def add(self, found: Found) -> None:
        """Take note of a block."""
        index = self._plan.setting_of(found.number)
        tally = self.each[index]
        tally.add(found)
        self._done += 1
        worst = "" if tally.worst is None else f", worst {tally.worst.ratio:.2f}"
        words = f"blocks, {self._plan.settings[index].words}{worst}"
        self._tell(self._done, self._blocks, words)


def _require_range(profile: Profile, start: int, stop: int) -> None:
    if start < 0 and not profile.negative_positions:
        raise TargetUnusable(f"positions start at {start}, and negative ones are not claimed")
    largest = max(abs(start), abs(stop - 1))
    if largest > profile.max_position:
        raise TargetUnusable(
            f"positions reach {largest}, and --max-position claims {profile.max_position}"
        )


def _usual(profile: Profile) -> int:
    """Return the size of the last axis that is proved where none is named."""
    return max((one for one in profile.head_dims if one <= 128), default=min(profile.head_dims))


def _settings(
    trial: Trial, head_dims: tuple[int, ...], positions: tuple[int, int]
) -> tuple[Setting, ...]:
    """Return the settings of what is claimed, each with the class that is to be proved."""
    try:
        return tuple(
            replace(one, precision=_precision(trial, one, positions).name)
            for one in settings_of(trial.profile, head_dims, positions)
        )
    except (SubjectError, Unfit) as trouble:
        raise TargetUnusable(f"{trial.session.target} gives no result: {trouble}") from None


def _precision(trial: Trial, setting: Setting, positions: tuple[int, int]) -> Precision:
    """Return the best class that holds at a sample of the range; the loosest if none does."""
    start, stop = positions
    sample = np.unique(np.linspace(start, stop - 1, SAMPLE).astype(np.int64))[None]
    sample = sample[:, : trial.most_tokens(1)]
    standing = list(trial.classes(setting.dtype))
    for _, x in unit_inputs(setting, sample.shape[1]):
        case = setting.case(sample.shape[1])
        places = setting.places(sample)
        y, exact = trial.rotate(case, x, places), trial.expect(case, x, places)
        while len(standing) > 1 and np.any(exact.ratios(y, standing[0], trial.machine) > 1):
            standing.pop(0)
    return standing[0]


def _angles(start: int, stop: int) -> tuple[int, ...]:
    """Return positions at which all numbers of a 16-bit dtype are tried.

    The first and the last, and those whose angle in pair 0, where theta is 1, is nearest to a
    multiple of pi/2 (one product vanishes) and to an odd one of pi/4 (both are alike).
    """
    run = np.arange(start, min(stop, start + NEAR), dtype=np.int64)
    run = run[run != 0]
    quarters = run / (math.pi / 4)
    off = np.abs(quarters - np.round(quarters))
    even = np.round(quarters) % 2 == 0
    found = {start, stop - 1}
    for kind in (even, ~even):
        if kind.any():
            found.add(int(run[kind][np.argmin(off[kind])]))
    return tuple(sorted(found))
