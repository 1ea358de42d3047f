"""Timing one operation against another: in turns, in fresh order every time, the least of many."""

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["LEAST_CALLS", "Clock", "Operation", "Timing", "WallClock", "measure"]

Result = Any  # what a call gives: arrays of its framework

LOOP_SECONDS = 2e-4
"""A repetition repeats its call until it lasts so long, so that the clock can tell."""

LEAST_CALLS = 20
"""... and, where calls only start work, is so many calls long, for its ends cost time too."""

MAX_LOOP = 2000

MIN_REPETITIONS = 2


def _nothing(result: Result) -> None:
    """Wait for nothing: the call returns when it is done."""


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that can be timed as often as one likes.

    Attributes
    ----------
    call : callable
        The timed work. Of what it gives only the last result is kept, so that calls in a row need
        no more memory than two.
    wait : callable
        Timed: returns when the result of the last call is there.
    tensors : int
        How many tensors a call rotates, one in two passes counted twice; the time is divided by
        it.
    """

    call: Callable[[], Result]
    wait: Callable[[Result], None] = _nothing
    tensors: int = 1


class Clock(Protocol):
    """Measures the time of work on one kind of device."""

    least_calls: int
    """How many calls a repetition has at least."""

    def seconds(self, work: Callable[[], object]) -> float:
        """Return the seconds that `work` takes, on the device that it works on."""
        ...


class WallClock:
    """The time that passes until work is done.

    Parameters
    ----------
    least_calls : int
        As in `Clock`: many where calls only start work, for the wait at the end costs time too.
    """

    def __init__(self, least_calls: int = 1) -> None:
        self.least_calls = least_calls

    def seconds(self, work: Callable[[], object]) -> float:
        """Return the seconds until `work` returns."""
        began = time.perf_counter()
        kept = work()
        ended = time.perf_counter()
        del kept  # giving memory back is nobody's time
        return ended - began


@dataclass(frozen=True, slots=True)
class Timing:
    """The least times of the repetitions, for one tensor and pass.

    Attributes
    ----------
    seconds : float
        Of the contender.
    copy_seconds : float
        Of the copy.
    repetitions : int
        How many.
    """

    seconds: float
    copy_seconds: float
    repetitions: int


def measure(
    subject: Operation,
    copy: Operation,
    clock: Clock,
    *,
    repetitions: int,
    limit: float,
    order: random.Random,
) -> Timing:
    """Time an operation and a copy in turns.

    Whatever disturbs a machine makes work slower, never faster: the least time is that of the
    work. It is taken for both sides from the same number of repetitions.

    Parameters
    ----------
    subject, copy : Operation
        What is compared; each is called before it is timed, so that nothing is compiled then.
    clock : Clock
        Measures.
    repetitions : int
        How many of each; fewer, though at least 2, where they take longer than `limit` seconds.
    limit : float
        Seconds.
    order : random.Random
        Draws which of the two comes first in every repetition.
    """
    pair = (subject, copy)
    loops = [_loop(operation, clock) for operation in pair]
    taken: tuple[list[float], list[float]] = ([], [])
    began = time.perf_counter()
    for index in range(repetitions):
        for which in order.sample((0, 1), 2):
            taken[which].append(_repetition(pair[which], loops[which], clock))
        if index + 1 >= MIN_REPETITIONS and time.perf_counter() - began > limit:
            break
    return Timing(min(taken[0]), min(taken[1]), len(taken[0]))


def _repetition(operation: Operation, loop: int, clock: Clock) -> float:
    """Seconds for one tensor, from `loop` calls in a row."""

    def work() -> Result:
        result = None
        for _ in range(loop):
            result = operation.call()
        operation.wait(result)
        return result

    return clock.seconds(work) / loop / operation.tensors


def _loop(operation: Operation, clock: Clock) -> int:
    """Warm up, and find how many calls a repetition should have."""
    if _repetition(operation, 1, clock) * operation.tensors >= LOOP_SECONDS:
        return clock.least_calls
    few = _repetition(operation, 2, clock) * operation.tensors  # the first calls are slower
    calls = math.ceil(LOOP_SECONDS / max(few, 1e-9))
    return max(clock.least_calls, min(calls, MAX_LOOP))
