"""Checks of the frequencies and of what a position is (FREQ-1 to FREQ-6)."""

import functools

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.literal import FEW
from ropespec.conformance.checks.literally import literal_frequencies
from ropespec.conformance.checks.rotation.common import (
    basis,
    called,
    columns,
    negative_positions,
)
from ropespec.conformance.checks.shared import NEAR, based
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.budget import Machine
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, held, worst
from ropespec.conformance.judge.precision import UNIT_ROUNDOFF
from ropespec.conformance.registry import check
from ropespec.conformance.subject.session import SubjectRaised
from ropespec.conformance.trial import Trial
from ropespec.reference import frequencies as literal
from ropespec.spec.convention import Frequencies

__all__: list[str] = []

Float = NDArray[np.float64]

EXACT = 2**53
"""Positions below which neighbours are two numbers in float64."""


def inv_freq_allowed(dim: int, of: Frequencies, dtype: str, machine: Machine) -> Float:
    """Bound the error of inv_freq in `dtype`: (1 + k + 3t) u theta, t = (2i/d) ln base.

    A rounded power and a reciprocal cost 1 + k; a rounded exponent 2i/d or a rounded ln base
    costs t each in the exponential forms.
    """
    theta = oracle.frequencies(dim, of)
    unit = UNIT_ROUNDOFF[dtype]
    power = machine.power if dtype == "float32" else 4.0
    return (1 + power + 3 * -np.log(theta)) * unit * theta


@check(
    "FREQ-1.even",
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
    "FREQ-2.value",
    "Base, exponent, index or denominator of the frequencies is wrong.",
    needs=("inv_freq",),
    names=("F-001", "F-005", "F-015", "E-23", "E-26", "E-34", "E-45", "P-01"),
    every_dtype=True,
)
def inv_freq(trial: Trial, case: Case) -> Finding:
    """theta_i = base^(-2i/d)."""
    keywords = case.only("base")
    reply = trial.call("inv_freq", (case.head_dim,), keywords)
    exact = oracle.frequencies(case.head_dim, case.frequencies)
    allowed = inv_freq_allowed(case.head_dim, case.frequencies, reply.dtypes[0], trial.machine)
    finding = compare(reply.values[0], exact, allowed, name="inv_freq")
    return finding.after(Call("inv_freq", (case.head_dim,), keywords))


@check(
    "FREQ-2.reference",
    "The frequencies agree with the judge but not with the formula as the documents print it.",
    needs=("inv_freq",),
    names=("F-001", "P-47"),
    share=FEW,
)
def inv_freq_reference(trial: Trial, case: Case) -> Finding:
    """Inv_freq equals that of the literal NumPy reference."""
    literal_form = literal.inv_freq(case.head_dim, **based(case))
    return _agrees(trial, case, [literal_form])


def _speeds(trial: Trial, case: Case, steps: int) -> tuple[Float, Float, Call]:
    """Cosine of the angle between f(e_j, 1 + steps) and f(e_j, 1), for every rotating component j.

    Neither the pairing, nor the direction, nor an offset of the positions changes it.
    Returns the cosines and the error allowed of them.
    """
    bound = functools.partial(trial.length_allowed, case)
    (one, off, _), (other, further, call) = (columns(trial, case, m, bound) for m in (1, 1 + steps))
    gain = float(case.frequencies.gain)
    cosines = (one * other).sum(axis=-1) / gain**2
    return cosines, (off + further) / gain + off * further / gain**2, call


@check(
    "FREQ-2.read-off",
    "The pairs rotate by other angles per position than base^(-2i/rotary_dim).",
    names=("F-001", "E-26", "E-45", "P-01"),
    space=Space(positions=("repeated",), max_position=1),
)
def read_off(trial: Trial, case: Case) -> Finding:
    """Between positions 1 and 1 + s the pairs rotate by s theta_i, whichever pair is where."""
    limit = min(case.limit if case.limit > 1 else trial.profile.max_position, NEAR) - 1
    steps = max(1, min(2 ** (case.seed % 12), limit))
    got, allowed, call = _speeds(trial, case, steps)
    theta = oracle.frequencies(case.dim, case.frequencies)
    wanted = np.sort(np.repeat(np.cos(steps * theta), 2))
    message = f"between positions 1 and {1 + steps} the pairs do not rotate by {steps} * theta_i"
    worst_bound = np.full_like(wanted, allowed.max())
    return compare(np.sort(got), wanted, worst_bound, name="cos", message=message).after(call)


@check(
    "FREQ-3.conventions",
    "The frequencies are those of another index: from 1, or of step 2 taken twice.",
    needs=("inv_freq",),
    names=("F-002", "F-003", "F-004", "F-011", "F-012", "E-36", "P-02"),
)
def conventions(trial: Trial, case: Case) -> Finding:
    """theta_1, ..., theta_{d/2} and theta_0, theta_2, ..., theta_{d-2} are what is returned."""
    dim, base = case.head_dim, based(case)
    one_based, step2 = literal.theta_one_based(dim, **base), literal.theta_step2(dim, **base)
    labels = literal.even_indices(dim).tolist()
    if len(one_based) != len(step2) or len(step2) != len(labels):
        raise ValueError("the labels of the reference are not those of dim/2 frequencies")
    forms = [[one_based[j // 2 + 1] for j in labels], [step2[j] for j in labels]]
    return _agrees(trial, case, [np.array(form) for form in forms])


@check(
    "FREQ-4.code-forms",
    "The code form is another function: a logarithm to another base, or a lost minus.",
    needs=("inv_freq",),
    names=(
        *("F-006", "F-007", "F-008", "F-009", "F-010", "F-013", "F-014", "E-37", "P-02", "P-03"),
    ),
)
def code_forms(trial: Trial, case: Case) -> Finding:
    """The four code lines of the documents, and e^(x ln a), give the vector that is returned."""
    lines = (literal.theta_from_arange, literal.theta_llama, literal.theta_pow, literal.div_term)
    forms = [form(case.head_dim, **based(case)) for form in lines]
    exponents = -2 * np.arange(case.head_dim // 2) / case.head_dim
    return _agrees(trial, case, [*forms, literal.pow_via_exp(case.frequencies.base, exponents)])


def _agrees(trial: Trial, case: Case, forms: list[Float]) -> Finding:
    dim, keywords = case.head_dim, case.only("base")
    reply = trial.call("inv_freq", (dim,), keywords)
    own = inv_freq_allowed(dim, case.frequencies, reply.dtypes[0], trial.machine)
    theirs = inv_freq_allowed(dim, case.frequencies, "float64", Machine())
    findings = [compare(reply.values[0], form, own + theirs, name="inv_freq") for form in forms]
    return worst(*findings).after(Call("inv_freq", (dim,), keywords))


@check(
    "FREQ-5.order",
    "The frequencies are reversed or rotated: the first pair is not the fastest.",
    names=("F-021", "P-41"),
    space=Space(positions=("repeated",), max_position=1, min_dim=4),
)
def order(trial: Trial, case: Case) -> Finding:
    """Component 0 rotates by 1 radian per position, the last one by base^(-(d-2)/d).

    Scaled, both by what the scheme makes of these.
    """
    got, allowed, call = _speeds(trial, case, 1)
    theta = literal_frequencies(case)  # within 1e-15, below what is allowed
    ends = [0, -1]
    return compare(
        got[ends],
        np.cos(theta[ends]),
        allowed[ends],
        name="cos",
        message=f"the first pair does not rotate by {theta[0]:.6g}, or the last not by "
        f"{theta[-1]:.6g}",
    ).after(call)


@check(
    "FREQ-6.neighbours",
    "Neighbouring positions give the same angle: positions are rounded to few bits.",
    names=("F-019",),
    space=Space(values=("normal",), positions=("arange",)),
    share=2.0,
)
def neighbours(trial: Trial, case: Case) -> Finding:
    """The first pair rotates by theta_0 between m and m + 1, also around powers of two."""
    powers = [2**n for n in range(3, 63) if 2**n + 2 < case.limit]
    m = (powers[case.seed % len(powers)] if powers else 1) - case.start % 2
    x = basis(case, 0)
    rotated, bounds = [], []
    for position in (m, m + 1):
        positions = np.full((case.batch, case.seq), position, dtype=np.int64)
        y = trial.rotate(case, x, positions)
        call = called(case, x, positions)
        rotated.append(y.astype(np.float64))
        bounds.append(trial.length_allowed(case, x, positions))
    cosine = (rotated[0] * rotated[1]).sum(axis=-1)
    gain, first = float(case.frequencies.gain), literal_frequencies(case)[:1]
    allowed = gain * (bounds[0] + bounds[1]) + bounds[0] * bounds[1]
    message = f"positions {m} and {m + 1} are not {first[0]:.6g} radians apart in the first pair"
    step = float(first[0])
    if m < EXACT and step == 1.0:
        here, there = literal.angles([m, m + 1], first)
        step = float((there - here)[0])
    wanted = np.full(cosine.shape, gain**2 * np.cos(step))
    return compare(cosine, wanted, allowed, name="cos", message=message).after(call)


@check(
    "FREQ-6.negative",
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
