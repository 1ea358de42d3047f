"""Checks of calls that are large in two sizes at once, and back (ROT-19, ROT-20)."""

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import called, differentiable
from ropespec.conformance.checks.rotation.walked import listed, usual_case
from ropespec.conformance.coverage.array import PAIRS
from ropespec.conformance.coverage.large import Block, large_cases
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge.finding import Finding, held
from ropespec.conformance.registry import check, walks
from ropespec.conformance.subject.session import NotPossible, SubjectRaised
from ropespec.conformance.trial import Trial

__all__: list[str] = []

Array = NDArray[Any]

LONG = 4.0
"""Seconds that no call shall take."""

FEW = 64
"""Tokens of all rows and heads together; what so small a call shows is told by other checks."""

TELLING = 2**20
"""Elements of a call that shows how long others take."""


def _all_large(trial: Trial, seed: int, strength: int) -> Walk:
    return listed(large_cases(trial.profile, usual_case(trial, seed), full=strength > PAIRS))


def _some_large(trial: Trial, seed: int, strength: int) -> Walk:
    del strength
    return listed(large_cases(trial.profile, usual_case(trial, seed), some=True))


@check(
    "ROT-19.many",
    "Tokens, rows, heads or elements beyond some number are left out or taken from elsewhere: a "
    "block, an axis of the launch grid, or the integer of an index ends there.",
    space=Space(values=("normal",)),
)
@walks(_all_large)
def many(trial: Trial, case: Case) -> Finding:
    """Every element of large calls is right, whichever two of the sizes are large."""
    block = Block.of(case, trial.profile)
    x, positions = block.whole()
    try:
        y = _timed(trial, x.size, lambda: trial.rotate(case, x, positions))
    except SubjectRaised as error:
        return _refused(error)
    return _judged(trial, block, y, x, positions)


@check(
    "ROT-20.many",
    "The gradient of a large call is left out beyond some number of tokens, rows or heads.",
    space=Space(values=("normal",)),
    applies=differentiable,
)
@walks(_some_large)
def many_back(trial: Trial, case: Case) -> Finding:
    """Every element of the gradient of large calls is right."""
    block = Block.of(case, trial.profile)
    c, positions = block.whole()
    try:
        gradient = _timed(trial, c.size, lambda: trial.rotate_vjp(case, c, positions, c))
    except SubjectRaised as error:
        return _refused(error)
    back = dataclasses.replace(block, positions=-block.positions)
    return _judged(trial, back, gradient, c, positions, name="gradient")


def _timed(trial: Trial, elements: int, call: Callable[[], Array]) -> Array:
    """Make a call, unless those before it say that it would take long."""
    covered = trial.covered
    if covered.pace * elements > LONG:
        covered.slow.add(elements)
        raise NotPossible(
            f"a call of {elements} elements would take {covered.pace * elements:.1f} s"
        )
    began = time.perf_counter()
    y = call()
    if elements > TELLING:
        covered.pace = max(covered.pace, (time.perf_counter() - began) / elements)
    return y


def _refused(error: SubjectRaised) -> Finding:
    """So large a call is no promise."""
    if error.out_of_memory:
        return held()
    raise error


def _judged(
    trial: Trial,
    block: Block,
    y: NDArray[Any],
    x: NDArray[Any],
    positions: NDArray[np.int64],
    name: str = "y",
) -> Finding:
    exact = trial.expect(block.case, block.x, block.positions)
    worst, at = block.worst(y, exact.y)
    finding = trial.judge(block.case, block.x, block.positions, worst)
    if finding.passed:
        return finding
    rows, tokens, heads, _ = block.shape
    allowed = exact.allowed(trial.loosest(block.case.dtype), trial.machine)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.nan_to_num(np.abs(worst.astype(np.float64) - exact.y) / allowed, nan=np.inf)
    place = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
    _, within, head, component = map(int, place)
    begin, first = divmod(int(at[place]), heads)
    row, token = divmod(begin + within, tokens)
    where = f"{name}[{row}, {token}, {first + head}, {component}]"
    message = f"not all of {rows} rows of {tokens} tokens of {heads} heads are rotated as they must"
    whole = dataclasses.replace(block.case, batch=rows, seq=tokens, heads=heads)
    return dataclasses.replace(
        finding,
        message=f"{message}: {where}" if name == "y" else f"{message} on the way back: {where}",
        where=where,
        call=called(whole, x, positions),
        case=whole,
        general=rows * tokens * heads <= FEW,
    )
