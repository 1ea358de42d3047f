"""Checks of the laws of the rotation: identity, lengths, inverse, sums (ROT-10 to ROT-20)."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import first, places
from ropespec.conformance.checks.literally import literal_rotation
from ropespec.conformance.checks.rotation.common import (
    EVERYTHING,
    called,
    differentiable,
    negative_positions,
)
from ropespec.conformance.checks.rotation.walked import in_turn, walked
from ropespec.conformance.checks.shared import based
from ropespec.conformance.coverage.rows import inputs
from ropespec.conformance.judge.finding import Finding, compare, flushed, worst
from ropespec.conformance.judge.laws import rounding_allowed
from ropespec.conformance.judge.precision import keeps
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial
from ropespec.reference import rotation

__all__: list[str] = []


@check(
    "ROT-10.identity",
    "Positions start at 1, an offset is added, or the components come back in another order.",
    names=("F-158", "P-10"),
    space=Space(values=EVERYTHING, positions=("repeated",), max_position=1),
    every_dtype=True,
)
@walks(in_turn(EVERYTHING, every_dtype=True))
def identity(trial: Trial, case: Case) -> Finding:
    """f(x, 0) = x exactly: no rounding is forgiven but that of a class with fewer bits than x."""
    positions = np.zeros((case.batch, case.seq), dtype=np.int64)
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    message = "position 0 is not the identity"
    gain = float(case.frequencies.gain)
    if gain != 1.0 or not keeps(trial.loosest(case.dtype), case.dtype):
        return trial.judge(case, x, positions, y, message=message)
    call = called(case, x, positions)
    literal = literal_rotation(case, x, positions)
    exact = np.asarray(literal).astype(np.float64)  # x, bit for bit
    finding = compare(y, exact, trial.machine.flushed(case.dtype), message=message).after(call)
    if not finding.passed and trial.flushes(case, x, positions, y):
        return flushed(finding)
    return finding


@check(
    "ROT-11.norm",
    "The length of x changes: a gain, a lost term, or cos and sin of different angles.",
    names=("F-153", "P-11", "P-17"),
    space=Space(values=("normal", "heavy", "ones")),
)
@walks(in_turn(("normal", "heavy", "ones")))
def norm(trial: Trial, case: Case) -> Finding:
    """|f(x, m)| = |x| = |R_m x| at any position; pair by pair it is the business of DER-3."""
    positions = case.make_positions()
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    call = called(case, x, positions)
    bound = rounding_allowed(x, case.convention, trial.loosest(case.dtype), trial.machine)
    before, after = (np.linalg.norm(v.astype(np.float64), axis=-1) for v in (x, y))
    allowed = np.linalg.norm(bound, axis=-1) + 2.0**-48 * before
    message = "the length of x changes"
    kept = compare(after, before, allowed, name="length", message=message)
    at = places(case)[-1][:3]
    R = rotation.rotation_matrix(int(positions[at[:2]]), case.dim, **based(case, "interleaved"))
    wide = x[at].astype(np.float64)
    length = np.array([np.linalg.norm([*(R @ wide[: case.dim]), *wide[case.dim :]])])
    message = "the length of f(x, m) is not that of R_m x with the dense matrix"
    dense = compare(after[at][None], length, allowed[at], name="length", message=message)
    return first(kept, dense).after(call)


def _twice(
    trial: Trial,
    case: Case,
    x: NDArray[np.floating],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> tuple[NDArray[np.floating], NDArray[np.float64]]:
    """Rotate by `first`, then by `second`: the result, and the length of the error allowed of it.

    A rotation keeps the length of the error that came before, so the two lengths add.
    """
    middle = trial.rotate(case, x, first)
    middle = middle.astype(x.dtype)
    y = trial.rotate(case, middle, second)
    with np.errstate(invalid="ignore"):
        allowed = trial.length_allowed(case, x, first) + trial.length_allowed(case, middle, second)
    return y, allowed


def _apart(
    y: NDArray[np.floating], other: NDArray[np.floating], allowed: NDArray[np.float64], message: str
) -> Finding:
    """Compare two results by the length of their difference."""
    with np.errstate(invalid="ignore"):
        difference = np.linalg.norm(y.astype(np.float64) - other.astype(np.float64), axis=-1)
    zero = np.zeros_like(difference)
    return compare(difference, zero, allowed, name="length of the difference", message=message)


@check(
    "ROT-12.inverse",
    "Position -m does not undo position m: negative positions are clamped, or taken as unsigned.",
    names=("F-154", "P-18"),
    space=Space(positions=("arange", "ragged", "spread")),
    applies=negative_positions,
)
def inverse(trial: Trial, case: Case) -> Finding:
    """f(f(x, m), -m) = x."""
    positions = case.make_positions()
    x = case.make_x(positions)
    y, allowed = _twice(trial, case, x, positions, -positions)
    message = "position -m does not undo position m"
    return _apart(y, x, allowed, message).after(called(case, x, positions))


@check(
    "ROT-13.composition",
    "Rotating by a and then by b is not rotating by a+b.",
    names=("F-155", "F-159", "P-19"),
    space=Space(positions=("arange", "ragged", "repeated")),
)
@walks(in_turn(("normal",)))
def composition(trial: Trial, case: Case) -> Finding:
    """f(f(x, a), b) = f(x, a + b)."""
    limit = case.limit // 2
    a = np.clip(case.make_positions() // 2, -limit, limit)
    b = np.full_like(a, min(case.seed + 1, max(limit, 0)))
    x = case.make_x(a)
    y, allowed = _twice(trial, case, x, a, b)
    once = trial.rotate(case, x, a + b)
    message = "rotating by a, then by b, is not rotating by a+b"
    allowed = allowed + trial.length_allowed(case, x, a + b)
    return _apart(y, once, allowed, message).after(called(case, x, a + b))


@check(
    "ROT-15.linear",
    "The result is not linear in x: x is normalised, clipped, or rounded below its dtype.",
    names=("P-22",),
    space=Space(values=("normal", "ones")),
)
def linear(trial: Trial, case: Case) -> Finding:
    """f(x1 + x2, m) = f(x1, m) + f(x2, m) for x1 + x2 without rounding, and f(2x) = 2 f(x)."""
    positions = case.make_positions()
    x = case.make_x(positions)
    grid = np.round(x.astype(np.float64) * 8) / 8  # few bits, so that the sums are exact
    one = np.clip(grid, -4, 4)
    two = np.clip(np.roll(grid, 1, axis=-1), -4, 4)
    inputs = [part.astype(x.dtype) for part in (one, two, one + two, -2 * one)]
    y1, y2, y12, minus = (trial.rotate(case, part, positions).astype(np.float64) for part in inputs)
    call = called(case, inputs[2], positions)
    bounds = [
        rounding_allowed(part, case.convention, trial.loosest(case.dtype), trial.machine)
        for part in inputs
    ]
    sums = compare(y12, y1 + y2, bounds[0] + bounds[1] + bounds[2], message="f(a+b) != f(a)+f(b)")
    scaled = compare(minus, -2 * y1, 2 * bounds[0] + bounds[3], message="f(-2a) != -2 f(a)")
    return worst(sums.after(call), scaled.after(call))


@check(
    "ROT-20.gradient",
    "The gradient is not the rotation by the opposite angle, or a part of it is lost.",
    names=("P-18",),
    space=Space(values=("normal", "ones", "padded"), strided=True, numbers=True),
    applies=differentiable,
    every_dtype=True,
)
@walks(walked(values=("normal", "ones", "huge", "padded"), back=True))
def gradient(trial: Trial, case: Case) -> Finding:
    """The vector-Jacobian product of f(., m) is R_m^T = R_{-m}, of a token alone as well.

    The cotangent may be a strided view, as it is where the result was sliced or transposed.
    """
    x, positions = inputs(trial.profile, case)
    there = replace(case, strided=case.cotangent_view or case.strided)
    c, _ = inputs(trial.profile, there, seed=1)
    exact = trial.expect(case, c, -positions)
    allowed = exact.allowed(trial.loosest(case.dtype), trial.machine)

    def taken(at: NDArray[Any]) -> NDArray[Any]:
        sent, views = positions.astype(case.integers), (case.strided, there.strided)
        return trial.rotate_vjp(case, at, sent, c, strided=views[0], strided_cotangent=views[1])

    got = taken(x)
    message = "the gradient is not R_m^T c"
    finding = compare(got, exact.y, allowed, name="gradient", message=message)
    if not finding.passed and case.values == "padded":
        usual, _ = inputs(trial.profile, replace(case, values="normal"))
        if compare(taken(usual), exact.y, allowed).passed:
            message = "the gradient depends on x: it is not R_m^T c where vectors of x are zero"
            finding = replace(finding, message=message)
    if not finding.passed and _is_own(trial, case, positions, c, got):
        finding = replace(finding, general=True)
    return finding.after(called(case, x, positions))


def _is_own(
    trial: Trial,
    case: Case,
    positions: NDArray[np.int64],
    cotangent: NDArray[Any],
    gradient: NDArray[Any],
) -> bool:
    """Whether a function that is not the rotation has its own gradient: <c, f(v)> = <J^T c, v>."""
    normal = np.random.default_rng(case.seed).standard_normal(cotangent.shape)
    v = normal.astype(cotangent.dtype)
    y = trial.rotate(case, v, positions).astype(np.float64)
    off, lost = trial.allowed(case, v, positions), trial.allowed(case, cotangent, -positions)
    if compare(y, trial.expect(case, v, positions).y, off).passed:
        return False
    given, taken = cotangent.astype(np.float64), v.astype(np.float64)
    there, back = given * y, gradient.astype(np.float64) * taken
    allowed = (np.abs(given) * off).sum() + (np.abs(taken) * lost).sum()
    allowed += 2.0**-52 * v.size * (np.abs(there).sum() + np.abs(back).sum())
    return bool(abs(there.sum() - back.sum()) <= allowed)
