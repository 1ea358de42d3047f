"""Checks of angles, cosines and sines (FREQ-6 to FREQ-9)."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import FEW, Forms, printed
from ropespec.conformance.checks.literally import literal_frequencies
from ropespec.conformance.checks.rotation.common import (
    EVERYTHING,
    as_i,
    columns,
)
from ropespec.conformance.checks.rotation.walked import usual_alone
from ropespec.conformance.checks.shared import LITERAL, NEAR, based, beside, places, rules
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.bounds import Rules
from ropespec.conformance.judge.budget import angle_error
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, worst
from ropespec.conformance.judge.laws import rounding_allowed
from ropespec.conformance.judge.precision import UNIT_ROUNDOFF
from ropespec.conformance.registry import check, walks
from ropespec.conformance.trial import Trial
from ropespec.reference import frequencies as literal
from ropespec.spec.convention import Frequencies

__all__: list[str] = []

Float = NDArray[np.float64]


def table_allowed(positions: NDArray[np.int64], dim: int, of: Frequencies, given: Rules) -> Float:
    """Bound the error of cos and sin of shape positions.shape + (dim/2,)."""
    theta = oracle.frequencies(dim, of)
    magnitude = np.abs(positions.astype(np.float64))[..., None]
    off = angle_error(
        given.precision.angle, magnitude, theta, arithmetic=given.dtype, machine=given.machine
    )
    return np.minimum(off, 2.0) + sum(given.table_error) + oracle.ORACLE_ERROR


@check(
    "FREQ-6.forms",
    "One integer, a list of them or an empty one are other positions than an array of them.",
    needs=("angles",),
    names=("F-019",),
    space=Space(positions=("arange", "negative"), max_position=2**20),
    share=FEW,
)
def position_forms(trial: Trial, case: Case) -> Finding:
    """A Python integer and nested lists, which the reference takes, are positions of arrays."""
    positions, theta = case.make_positions(), _theta(trial, case)
    findings = []
    for where, written in (
        (positions, positions.tolist()),
        (positions[:1, 0], [int(positions[0, 0])]),
        (positions[0, 0], int(positions[0, 0])),
        *([(positions[:0, 0], [])] if trial.profile.empty else []),
    ):
        expected = literal.angles(written, theta)
        findings.append(_products(trial, np.asarray(where), theta, expected))
    return worst(*findings)


@check(
    "FREQ-7.value",
    "The angles are not positions times inv_freq, or the axes are swapped.",
    needs=("angles",),
    names=("F-017",),
    space=Space(max_position=2**20),
    every_dtype=True,
)
def angles(trial: Trial, case: Case) -> Finding:
    """m * theta_i, one product each."""
    positions = case.make_positions()
    theta = _theta(trial, case)
    exact = positions.astype(np.float64)[..., None] * theta.astype(np.float64)
    return _products(trial, positions, theta, exact)


@check(
    "FREQ-7.reference",
    "The angles agree with the judge but not with the formula as the documents print it.",
    needs=("angles",),
    names=("F-017", "P-47"),
    space=Space(max_position=2**20),
    share=FEW,
)
def angles_reference(trial: Trial, case: Case) -> Finding:
    """Angles equal those of the literal NumPy reference."""
    positions, theta = case.make_positions(), _theta(trial, case)
    return _products(trial, positions, theta, literal.angles(positions, theta))


def _theta(trial: Trial, case: Case) -> NDArray[np.floating]:
    """Return frequencies in a dtype that the framework has."""
    dtype = "float64" if trial.profile.framework.has_float64 else "float32"
    return oracle.frequencies(case.head_dim, case.frequencies).astype(dtype)


def _products(
    trial: Trial, positions: NDArray[np.int64], theta: NDArray[np.floating], expected: Float
) -> Finding:
    reply = trial.call("angles", (positions, theta))
    unit = UNIT_ROUNDOFF[reply.dtypes[0]]
    # One rounding of the product, and one of a position too large for the dtype.
    finding = compare(reply.values[0], expected, 2.01 * unit * np.abs(expected), name="angles")
    return finding.after(Call("angles", (positions, theta)))


@check(
    "FREQ-8.twice",
    "The two members of a pair are rotated by different angles: a table of the other layout.",
    names=("F-018", "E-10", "P-17"),
    space=Space(values=("normal",), positions=("repeated",), min_dim=4),
)
def twice(trial: Trial, case: Case) -> Finding:
    """Unit vectors stay orthonormal: they would not if a pair met two different angles."""

    def bound(x: NDArray[Any], _: NDArray[np.int64]) -> Float:
        each = rounding_allowed(x, case.convention, trial.loosest(case.dtype), trial.machine)
        return np.asarray(np.linalg.norm(each, axis=-1))

    rotated, off, call = columns(trial, case, case.make_positions()[0, 0], bound)
    allowed = off[:, None] + off + off[:, None] * off + 2.0**-46
    message = "unit vectors do not stay orthonormal: a pair meets two different angles"
    return compare(
        rotated @ rotated.T, np.eye(case.dim), allowed, name="R R^T", message=message
    ).after(call)


@printed(
    "FREQ-8.forms",
    "The table lists an angle for the other layout, or doubles its value instead of listing it.",
    names=("F-018", "E-10", "P-39"),
)
def listed_twice(trial: Trial, case: Case) -> Finding:
    """x cos a + (i x) sin a is what comes back, a = m theta_i listed for both members of a pair."""
    positions = case.make_positions()
    x = case.make_x(positions)
    found = beside(trial, case, x, positions)
    angle = literal.angles(positions, literal_frequencies(case))
    name = f"duplicate_{case.convention.pairing.value}"
    twice = getattr(literal, name)(angle)[..., np.newaxis, :]
    wide = x.astype(np.float64)
    made = wide[..., : case.dim] * np.cos(twice) + as_i(wide, case)[..., : case.dim] * np.sin(twice)
    made = float(case.frequencies.gain) * made
    seen = Forms("a rotated vector", found.call)
    part = np.s_[..., : case.dim]
    seen.add(f"frequencies.{name}", found.y[part], made, found.exact.allowed[part])
    return seen.finding()


@check(
    "FREQ-9.value",
    "cos and sin are swapped, made from rounded angles, or lose accuracy with the position.",
    needs=("cos_sin",),
    names=("P-06",),
    share=2.0,
    every_dtype=True,
)
def cos_sin(trial: Trial, case: Case) -> Finding:
    """Cos and sin of m theta_i, at any position."""
    positions = case.make_positions()
    exact = oracle.cos_sin(positions, case.head_dim, case.frequencies)
    return _both_tables(trial, case, positions, exact)


@check(
    "FREQ-9.every",
    "A position, such as -1 for padding, is an exception in a table.",
    needs=("cos_sin",),
    names=("P-06",),
)
@walks(usual_alone)
def every_place(trial: Trial, case: Case) -> Finding:
    """Small positions of both signs and those beside powers of two, in one row."""
    positions = places(trial, case)
    exact = oracle.cos_sin(positions, case.head_dim, case.frequencies)
    return _both_tables(trial, case, positions, exact)


@check(
    "FREQ-9.reference",
    "cos and sin agree with the judge but not with the formula as the documents print it.",
    needs=("cos_sin",),
    names=("F-198", "P-47"),
    space=Space(max_position=NEAR),
    share=FEW,
)
def cos_sin_reference(trial: Trial, case: Case) -> Finding:
    """Cos and sin equal those of the literal NumPy reference."""
    positions = case.make_positions()
    exact = literal.cos_sin(positions, case.head_dim, **based(case))
    own = table_allowed(positions, case.head_dim, case.frequencies, LITERAL)
    return _both_tables(trial, case, positions, exact, own)


def _both_tables(
    trial: Trial,
    case: Case,
    positions: NDArray[np.int64],
    expected: tuple[Float, Float],
    more: Float | float = 0.0,
) -> Finding:
    """Compare both tables; `more` is what the expected values may be off by."""
    keywords = case.only("base")
    reply = trial.call("cos_sin", (positions, case.head_dim), keywords)
    call = Call("cos_sin", (positions, case.head_dim), keywords)
    if len(reply.values) != 2:
        return broken(f"cos_sin gives {len(reply.values)} arrays; expected cos and sin", call=call)
    findings = []
    own = rules(trial, reply.dtypes[0])
    allowed = table_allowed(positions, case.head_dim, case.frequencies, own)
    for name, got, wanted in zip(("cos", "sin"), reply.values, expected, strict=True):
        findings.append(compare(got, wanted, allowed + more, name=name))
    return worst(*findings).after(call)


@check(
    "FREQ-9.addition",
    "cos and sin belong to different angles: the addition formulas fail.",
    needs=("cos_sin",),
    names=("F-112", "P-48"),
    space=Space(positions=("arange", "ragged", "spread")),
)
def addition(trial: Trial, case: Case) -> Finding:
    """cos(a+b) = cos a cos b - sin a sin b, sin(a+b) = sin a cos b + cos a sin b, and for a-b."""
    dim, keywords = case.head_dim, case.only("base")
    limit = max(case.limit // 2, 1)
    a = np.clip(case.make_positions() // 2, 0, limit)
    b = np.minimum(np.full_like(a, case.seed % 50), a)
    calls = {
        name: trial.call("cos_sin", (where, dim), keywords)
        for name, where in (("a", a), ("b", b), ("sum", a + b), ("difference", a - b))
    }
    own = rules(trial, calls["a"].dtypes[0])
    parts = {name: [v.astype(np.float64) for v in reply.values] for name, reply in calls.items()}
    bound = {
        name: table_allowed(where, dim, case.frequencies, own)
        for name, where in (("a", a), ("b", b), ("sum", a + b), ("difference", a - b))
    }
    (ca, sa), (cb, sb) = parts["a"], parts["b"]
    carried = 2 * (bound["a"] + bound["b"] + bound["a"] * bound["b"])
    findings = []
    for name, sign in (("sum", 1.0), ("difference", -1.0)):
        c, s = parts[name]
        allowed = carried + bound[name]
        label = "a+b" if sign > 0 else "a-b"
        findings.append(compare(c, ca * cb - sign * sa * sb, allowed, name=f"cos({label})"))
        findings.append(compare(s, sa * cb + sign * ca * sb, allowed, name=f"sin({label})"))
    return worst(*findings).after(Call("cos_sin", (a + b, dim), keywords))


@check(
    "FREQ-9.far",
    "The angle is a float32 product: far from zero the rotation is noise.",
    space=Space(values=EVERYTHING, positions=("spread", "arange")),
    applies=lambda trial: (
        None if trial.profile.precision == "float64-angles" else "float64-angles not claimed"
    ),
    share=2.0,
)
def far(trial: Trial, case: Case) -> Finding:
    """The rotation is as accurate at the largest position claimed as near zero."""
    moved = replace(case, start=max(case.limit - case.seq - case.seed, 0))
    return trial.rotate_and_judge(moved, message="the rotation loses accuracy far from zero")
