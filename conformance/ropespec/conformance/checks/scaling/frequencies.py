"""Checks of the frequencies of each scheme (SCAL-1 to SCAL-11)."""

import numpy as np
from numpy.typing import NDArray

from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.frequencies.vectors import inv_freq_allowed
from ropespec.conformance.checks.literal import FEW
from ropespec.conformance.checks.scaling.drawn import (
    DRAWN,
    any_scheme,
    index_of,
    scaled,
)
from ropespec.conformance.checks.shared import based
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.finding import Call, Finding, compare, worst
from ropespec.conformance.judge.precision import UNIT_ROUNDOFF
from ropespec.conformance.registry import check
from ropespec.conformance.trial import Trial
from ropespec.reference import scaling as literal
from ropespec.spec.convention import Frequencies
from ropespec.spec.scaling import Scaling, Yarn

__all__ = ["NEEDS", "WIDE", "exact_and_printed"]

NEEDS = ("inv_freq_scaled",)
WIDE = Space(min_dim=16)
"""Pairs enough for two ends and what lies between them."""


def _judged(trial: Trial, case: Case, scheme: Scaling, *expected: NDArray[np.float64]) -> Finding:
    """Compare omega with what it must be, exactly or as printed.

    A share of a pair is off by 8 units where its numbers are, and by 4d where the end of a ramp
    is, which is a logarithm times d; omega then is off by as much of theta.
    """
    keywords = {**case.only("base"), "scaling": scheme}
    reply = trial.call(NEEDS[0], (case.head_dim,), keywords)
    dim, plain = case.head_dim, Frequencies(case.frequencies.base)
    allowed = inv_freq_allowed(dim, plain, reply.dtypes[0], trial.machine)
    allowed += (8 + 4 * dim) * UNIT_ROUNDOFF[reply.dtypes[0]] * oracle.frequencies(dim, plain)
    got = reply.values[0]
    findings = (compare(got, wanted, allowed, name="inv_freq") for wanted in expected)
    return worst(*findings).after(Call(NEEDS[0], (case.head_dim,), keywords))


def _value(trial: Trial, case: Case, clause: str) -> Finding:
    scheme = any_scheme(case, clause, dim=case.head_dim)
    return exact_and_printed(trial, case, scheme)


def exact_and_printed(trial: Trial, case: Case, scheme: Scaling) -> Finding:
    """Compare the frequencies of a scheme with the exact ones and with the formula as printed."""
    exact = oracle.frequencies(case.head_dim, scaled(case, scheme))
    printed = literal.inv_freq_scaled(case.head_dim, case.frequencies.base, scaling=scheme)
    return _judged(trial, case, scheme, exact, printed)


@check(
    "SCAL-1.reference",
    "The scaled frequencies agree with the exact ones but not with the formulas as printed.",
    needs=NEEDS,
    names=("P-47",),
    space=WIDE,
    share=FEW,
)
def against_reference(trial: Trial, case: Case) -> Finding:
    """For a scheme of every kind, inv_freq_scaled equals that of the literal NumPy reference."""
    dim, findings = case.head_dim, []
    for clause in DRAWN:
        scheme = any_scheme(case, clause, dim=dim)
        printed = literal.inv_freq_scaled(dim, **based(case), scaling=scheme)
        findings.append(_judged(trial, case, scheme, printed))
    return worst(*findings)


@check(
    "SCAL-2.value",
    "Frequencies are multiplied by the factor, or the scaling is dead.",
    needs=NEEDS,
    space=WIDE,
    share=FEW,
)
def linear(trial: Trial, case: Case) -> Finding:
    """theta_i / s."""
    return _value(trial, case, "SCAL-2")


@check(
    "SCAL-3.value",
    "All frequencies are divided by one number, the first included, instead of another base.",
    needs=NEEDS,
    space=WIDE,
    share=FEW,
)
def ntk(trial: Trial, case: Case) -> Finding:
    """base s^(d/(d-2))."""
    return _value(trial, case, "SCAL-3")


@check(
    "SCAL-4.value",
    "The base grows as in transformers, or also for short sequences.",
    needs=NEEDS,
    space=WIDE,
    share=FEW,
)
def dynamic_of_the_paper(trial: Trial, case: Case) -> Finding:
    """base max(1, l/L)^(d/(d-2))."""
    return _value(trial, case, "SCAL-4")


@check(
    "SCAL-5.value",
    "The base grows as in the paper, or is that of one length for all.",
    needs=NEEDS,
    space=WIDE,
    share=FEW,
)
def dynamic(trial: Trial, case: Case) -> Finding:
    """base (s l/L - (s - 1))^(d/(d-2))."""
    return _value(trial, case, "SCAL-5")


@check(
    "SCAL-6.value",
    "The blend is linear in the index or in the wavelength, and not in the turns.",
    needs=NEEDS,
    space=WIDE,
    share=FEW,
)
def by_parts(trial: Trial, case: Case) -> Finding:
    """A blend that is linear in L theta_i / 2 pi."""
    return _value(trial, case, "SCAL-6")


@check(
    "SCAL-7.value",
    "The ramp of YaRN is inverted, or linear in something else than the index.",
    needs=NEEDS,
    space=WIDE,
    share=FEW,
)
def yarn(trial: Trial, case: Case) -> Finding:
    """A blend that is linear in the index."""
    return _value(trial, case, "SCAL-7")


@check(
    "SCAL-7.whole",
    "The ends of the ramp are rounded to the nearest index, both down, or not at all.",
    needs=NEEDS,
    space=WIDE,
    share=FEW,
)
def whole(trial: Trial, case: Case) -> Finding:
    """On both sides of a whole index, a thousandth apart: the floor below, the ceiling above."""
    at = int(np.random.default_rng([case.seed, 37]).integers(2, case.head_dim // 2 - 4))
    length = 10**9
    step = case.frequencies.base ** (2 / case.head_dim)
    turns = length / (2 * np.pi * step**at)
    side = 1e-3 if case.seed % 2 else -1e-3
    fast, slow = (float(turns * step ** (side - more)) for more in (0, 2.5))
    if case.seed % 4 > 1:
        fast, slow = float(turns * step**1.5), fast
    scheme = Yarn(7.0, length, fast, slow)
    assert abs(index_of(fast, case.head_dim, case.frequencies.base, length)) < case.head_dim
    return exact_and_printed(trial, case, scheme)


@check(
    "SCAL-7.clamp",
    "The end of the ramp is clamped to the last pair, d/2 - 1, and not to d - 1.",
    needs=NEEDS,
    space=WIDE,
    share=FEW,
)
def clamp(trial: Trial, case: Case) -> Finding:
    """A ramp that would end behind the last pair goes on to where it ends, at most d - 1."""
    length = 10**9
    step = case.frequencies.base ** (2 / case.head_dim)
    ends = case.head_dim / 4 + 0.4, case.head_dim * (0.7 if case.seed % 2 else 1.3) + 0.4
    fast, slow = (float(length / (2 * np.pi * step**end)) for end in ends)
    scheme = Yarn(7.0, length, fast, slow)
    return exact_and_printed(trial, case, scheme)


@check(
    "SCAL-7.equal",
    "A ramp whose ends are equal divides by zero, or parts the pairs the other way round.",
    needs=NEEDS,
    space=WIDE,
    share=FEW,
)
def equal(trial: Trial, case: Case) -> Finding:
    """One number of turns for both ends, and no rounding: a step."""
    turns = 10**9 / (2 * np.pi * case.frequencies.base ** (0.5 + 0.8 / case.head_dim))
    scheme = Yarn(7.0, 10**9, float(turns), float(turns), truncate=False)
    return exact_and_printed(trial, case, scheme)


@check(
    "SCAL-9.value",
    "The other list of factors is taken, or the factors multiply the frequencies.",
    needs=NEEDS,
    space=WIDE,
    share=FEW,
)
def longrope(trial: Trial, case: Case) -> Finding:
    """1 / (e_i base^(2i/d)), short up to L tokens and long beyond."""
    return _value(trial, case, "SCAL-9")


@check(
    "SCAL-10.value",
    "The scaling of Llama 3 is dead, or its two ends are exchanged.",
    needs=NEEDS,
    space=WIDE,
    share=FEW,
)
def llama3(trial: Trial, case: Case) -> Finding:
    """Kept, divided, or a blend that is linear in the turns."""
    return _value(trial, case, "SCAL-10")


@check(
    "SCAL-11.value",
    "The frequencies are those of a partial rotation: their exponent has another denominator.",
    needs=NEEDS,
    space=WIDE,
    share=FEW,
)
def proportional(trial: Trial, case: Case) -> Finding:
    """The first frequencies of the whole head, and 0 behind."""
    return _value(trial, case, "SCAL-11")
