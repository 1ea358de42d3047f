"""Checks of tables and rotations by scaled frequencies (SCAL-1, SCAL-8, SCAL-12, SCAL-13)."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.frequencies.angles import table_allowed
from ropespec.conformance.checks.literal import FEW
from ropespec.conformance.checks.scaling.drawn import any_scheme, exact_tables, scaled
from ropespec.conformance.checks.shared import (
    NEAR,
    based,
    literal_error,
    rules,
    takes_rotary_dim,
    unchanged,
)
from ropespec.conformance.judge.finding import Call, Finding, broken, compare, held, worst
from ropespec.conformance.judge.rotation import Rotation
from ropespec.conformance.registry import check
from ropespec.conformance.subject.layout import (
    from_subject,
    rows_for_subject,
    to_subject,
)
from ropespec.conformance.trial import Trial, Unfit
from ropespec.reference.scaling_blends import softmax_gain
from ropespec.spec.scaling import DynamicNtk, LongRope, Scaling

__all__ = ["TABLES", "judged_tables"]

Float = NDArray[np.float64]
TABLES, ROTATION = "cos_sin_scaled", "apply_rotary_scaled"
WIDE = Space(min_dim=16)
CLOSE = Space(min_dim=16, max_position=NEAR)


def judged_tables(
    trial: Trial,
    case: Case,
    positions: NDArray[np.int64],
    scheme: Scaling,
    *expected: tuple[Float, Float],
) -> Finding:
    """Compare cos and sin of a scheme with tables that they must be."""
    keywords = {**case.only("base"), "scaling": scheme}
    reply = trial.call(TABLES, (positions, case.dim), keywords)
    call = Call(TABLES, (positions, case.dim), keywords)
    if len(reply.values) != 2:
        return broken(f"{TABLES} gives {len(reply.values)} arrays; expected cos and sin", call=call)
    own = rules(trial, reply.dtypes[0])
    # The gain is rounded, and multiplied: as much as a table is, and once more.
    allowed = 3 * float(scheme.gain) * table_allowed(positions, case.dim, case.frequencies, own)
    findings = [
        compare(got, wanted, allowed, name=name)
        for tables in expected
        for name, got, wanted in zip(("cos", "sin"), reply.values, tables, strict=True)
    ]
    return worst(*findings).after(call)


@check(
    "SCAL-1.value",
    "cos and sin of scaled frequencies lose accuracy with the position.",
    needs=(TABLES,),
    space=WIDE,
    every_dtype=True,
)
def tables(trial: Trial, case: Case) -> Finding:
    """A cos m omega_i and A sin m omega_i, at any position."""
    scheme, m = any_scheme(case), case.make_positions()
    return judged_tables(trial, case, m, scheme, exact_tables(case, scheme, m))


@check(
    "SCAL-1.reference-tables",
    "cos and sin agree with the exact ones but not with those of the literal reference.",
    needs=(TABLES,),
    names=("P-47",),
    space=CLOSE,
    share=FEW,
)
def tables_reference(trial: Trial, case: Case) -> Finding:
    """cos_sin_scaled equals that of the literal NumPy reference."""
    scheme, m = any_scheme(case), case.make_positions()
    printed = reference.cos_sin_scaled(m, case.dim, **based(case), scaling=scheme)
    return judged_tables(trial, case, m, scheme, printed)


YARN_GAINS: tuple[dict[str, Any], ...] = (
    {},
    {"factor": 1.0},
    {"mscale": 1.0, "mscale_all_dim": 0.5},
    {"mscale": 0.7, "mscale_all_dim": 0.7},
    {"mscale": 0.7},
    {"mscale_all_dim": 0.7},
    {"attention_factor": 1.37},
)
LONG_GAINS: tuple[dict[str, Any], ...] = (
    {},
    {"factor": 1.0},
    {"factor": 1.5, "length": 100},
    {"attention_factor": 1.37},
)


@check(
    "SCAL-8.gain",
    "The gain of YaRN is left out, squared, or made of one mscale alone.",
    needs=(TABLES,),
    space=CLOSE,
    share=FEW,
)
def yarn_gain(trial: Trial, case: Case) -> Finding:
    """cos and sin are A times as large: the gain of a factor, of two mscales, or one given."""
    return _gains(trial, case, "SCAL-7", YARN_GAINS)


@check(
    "SCAL-9.gain",
    "The gain of LongRoPE is left out, or there for one of the two lists alone.",
    needs=(TABLES,),
    space=CLOSE,
    share=FEW,
)
def long_gain(trial: Trial, case: Case) -> Finding:
    """sqrt(1 + ln s / ln L), whichever list is taken, or the one given."""
    return _gains(trial, case, "SCAL-9", LONG_GAINS)


def _gains(trial: Trial, case: Case, clause: str, given: Sequence[dict[str, Any]]) -> Finding:
    """Compare the tables of two tokens for each way to come to a gain."""
    drawn, m = any_scheme(case, clause), case.make_positions()[:1, :2]
    findings = []
    for numbers in given:
        scheme: Any = dataclasses.replace(drawn, **numbers)
        printed = reference.cos_sin_scaled(m, case.dim, **based(case), scaling=scheme)
        exact = exact_tables(case, scheme, m)
        findings.append(judged_tables(trial, case, m, scheme, exact, printed))
    return worst(*findings)


class _Asked(NamedTuple):
    """A rotation, and what it must be."""

    x: NDArray[Any]
    positions: NDArray[np.int64]
    keywords: dict[str, Any]
    exact: Rotation
    allowed: Float

    @property
    def call(self) -> Call:
        """For the report."""
        return Call(ROTATION, (self.x, self.positions), self.keywords)


def _asked(trial: Trial, case: Case, scheme: Scaling) -> _Asked:
    """Rotate exactly, by the convention of the case with these frequencies."""
    by = dataclasses.replace(case.convention, frequencies=scaled(case, scheme))
    case = dataclasses.replace(case, convention=by)
    positions = case.make_positions()
    x = case.make_x(positions)
    exact = trial.expect(case, x, positions)
    allowed = exact.allowed(trial.loosest(case.dtype), trial.machine)
    return _Asked(x, positions, {**case.keywords, "scaling": scheme}, exact, allowed)


def _rotate(trial: Trial, asked: _Asked) -> NDArray[Any]:
    """Rotate x; the result is in the order of axes of x."""
    claimed = trial.profile
    sent = to_subject(asked.x, claimed)
    places = rows_for_subject(asked.positions, claimed)
    reply = trial.call(ROTATION, (sent, places), asked.keywords)
    y = reply.values[0]
    if len(reply.values) != 1 or y.shape != sent.shape:
        raise Unfit(broken(f"y has shape {y.shape}; expected {sent.shape}", call=asked.call))
    return from_subject(y, claimed)


@check(
    "SCAL-1.rotation",
    "The rotation is by other frequencies than those of the scheme, or without its gain.",
    needs=(ROTATION,),
    space=WIDE,
    every_dtype=True,
)
def rotation(trial: Trial, case: Case) -> Finding:
    """A R_m x with the frequencies of a scheme."""
    asked = _asked(trial, case, any_scheme(case))
    y = _rotate(trial, asked)
    return compare(y, asked.exact.y, asked.allowed).after(asked.call)


@check(
    "SCAL-1.reference-rotation",
    "The rotation agrees with the judge but not with the literal reference.",
    needs=(ROTATION,),
    names=("P-47",),
    space=CLOSE,
    share=FEW,
)
def rotation_reference(trial: Trial, case: Case) -> Finding:
    """apply_rotary_scaled equals that of the literal NumPy reference."""
    scheme = any_scheme(case)
    asked = _asked(trial, case, scheme)
    wide = asked.x.astype(np.float64)
    own_words = {**based(case, "interleaved", "rotary_dim"), "scaling": scheme}
    literal = reference.apply_rotary_scaled(wide, asked.positions, **own_words)
    more = literal_error(asked.exact)
    return compare(_rotate(trial, asked), literal, asked.allowed + more).after(asked.call)


@check(
    "SCAL-12.tail",
    "The gain is applied to the whole head, also to what is not rotated.",
    needs=(ROTATION,),
    space=dataclasses.replace(WIDE, partial=True),
    applies=takes_rotary_dim(ROTATION),
)
def tail(trial: Trial, case: Case) -> Finding:
    """Components that pass through have no gain."""
    asked = _asked(trial, case, any_scheme(case, "SCAL-7"))
    y = _rotate(trial, asked)
    if unchanged(asked.x[..., case.dim :], y[..., case.dim :]).all():
        return held()
    return broken("components that are not rotated changed", call=asked.call)


@check(
    "SCAL-12.square",
    "The gain is applied to scores or weights besides, or once for query and key together.",
    needs=(ROTATION,),
    space=dataclasses.replace(CLOSE, positions=("repeated",)),
    share=FEW,
)
def square(trial: Trial, case: Case) -> Finding:
    """A vector's product with itself grows by the factor that a softmax would have instead."""
    scheme = any_scheme(case, "SCAL-7")
    asked = _asked(trial, case, scheme)
    y, off = (part[..., : case.dim] for part in (_rotate(trial, asked), asked.allowed))
    x = asked.x[..., : case.dim].astype(np.float64)
    y = y.astype(np.float64)
    expected = softmax_gain(float(getattr(scheme, "factor", 1.0)), 1.0) * np.sum(x * x, axis=-1)
    allowed = np.sum((2 * np.abs(y) + off) * off, axis=-1) + 2.0**-44 * expected
    return compare(np.sum(y * y, axis=-1), expected, allowed, name="score").after(asked.call)


@check(
    "SCAL-13.history",
    "A long call leaves its base or its factors behind, and the next short one has them.",
    needs=(ROTATION,),
    space=CLOSE,
    share=FEW,
)
def history(trial: Trial, case: Case) -> Finding:
    """Short, long, and short again: each call is rotated by its own length."""
    drawn = any_scheme(case, ("SCAL-5", "SCAL-9")[case.seed % 2])
    assert isinstance(drawn, DynamicNtk | LongRope)
    short = dataclasses.replace(drawn, length=drawn.original_length)
    longer = dataclasses.replace(drawn, length=8 * drawn.original_length)
    findings = []
    for scheme in (short, longer, short):
        asked = _asked(trial, case, scheme)
        found = compare(_rotate(trial, asked), asked.exact.y, asked.allowed)
        findings.append(found.after(asked.call))
    return worst(*findings)
