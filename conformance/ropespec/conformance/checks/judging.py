"""Checks of the chapter `judging`: the literal reference as a second source, and precision."""

import dataclasses

import numpy as np

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literally import literal_rotation
from ropespec.conformance.checks.rotation.common import EVERYTHING, called
from ropespec.conformance.checks.rotation.walked import listed, usual_case
from ropespec.conformance.coverage.rows import Walk
from ropespec.conformance.judge.budget import angle_error
from ropespec.conformance.judge.fault import Fault
from ropespec.conformance.judge.finding import Finding, broken, compare, held
from ropespec.conformance.judge.precision import STAGES, UNIT_ROUNDOFF, Precision
from ropespec.conformance.judge.rotation import from_pairs, pairs_of
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial

__all__: list[str] = []


@check(
    "JDG-1.reference",
    "The result agrees with the judge but not with the formula as the documents print it.",
    names=("P-47",),
    space=Space(values=("normal", "heavy"), positions=("arange", "ragged", "negative", "spread")),
    general=True,
)
def against_reference(trial: Trial, case: Case) -> Finding:
    """Apply_rotary equals the literal NumPy reference within both their budgets."""
    positions = case.make_positions()
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    literal = literal_rotation(case, x.astype(np.float64), positions)
    exact = trial.expect(case, x, positions)
    pairs = exact.pairs
    # The reference multiplies float64(m) by a rounded theta_i: its own share of the error.
    own = angle_error(
        "float64",
        pairs.position,
        pairs.theta,
        arithmetic="float64",
        machine=trial.machine,
        of=pairs.of,
    )
    length = pairs.gain * np.minimum(own, 2.0) * np.hypot(pairs.x1, pairs.x2)
    length += pairs.gain * 2.0**-50 * (np.abs(pairs.x1) + np.abs(pairs.x2))
    extra = from_pairs(length, length, np.zeros_like(exact.tail), case.convention)
    allowed = exact.allowed(trial.loosest(case.dtype), trial.machine) + extra
    finding = compare(y, literal, allowed, message="y differs from the literal reference")
    return finding.after(called(case, x, positions))


def _name_the_class(trial: Trial, case: Case, finding: Finding) -> Finding:
    """Name the class that explains every result seen so far, if one does."""
    if finding.fault is Fault.FLUSHED:
        return finding
    declared = trial.profile.precision
    standing = trial.measured.tried(case.dtype)
    suspects = trial.measured.suspects(case.dtype)
    if standing:
        allowed = f"`{declared}` is claimed" if declared else f"x is {case.dtype}"
        best = standing[0]
        message = f"{_overran(trial, case, best, finding)} ({best.sentence}), and {allowed}"
    elif suspects:
        names = " or ".join(f"`{item.name}` ({item.sentence})" for item in suspects[:2])
        times = f"{finding.ratio:.2g} times"
        message = f"the angle overran its budget by {times}: the error is that of {names}"
    else:
        message = "no precision class explains the error: it is not a matter of rounding"
        return dataclasses.replace(finding, message=message, general=True)
    return dataclasses.replace(finding, message=message)


def _overran(trial: Trial, case: Case, best: Precision, finding: Finding) -> str:
    """Say which stages the class that fits chooses worse than the one that is allowed."""
    allowed = trial.classes(case.dtype)[-1]
    worse = [stage for stage in STAGES if getattr(best, stage) != getattr(allowed, stage)]
    stages = " and ".join(worse) or "store"
    times = f"{finding.ratio:.2g} times"
    return f"{stages} overran the budget by {times}: the error is that of `{best.name}`"


@check(
    "JDG-3.precision",
    "Positions, frequencies, angles, tables or products have fewer bits than they may.",
    names=(),
    # Angles of the first pair are integers: exact in every class, they tell nothing.
    space=Space(
        values=EVERYTHING, positions=("arange", "spread", "repeated"), min_dim=4, numbers=True
    ),
    explain=_name_the_class,
    every_dtype=True,
)
def precision(trial: Trial, case: Case) -> Finding:
    """The error stays within the budget of a passing precision class; if not, it is named."""
    return trial.rotate_and_judge(case)


JUMP = 64
"""How many times the error may grow where the position doubles; that of an angle doubles too."""

_AROUND = (0, 1, 3, -1, -3)


def _far_apart(trial: Trial, seed: int, strength: int) -> Walk:
    del strength
    usual = usual_case(trial, seed)
    powers = trial.profile.max_position.bit_length()
    tokens = min(powers * len(_AROUND), trial.most_tokens(1))
    wide = [dim for dim in trial.profile.head_dims if dim >= usual.dim and dim <= _USUAL_WIDTH]
    one = dataclasses.replace(
        usual, batch=1, seq=tokens, heads=2, head_dim=max(wide, default=usual.head_dim)
    )
    return listed(dataclasses.replace(one, dtype=dtype) for dtype in trial.profile.dtypes)


_USUAL_WIDTH = 128


@check(
    "JDG-3.break",
    "Beyond some position the angle is another: it wraps, or a table ends there, where a class "
    "with fewer bits would allow anything.",
    space=Space(values=("normal",), positions=("arange",)),
)
@walks(_far_apart)
def no_break(trial: Trial, case: Case) -> Finding:
    """The error at one power of two of the position is not many times that at all before it."""
    powers = np.arange(case.limit.bit_length(), dtype=object)
    chosen = np.sort(np.array([2**k + j for k in powers for j in _AROUND], dtype=object))
    kept = np.array([m for m in chosen if 0 <= m <= case.limit], dtype=np.int64)
    positions = np.resize(kept, (1, case.seq))
    positions = np.broadcast_to(positions, (case.batch, case.seq)).copy()
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    exact = trial.expect(case, x, positions)
    length = np.hypot(exact.pairs.x1, exact.pairs.x2)
    first, second = pairs_of(y.astype(np.float64), case.convention)
    wanted = pairs_of(exact.y, case.convention)
    error = np.hypot(first - wanted[0], second - wanted[1]) / length
    worst = error.max(axis=(0, 2, 3))
    place = np.frexp(positions[0].astype(np.float64))[1]
    bits = sorted(set(place.tolist()))
    most = np.array([worst[place == bit].max() for bit in bits])
    noise = 4 * UNIT_ROUNDOFF[case.dtype]
    before = np.maximum.accumulate(np.maximum(most, noise))
    jumps = np.flatnonzero(~(most[1:] <= JUMP * before[:-1]))
    if not jumps.size:
        return held()
    at = int(jumps[0]) + 1
    token = int(np.argmax(np.where(place == bits[at], worst, -1.0)))
    message = (
        f"up to position {2 ** (bits[at] - 1) - 1} the angle is off by at most "
        f"{before[at - 1]:.2g}, and at {positions[0, token]} by {most[at]:.2g}: it breaks"
    )
    return broken(message, call=called(case, x, positions))
