"""Checks of what the derivation finds: blocks, moduli, arguments, the solution (DER-1 to DER-5)."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.rotation.common import called
from ropespec.conformance.checks.shared import NEAR
from ropespec.conformance.judge.finding import Finding, broken, compare, worst
from ropespec.conformance.judge.laws import pair_lengths
from ropespec.conformance.judge.rotation import pairs_of
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial

__all__: list[str] = []

Float = NDArray[np.float64]
Complex = NDArray[Any]


NEAR_SPACE = Space(values=("normal", "ones"), max_position=NEAR)


def _rotated(
    trial: Trial, case: Case, positions: NDArray[np.int64], seed: int = 0
) -> tuple[Complex, Complex, Float]:
    """Return the pairs before and after as complex numbers, and the error allowed of the latter."""
    x = case.make_x(positions, seed=seed)
    y = trial.rotate(case, x, positions)
    exact = trial.expect(case, x, positions)
    allowed = exact.allowed(trial.loosest(case.dtype), trial.machine)
    b1, b2 = pairs_of(allowed, case.convention)
    return _complex(x, case), _complex(y, case), np.asarray(np.hypot(b1, b2))


def _complex(x: NDArray[np.floating], case: Case) -> Complex:
    first, second = pairs_of(x.astype(np.float64), case.convention)
    return np.asarray(first + 1j * second)


@check(
    "DER-1.blocks",
    "R_m^T R_n is not R_{n-m}: the blocks of q and k rotate by different rules.",
    names=("F-165", "F-166", "F-167", "P-20"),
    space=NEAR_SPACE,
    general=True,
)
def blocks(trial: Trial, case: Case) -> Finding:
    """M_i(m)^T M_i(n) = M_i(n-m), read off the rotated pairs: conj(f(1, m)) f(1, n) = f(1, n-m)."""
    m = np.abs(case.make_positions()) % (case.limit // 2 + 1)
    n = np.minimum(m + case.seed, case.limit)
    values, bounds = [], []
    for positions in (m, n, n - m):
        x = np.zeros(case.shape)
        pairs_of(x, case.convention)[0][...] = 1.0
        x = x.astype(case.numpy_dtype)
        y = trial.rotate(case, x, positions)
        call = called(case, x, positions)
        allowed = trial.expect(case, x, positions).allowed(trial.loosest(case.dtype), trial.machine)
        b1, b2 = pairs_of(allowed, case.convention)
        values.append(_complex(y, case))
        bounds.append(np.hypot(b1, b2))
    product = np.conj(values[0]) * values[1]
    allowed = bounds[0] + bounds[1] + bounds[0] * bounds[1] + bounds[2]
    return compare(
        product, values[2], allowed, name="block", message="R_m^T R_n is not R_{n-m}"
    ).after(call)


@check(
    "DER-2.equations",
    "Modulus or angle of f(q,m) f(k,n)^* depends on more than q, k and m-n.",
    names=("F-168", "F-169", "F-170", "P-33"),
    space=NEAR_SPACE,
    general=True,
)
def equations(trial: Trial, case: Case) -> Finding:
    """f(q, m) f(k, n)^* = q k^* e^{i(m-n) theta}: R_f R_f = R_g and Theta_f - Theta_f = Theta_g."""
    m = np.abs(case.make_positions()) % (case.limit + 1)
    n = (m + case.seed) % (case.limit + 1)
    q, fq, bq = _rotated(trial, case, m)
    k, fk, bk = _rotated(trial, case, n, seed=1)
    x = case.make_x(m)
    exact = trial.expect(case, x, m - n)
    unit = exact.pairs.cos + 1j * exact.pairs.sin
    allowed = np.abs(q) * bk + np.abs(k) * bq + bq * bk + 2.0**-50 * np.abs(q * k)
    return compare(
        fq * np.conj(fk),
        q * np.conj(k) * unit,
        allowed,
        name="g",
        message="f(q,m) f(k,n)^* is not q k^* e^{i(m-n) theta}",
    ).after(called(case, x, m))


@check(
    "DER-3.modulus",
    "The modulus of f(q, m) is not that of q.",
    names=("F-172", "P-32"),
    space=NEAR_SPACE,
    general=True,
)
def modulus(trial: Trial, case: Case) -> Finding:
    """R_f(q, m) = |q| for every pair."""
    positions = case.make_positions()
    x = case.make_x(positions)
    _, rotated, allowed = _rotated(trial, case, positions)
    before = pair_lengths(x, case.convention)
    return compare(
        np.abs(rotated), before, allowed, name="modulus", message="the modulus of a pair changes"
    ).after(called(case, x, positions))


@check(
    "DER-4.progression",
    "phi(m) is no arithmetic progression through 0: the angle jumps, saturates or is scaled.",
    names=("F-176", "F-178", "F-179", "E-51", "P-32"),
    space=NEAR_SPACE,
    general=True,
)
def progression(trial: Trial, case: Case) -> Finding:
    """phi(0) = 0 and f(q, m) f(q, m-1)^* = |q|^2 e^{i theta} for every m."""
    m = np.abs(case.make_positions()) % case.limit + 1
    x = case.make_x(m)
    q, here, bound_here = _rotated(trial, case, m)
    before = trial.rotate(case, x, m - 1)
    origin = trial.rotate(case, x, np.zeros_like(m))
    loosest = trial.loosest(case.dtype)
    bounds = []
    for positions in (m - 1, np.zeros_like(m)):
        b = trial.expect(case, x, positions).allowed(loosest, trial.machine)
        bounds.append(np.hypot(*pairs_of(b, case.convention)))
    step = trial.expect(case, x, np.ones_like(m)).pairs
    wanted = np.abs(q) ** 2 * (step.cos + 1j * step.sin)
    size = np.abs(q)
    allowed = size * (bound_here + bounds[0]) + bound_here * bounds[0] + 2.0**-50 * size**2
    steps = compare(
        here * np.conj(_complex(before, case)),
        wanted,
        allowed,
        name="step",
        message="phi(m) - phi(m-1) is not theta",
    )
    zero = compare(
        _complex(origin, case),
        q,
        bounds[1] + 2.0**-50 * size,
        name="f(q,0)",
        message="phi(0) is not 0",
    )
    return worst(steps, zero).after(called(case, x, m))


@check(
    "DER-5.solution",
    "The solution q e^{ⅈmθ} holds for one pair but not for all d/2 of them.",
    names=("F-181", "F-182", "P-32"),
    space=dataclasses.replace(NEAR_SPACE, min_dim=4),
    general=True,
)
def solution(trial: Trial, case: Case) -> Finding:
    """f(q, m) = q e^{i m theta_i} in every pair; a message names the first pair that does not."""
    positions = case.make_positions()
    x = case.make_x(positions)
    y = trial.rotate(case, x, positions)
    finding = trial.judge(case, x, positions, y)
    if finding.passed or y.shape != x.shape:
        return finding
    exact = trial.expect(case, x, positions)
    ratios = exact.ratios(y, trial.loosest(case.dtype), trial.machine)
    r1, r2 = pairs_of(ratios, case.convention)
    pairs = np.flatnonzero(np.maximum(r1, r2).max(axis=(0, 1, 2)) > 1.0)
    if pairs.size == 0:
        return broken("a component outside the pairs changes", call=finding.call)
    message = f"pair {int(pairs[0])} of {case.dim // 2} is not q e^(i m theta)"
    return Finding(
        finding.ratio,
        message,
        finding.where,
        finding.expected,
        finding.got,
        finding.budget,
        finding.call,
    )
