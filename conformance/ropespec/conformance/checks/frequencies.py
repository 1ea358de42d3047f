"""Checks of the chapter `frequencies`: dimension, inv_freq, angles, positions, cos and sin."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import FEW, NEAR_SPACE, Forms
from ropespec.conformance.checks.rotation.common import (
    EVERYTHING,
    as_i,
    basis,
    called,
    negative_positions,
)
from ropespec.conformance.checks.shared import LITERAL, NEAR, based, beside
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.budget import Machine, angle_error
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, held, worst
from ropespec.conformance.judge.laws import rounding_allowed
from ropespec.conformance.judge.precision import UNIT_ROUNDOFF, Precision
from ropespec.conformance.registry import check
from ropespec.conformance.subject.session import SubjectRaised
from ropespec.conformance.trial import Trial
from ropespec.reference import frequencies as literal

__all__ = ["table_allowed"]

Float = NDArray[np.float64]

EXACT = 2**53
"""Positions below which neighbours are two numbers in float64."""


def inv_freq_allowed(dim: int, base: float, dtype: str, machine: Machine) -> Float:
    """Bound the error of inv_freq in `dtype`: (1 + k + 3t) u theta, t = (2i/d) ln base.

    A rounded power and a reciprocal cost 1 + k; a rounded exponent 2i/d or a rounded ln base
    costs t each in the exponential forms.
    """
    theta = oracle.frequencies(dim, base)
    unit = UNIT_ROUNDOFF[dtype]
    power = machine.power if dtype == "float32" else 4.0
    return (1 + power + 3 * -np.log(theta)) * unit * theta


def table_allowed(
    positions: NDArray[np.int64],
    dim: int,
    base: float,
    precision: Precision,
    dtype: str,
    machine: Machine,
) -> Float:
    """Bound the error of cos and sin of shape positions.shape + (dim/2,) returned in `dtype`."""
    theta = oracle.frequencies(dim, base)
    magnitude = np.abs(positions.astype(np.float64))[..., None]
    off = angle_error(precision.angle, magnitude, theta, arithmetic=dtype, machine=machine)
    unit = UNIT_ROUNDOFF[dtype]
    absolute = 2.0**-21 if precision.angle == "fast" else 0.0
    return np.minimum(off, 2.0) + machine.trigonometry * unit + absolute + oracle.ORACLE_ERROR


@check(
    "FREQ-1",
    "even",
    "An odd or empty dimension gives a vector instead of an error.",
    needs=("inv_freq",),
    names=("F-020", "E-44", "P-46"),
    applies=lambda trial: None if trial.profile.refusals else "refusals not claimed",
)
def even(trial: Trial, case: Case) -> Finding:
    """inv_freq refuses odd d, d < 2 and what is no integer."""
    wrong = (case.head_dim + 1, 0, -case.head_dim, float(case.head_dim))[case.seed % 4]
    try:
        reply = trial.call("inv_freq", (wrong,))
    except SubjectRaised as error:
        if error.message.startswith("dim must be"):
            return held()
        return broken(f"dim = {wrong} raises {error.type_name}: {error.message}")
    return broken(
        f"dim = {wrong} gives an array of shape {reply.values[0].shape}",
        call=Call("inv_freq", (wrong,)),
    )


@check(
    "FREQ-2",
    "value",
    "Base, exponent, index or denominator of the frequencies is wrong.",
    needs=("inv_freq",),
    names=("F-001", "F-005", "F-015", "E-23", "E-26", "E-34", "E-45", "P-01"),
)
def inv_freq(trial: Trial, case: Case) -> Finding:
    """theta_i = base^(-2i/d)."""
    keywords = {"base": case.base}
    reply = trial.call("inv_freq", (case.head_dim,), keywords)
    exact = oracle.frequencies(case.head_dim, case.base)
    allowed = inv_freq_allowed(case.head_dim, case.base, reply.dtypes[0], trial.machine)
    finding = compare(reply.values[0], exact, allowed, name="inv_freq")
    return finding.after(Call("inv_freq", (case.head_dim,), keywords))


@check(
    "FREQ-2",
    "reference",
    "The frequencies agree with the judge but not with the formula as the documents print it.",
    needs=("inv_freq",),
    names=("F-001", "P-47"),
    share=FEW,
)
def inv_freq_reference(trial: Trial, case: Case) -> Finding:
    """Inv_freq equals that of the literal NumPy reference."""
    literal_form = literal.inv_freq(case.head_dim, **based(case.base))
    return _agrees(trial, case, [literal_form])


def _speeds(trial: Trial, case: Case, steps: int) -> tuple[Float, Float, Call]:
    """Cosine of the angle between f(e_j, 1 + steps) and f(e_j, 1), for every turning component j.

    Neither the pairing, nor the direction, nor an offset of the positions changes it.
    Returns the cosines and the error allowed of them.
    """
    shape = (1, case.dim, 1, case.head_dim)
    x = np.zeros(shape)
    x[0, np.arange(case.dim), 0, np.arange(case.dim)] = 1.0
    x = x.astype(case.numpy_dtype)
    turned, bounds = [], []
    for m in (1, 1 + steps):
        positions = np.full(shape[:2], m, dtype=np.int64)
        y = trial.rotate(case, x, positions)
        call = called(case, x, positions)
        turned.append(y[0, :, 0].astype(np.float64))
        bounds.append(trial.length_allowed(case, x, positions)[0, :, 0])
    cosines = (turned[0] * turned[1]).sum(axis=-1)
    return cosines, bounds[0] + bounds[1] + bounds[0] * bounds[1], call


@check(
    "FREQ-2",
    "read-off",
    "The pairs turn by other angles per position than base^(-2i/rotary_dim).",
    names=("F-001", "E-26", "E-45", "P-01"),
    space=Space(positions=("repeated",), max_position=1),
)
def read_off(trial: Trial, case: Case) -> Finding:
    """Between positions 1 and 1 + s the pairs turn by s theta_i, whichever pair is where."""
    limit = min(case.limit if case.limit > 1 else trial.profile.max_position, NEAR) - 1
    steps = max(1, min(2 ** (case.seed % 12), limit))
    got, allowed, call = _speeds(trial, case, steps)
    theta = oracle.frequencies(case.dim, case.base)
    wanted = np.sort(np.repeat(np.cos(steps * theta), 2))
    message = f"between positions 1 and {1 + steps} the pairs do not turn by {steps} * theta_i"
    worst_bound = np.full_like(wanted, allowed.max())
    return compare(np.sort(got), wanted, worst_bound, name="cos", message=message).after(call)


@check(
    "FREQ-3",
    "conventions",
    "The frequencies are those of another index: from 1, or of step 2 taken twice.",
    needs=("inv_freq",),
    names=("F-002", "F-003", "F-004", "F-011", "F-012", "E-36", "P-02"),
)
def conventions(trial: Trial, case: Case) -> Finding:
    """theta_1, ..., theta_{d/2} and theta_0, theta_2, ..., theta_{d-2} are what is returned."""
    dim, base = case.head_dim, based(case.base)
    one_based, step2 = literal.theta_one_based(dim, **base), literal.theta_step2(dim, **base)
    labels = literal.even_indices(dim).tolist()
    if len(one_based) != len(step2) or len(step2) != len(labels):
        raise ValueError("the labels of the reference are not those of dim/2 frequencies")
    forms = [[one_based[j // 2 + 1] for j in labels], [step2[j] for j in labels]]
    return _agrees(trial, case, [np.array(form) for form in forms])


@check(
    "FREQ-4",
    "code-forms",
    "The code form is another function: a logarithm to another base, or a lost minus.",
    needs=("inv_freq",),
    names=(
        *("F-006", "F-007", "F-008", "F-009", "F-010", "F-013", "F-014", "E-37", "P-02", "P-03"),
    ),
)
def code_forms(trial: Trial, case: Case) -> Finding:
    """The four code lines of the documents, and e^(x ln a), give the vector that is returned."""
    lines = (literal.theta_from_arange, literal.theta_llama, literal.theta_pow, literal.div_term)
    forms = [form(case.head_dim, **based(case.base)) for form in lines]
    exponents = -2 * np.arange(case.head_dim // 2) / case.head_dim
    return _agrees(trial, case, [*forms, literal.pow_via_exp(case.base, exponents)])


def _agrees(trial: Trial, case: Case, forms: list[Float]) -> Finding:
    dim, keywords = case.head_dim, {"base": case.base}
    reply = trial.call("inv_freq", (dim,), keywords)
    own = inv_freq_allowed(dim, case.base, reply.dtypes[0], trial.machine)
    theirs = inv_freq_allowed(dim, case.base, "float64", Machine())
    findings = [compare(reply.values[0], form, own + theirs, name="inv_freq") for form in forms]
    return worst(*findings).after(Call("inv_freq", (dim,), keywords))


@check(
    "FREQ-5",
    "order",
    "The frequencies are reversed or rotated: the first pair is not the fastest.",
    names=("F-021", "P-41"),
    space=Space(positions=("repeated",), max_position=1, min_dim=4),
)
def order(trial: Trial, case: Case) -> Finding:
    """Component 0 turns by 1 radian per position, the last one by base^(-(d-2)/d)."""
    got, allowed, call = _speeds(trial, case, 1)
    theta = literal.inv_freq(case.dim, **based(case.base))  # within 1e-15, below what is allowed
    ends = [0, -1]
    return compare(
        got[ends],
        np.cos(theta[ends]),
        allowed[ends],
        name="cos",
        message="the first pair is not the fastest, or the last not the slowest",
    ).after(call)


@check(
    "FREQ-6",
    "neighbours",
    "Neighbouring positions give the same angle: positions are rounded to few bits.",
    names=("F-019",),
    space=Space(values=("normal",), positions=("arange",)),
    share=2.0,
)
def neighbours(trial: Trial, case: Case) -> Finding:
    """The fastest pair turns by 1 radian between m and m + 1, also around powers of two."""
    powers = [2**n for n in range(3, 63) if 2**n + 2 < case.limit]
    m = (powers[case.seed % len(powers)] if powers else 1) - case.start % 2
    x = basis(case, 0)
    turned, bounds = [], []
    for position in (m, m + 1):
        positions = np.full((case.batch, case.seq), position, dtype=np.int64)
        y = trial.rotate(case, x, positions)
        call = called(case, x, positions)
        turned.append(y.astype(np.float64))
        bounds.append(trial.length_allowed(case, x, positions))
    cosine = (turned[0] * turned[1]).sum(axis=-1)
    allowed = bounds[0] + bounds[1] + bounds[0] * bounds[1]
    message = f"positions {m} and {m + 1} are not one radian apart in the fastest pair"
    step = 1.0
    if m < EXACT:
        here, there = literal.angles([m, m + 1], literal.inv_freq(2))
        step = float((there - here)[0])
    wanted = np.full(cosine.shape, np.cos(step))
    return compare(cosine, wanted, allowed, name="cos", message=message).after(call)


@check(
    "FREQ-6",
    "negative",
    "Negative positions are clamped, wrapped as unsigned, or taken without their sign.",
    names=("F-019",),
    space=Space(values=("normal",), positions=("arange", "ragged", "spread")),
    applies=negative_positions,
)
def negative(trial: Trial, case: Case) -> Finding:
    """<f(q, -m), f(k, 0)> = <f(q, 0), f(k, m)>: only the difference counts, below zero too."""
    positions = np.maximum(case.make_positions(), 1)
    zero = np.zeros_like(positions)
    q, k = case.make_x(positions), case.make_x(positions, seed=1)
    vectors, lengths, bounds = [], [], []
    for x, where in ((q, -positions), (k, zero), (q, zero), (k, positions)):
        y = trial.rotate(case, x, where)
        vectors.append(y.astype(np.float64))
        lengths.append(np.linalg.norm(x.astype(np.float64), axis=-1))
        bounds.append(trial.length_allowed(case, x, where))
    call = called(case, q, -positions)
    left, right = ((vectors[i] * vectors[i + 1]).sum(axis=-1) for i in (0, 2))
    allowed = sum(
        lengths[i] * bounds[i + 1] + lengths[i + 1] * bounds[i] + bounds[i] * bounds[i + 1]
        for i in (0, 2)
    )
    slack = 2.0**-44 * np.abs(vectors[2] * vectors[3]).sum(axis=-1)
    message = "position -m against 0 is not position 0 against m"
    return compare(left, right, allowed + slack, name="score", message=message).after(call)


@check(
    "FREQ-6",
    "forms",
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
        (positions[:0, 0], []),
    ):
        expected = literal.angles(written, theta)
        findings.append(_products(trial, np.asarray(where), theta, expected))
    return worst(*findings)


@check(
    "FREQ-7",
    "value",
    "The angles are not positions times inv_freq, or the axes are swapped.",
    needs=("angles",),
    names=("F-017",),
    space=Space(max_position=2**20),
)
def angles(trial: Trial, case: Case) -> Finding:
    """m * theta_i, one product each."""
    positions = case.make_positions()
    theta = _theta(trial, case)
    exact = positions.astype(np.float64)[..., None] * theta.astype(np.float64)
    return _products(trial, positions, theta, exact)


@check(
    "FREQ-7",
    "reference",
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
    dtype = "float32" if trial.profile.array == "jax" else "float64"
    return oracle.frequencies(case.head_dim, case.base).astype(dtype)


def _products(
    trial: Trial, positions: NDArray[np.int64], theta: NDArray[np.floating], expected: Float
) -> Finding:
    reply = trial.call("angles", (positions, theta))
    unit = UNIT_ROUNDOFF[reply.dtypes[0]]
    # One rounding of the product, and one of a position too large for the dtype.
    finding = compare(reply.values[0], expected, 2.01 * unit * np.abs(expected), name="angles")
    return finding.after(Call("angles", (positions, theta)))


@check(
    "FREQ-8",
    "twice",
    "The two members of a pair are turned by different angles: a table of the other layout.",
    names=("F-018", "E-10", "P-17"),
    space=Space(values=("normal",), positions=("repeated",), min_dim=4),
)
def twice(trial: Trial, case: Case) -> Finding:
    """Unit vectors stay orthonormal: they would not if a pair met two different angles."""
    x = np.zeros((1, case.dim, 1, case.head_dim))
    x[0, np.arange(case.dim), 0, np.arange(case.dim)] = 1.0
    positions = np.full(x.shape[:2], case.make_positions()[0, 0], dtype=np.int64)
    x = x.astype(case.numpy_dtype)
    y = trial.rotate(case, x, positions)
    call = called(case, x, positions)
    bound = rounding_allowed(
        x, case.dim, trial.loosest(case.dtype), trial.machine, interleaved=case.interleaved
    )
    turned = y[0, :, 0].astype(np.float64)
    off = np.linalg.norm(bound[0, :, 0], axis=-1)
    allowed = off[:, None] + off + off[:, None] * off + 2.0**-46
    message = "unit vectors do not stay orthonormal: a pair meets two different angles"
    return compare(
        turned @ turned.T, np.eye(case.dim), allowed, name="R R^T", message=message
    ).after(call)


@check(
    "FREQ-8",
    "forms",
    "The table lists an angle for the other layout, or doubles its value instead of listing it.",
    names=("F-018", "E-10", "P-39"),
    space=NEAR_SPACE,
    share=FEW,
    general=True,
)
def listed_twice(trial: Trial, case: Case) -> Finding:
    """x cos a + (i x) sin a is what comes back, a = m theta_i listed for both members of a pair."""
    positions = case.make_positions()
    x = case.make_x(positions)
    found = beside(trial, case, x, positions)
    angle = literal.angles(positions, literal.inv_freq(case.dim, **based(case.base)))
    name = "duplicate_interleaved" if case.interleaved else "duplicate_half"
    twice = getattr(literal, name)(angle)[..., np.newaxis, :]
    wide = x.astype(np.float64)
    made = wide[..., : case.dim] * np.cos(twice) + as_i(wide, case)[..., : case.dim] * np.sin(twice)
    seen = Forms("a rotated vector", found.call)
    part = np.s_[..., : case.dim]
    seen.add(f"frequencies.{name}", found.y[part], made, found.exact.allowed[part])
    return seen.finding()


@check(
    "FREQ-9",
    "value",
    "cos and sin are swapped, made from rounded angles, or lose accuracy with the position.",
    needs=("cos_sin",),
    names=("P-06",),
    share=2.0,
)
def cos_sin(trial: Trial, case: Case) -> Finding:
    """Cos and sin of m theta_i, at any position."""
    positions = case.make_positions()
    exact = oracle.cos_sin(positions, case.head_dim, case.base)
    return _both_tables(trial, case, positions, exact)


@check(
    "FREQ-9",
    "reference",
    "cos and sin agree with the judge but not with the formula as the documents print it.",
    needs=("cos_sin",),
    names=("F-198", "P-47"),
    space=Space(max_position=NEAR),
    share=FEW,
)
def cos_sin_reference(trial: Trial, case: Case) -> Finding:
    """Cos and sin equal those of the literal NumPy reference."""
    positions = case.make_positions()
    exact = literal.cos_sin(positions, case.head_dim, **based(case.base))
    own = table_allowed(positions, case.head_dim, case.base, *LITERAL)
    return _both_tables(trial, case, positions, exact, own)


def _both_tables(
    trial: Trial,
    case: Case,
    positions: NDArray[np.int64],
    expected: tuple[Float, Float],
    more: Float | float = 0.0,
) -> Finding:
    """Compare both tables; `more` is what the expected values may be off by."""
    keywords = {"base": case.base}
    reply = trial.call("cos_sin", (positions, case.head_dim), keywords)
    call = Call("cos_sin", (positions, case.head_dim), keywords)
    if len(reply.values) != 2:
        return broken(f"cos_sin gives {len(reply.values)} arrays; expected cos and sin", call=call)
    findings = []
    dtype = reply.dtypes[0]
    precision = trial.loosest(dtype)
    allowed = table_allowed(positions, case.head_dim, case.base, precision, dtype, trial.machine)
    for name, got, wanted in zip(("cos", "sin"), reply.values, expected, strict=True):
        findings.append(compare(got, wanted, allowed + more, name=name))
    return worst(*findings).after(call)


@check(
    "FREQ-9",
    "addition",
    "cos and sin belong to different angles: the addition formulas fail.",
    needs=("cos_sin",),
    names=("F-112", "P-48"),
    space=Space(positions=("arange", "ragged", "spread")),
)
def addition(trial: Trial, case: Case) -> Finding:
    """cos(a+b) = cos a cos b - sin a sin b, sin(a+b) = sin a cos b + cos a sin b, and for a-b."""
    dim, keywords = case.head_dim, {"base": case.base}
    limit = max(case.limit // 2, 1)
    a = np.clip(case.make_positions() // 2, 0, limit)
    b = np.minimum(np.full_like(a, case.seed % 50), a)
    calls = {
        name: trial.call("cos_sin", (where, dim), keywords)
        for name, where in (("a", a), ("b", b), ("sum", a + b), ("difference", a - b))
    }
    dtype = calls["a"].dtypes[0]
    precision = trial.loosest(dtype)
    parts = {name: [v.astype(np.float64) for v in reply.values] for name, reply in calls.items()}
    bound = {
        name: table_allowed(where, dim, case.base, precision, dtype, trial.machine)
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
    "FREQ-9",
    "far",
    "The angle is a float32 product: far from zero the rotation is noise.",
    space=Space(values=EVERYTHING, positions=("spread", "arange")),
    applies=lambda trial: (
        None if trial.profile.precision == "float64-angles" else "float64-angles not claimed"
    ),
    share=2.0,
)
def far(trial: Trial, case: Case) -> Finding:
    """The rotation is as accurate at the largest position claimed as near zero."""
    moved = dataclasses.replace(case, start=max(case.limit - case.seq - case.seed, 0))
    return trial.rotate_and_judge(moved, message="the rotation loses accuracy far from zero")
