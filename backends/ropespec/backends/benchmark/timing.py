"""Timing one operation against another: medians, interleaved, in fresh order every time."""

import math
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Clock", "Operation", "Timing", "WallClock", "measure"]

State = Any  # what one call of a subject needs: arrays of its framework
Result = Any  # what it gives

LOOP_SECONDS = 1e-3
"""A repetition repeats its call until it lasts so long, so that the clock can tell."""

LOOP_BYTES = 2**27
"""... unless the arrays that its calls need together were larger."""

MAX_LOOP = 1000

WARM_UP = 1
"""Calls before the first that counts; taking the errors has made three by then."""

MIN_REPETITIONS = 5


def _nothing(result: Result) -> None:
    """Wait for nothing: the call returns when it is done."""


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that can be timed.

    Attributes
    ----------
    call : callable
        The timed work, on what `prepare` made.
    prepare : callable
        Untimed: makes what a single call uses up.
    wait : callable
        Timed: returns when the result of the last call is there.
    tensors : int
        How many tensors one call treats; the time is divided by it.
    size : int
        Bytes of one tensor.
    """

    call: Callable[[State], Result]
    prepare: Callable[[], State] = lambda: None
    wait: Callable[[Result], None] = _nothing
    tensors: int = 1
    size: int = 0


class Clock(Protocol):
    """Measures the time of work on one kind of device."""

    loop_seconds: float
    """How long one repetition should last at least."""

    def seconds(self, work: Callable[[], object]) -> float:
        """Return the seconds that `work` takes, on the device that it works on."""
        ...

    def flush(self) -> None:
        """Make caches forget, where they are to forget between repetitions."""
        ...


class WallClock:
    """The time that passes; caches stay as the call before left them."""

    def __init__(self, loop_seconds: float = LOOP_SECONDS) -> None:
        self.loop_seconds = loop_seconds

    def seconds(self, work: Callable[[], object]) -> float:
        """Return the seconds until `work` returns."""
        began = time.perf_counter()
        kept = work()
        ended = time.perf_counter()
        del kept  # giving memory back is nobody's time
        return ended - began

    def flush(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Medians of the repetitions, for one tensor.

    Attributes
    ----------
    seconds : float
        Of the subject.
    copy_seconds : float
        Of the copy.
    repetitions : int
        How many.
    """

    seconds: float
    copy_seconds: float
    repetitions: int

    @property
    def ratio(self) -> float:
        """The first by the second."""
        return self.seconds / self.copy_seconds


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

    Parameters
    ----------
    subject, copy : Operation
        What is compared.
    clock : Clock
        Measures.
    repetitions : int
        How many of each; fewer, though at least 5, where they take longer than `limit` seconds.
    limit : float
        Seconds.
    order : random.Random
        Draws which of the two comes first in every repetition.

    Returns
    -------
    Timing
        The medians.
    """
    began = time.perf_counter()
    pair = (subject, copy)
    loops = [_loop(operation, clock) for operation in pair]
    taken: tuple[list[float], list[float]] = ([], [])
    for index in range(repetitions):
        for which in order.sample((0, 1), 2):
            taken[which].append(_repetition(pair[which], loops[which], clock))
        if index + 1 >= MIN_REPETITIONS and time.perf_counter() - began > limit:
            break
    seconds, copy_seconds = (statistics.median(times) for times in taken)
    return Timing(seconds, copy_seconds, len(taken[0]))


def _repetition(operation: Operation, loop: int, clock: Clock) -> float:
    """Seconds for one tensor, from `loop` calls in a row."""
    states = [operation.prepare() for _ in range(loop)]
    clock.flush()

    def work() -> Result:
        result = None
        for state in states:
            result = operation.call(state)
        operation.wait(result)
        return result

    return clock.seconds(work) / loop / operation.tensors


def _loop(operation: Operation, clock: Clock) -> int:
    """Warm up, and find how many calls a repetition should have."""
    for _ in range(WARM_UP):
        once = _repetition(operation, 1, clock) * operation.tensors
    if once >= clock.loop_seconds:
        return 1
    few = _repetition(operation, 4, clock) * operation.tensors  # the first calls are slower
    room = max(LOOP_BYTES // max(operation.size * operation.tensors, 1), 1)
    return max(1, min(math.ceil(clock.loop_seconds / max(few, 1e-9)), room, MAX_LOOP))
