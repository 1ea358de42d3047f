"""Checks of the chapter `errata`: a result is not a form that a document prints wrong (ERR-1).

One check a function of the API that has printed forms. Whether a result is right other checks
judge, within the budget of each element; here it is compared with what the printed forms give, and
named if it is one of them. That asks for no sharp bound: a result is a form if it is everywhere
`_NEARER` times nearer to it than the form is to the right result, and the form is told from the
right one only where they are further apart than `_NEARER` times what any result may lose.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropespec import reference
from ropespec.conformance.case import Case, Space
from ropespec.conformance.checks.errata.inputs import ASKED, Asked, Inputs
from ropespec.conformance.checks.literally import literal_rotation
from ropespec.conformance.checks.shared import real_dtype, rules
from ropespec.conformance.judge import oracle
from ropespec.conformance.judge.budget import angle_error
from ropespec.conformance.judge.finding import Call, Finding, broken, held
from ropespec.conformance.judge.precision import UNIT_ROUNDOFF, arithmetic_dtype
from ropespec.conformance.registry import always, check
from ropespec.conformance.subject.layout import from_subject, to_subject
from ropespec.conformance.subject.session import SubjectRaised
from ropespec.conformance.trial import Trial
from ropespec.reference.errata import PRINTED
from ropespec.spec.errata import errata
from ropespec.spec.errors import ArgumentError

__all__: list[str] = []

Array = NDArray[Any]

_NEARER = 16.0
_FURTHEST = 65
_STEPS = 4
_SHARE = 0.25
_SPACE = Space(
    values=("normal",),
    positions=("arange",),
    max_position=_FURTHEST - 1,
    min_seq=2,
    max_dim=64,
)
_INTERLEAVED = replace(_SPACE, layouts=(True,))
_ROTATIONS = ("apply_rotary", "apply_rotary_complex", "apply_rotary_dense")
_CONVENTIONS = frozenset({"interleaved", "base", "rotary_dim", "device"})


class Answer(NamedTuple):
    """What came back, in the order of axes of the specification, and the call for the report."""

    values: tuple[Array, ...]
    dtypes: tuple[str, ...]
    call: Call


def _answer(trial: Trial, case: Case, function: str, asked: Asked) -> Answer | None:
    """Call the subject; None if it returns no arrays of numbers."""
    if function in _ROTATIONS:
        y = trial.rotate(case, *asked.arrays, function=function)
        return Answer((y,), (case.dtype,), Call(function, asked.arrays, case.keywords))
    arrays = asked.arrays
    if function == "apply_rotary_cos_sin":
        arrays = (to_subject(arrays[0], trial.profile), *arrays[1:])
    taken = trial.keywords(function)
    keywords = {k: v for k, v in asked.keywords.items() if k not in _CONVENTIONS or k in taken}
    reply = trial.call(function, arrays, keywords)
    dtypes = tuple(filter(None, map(real_dtype, reply.dtypes)))
    if not all(reply.is_array) or len(dtypes) != len(reply.dtypes):
        return None
    values = reply.values
    if function == "apply_rotary_cos_sin" and values[0].shape == arrays[0].shape:
        values = (from_subject(values[0], trial.profile),)
    return Answer(values, dtypes, Call(function, arrays, keywords))


def _outcome(form: Callable[..., Any], asked: Asked) -> tuple[Array, ...] | None:
    """Return what a form gives of the same numbers in float64; None if it refuses them."""
    wide = [_widened(item) if isinstance(item, np.ndarray) else item for item in asked.arrays]
    try:
        found = form(*wide, **asked.keywords)
    except (ArgumentError, AssertionError, ValueError):
        return None
    return found if isinstance(found, tuple) else (found,)


def _widened(array: Array) -> Array:
    if array.dtype.kind in "biu":
        return array
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)


def _lost(trial: Trial, case: Case, dtypes: Sequence[str]) -> float:
    """Return what a result of size 1 may lose: by angle, by table, and by a few roundings."""
    allowed = rules(trial, max(dtypes, key=UNIT_ROUNDOFF.__getitem__))
    off = angle_error(
        allowed.precision.angle,
        np.array([float(_FURTHEST)]),
        oracle.frequencies(case.dim, case.frequencies),
        arithmetic=arithmetic_dtype(allowed.dtype),
        machine=trial.machine,
    )
    roundings = _STEPS * max(allowed.unit, allowed.step_unit)
    return float(off.max() + sum(allowed.table_error) + roundings)


class Parted(NamedTuple):
    """How far a printed form is from the right result, and the subject from the printed form."""

    apart: float
    near: float
    told: bool


def _parted(got: Array, wrong: Array, right: Array | None, lost: float) -> Parted | None:
    """Measure one result; None where it cannot be this form."""
    if got.shape != wrong.shape:
        return None
    if np.iscomplexobj(wrong) and not np.iscomplexobj(got):
        wrong = wrong.real
    wide = got.astype(np.complex128 if np.iscomplexobj(got) else np.float64)
    near = float(np.max(np.abs(wide - wrong), initial=0.0))
    least = _NEARER * lost * max(1.0, float(np.max(np.abs(wrong), initial=0.0)))
    if right is None or right.shape != wrong.shape:
        return Parted(_NEARER * least, near, told=True)
    apart = float(np.max(np.abs(wrong - right), initial=0.0))
    return Parted(max(apart, least), near, told=apart > least)


def _is_form(
    got: Sequence[Array], wrong: Sequence[Array], right: Sequence[Array] | None, lost: float
) -> bool:
    """Whether all results are those of a printed form, and one of them is told from the right."""
    if len(got) != len(wrong):
        return False
    rights = [None] * len(wrong) if right is None else right
    measured = [_parted(*each, lost) for each in zip(got, wrong, rights, strict=True)]
    found = [one for one in measured if one is not None and one.near <= one.apart / _NEARER]
    return len(found) == len(wrong) and any(one.told for one in found)


def _right(case: Case, function: str, asked: Asked) -> tuple[Array, ...] | None:
    """Return what is right under the claims, by which a rotation may be scaled; None: a refusal."""
    if function in _ROTATIONS and case.frequencies.scheme is not None:
        x, positions = (_widened(array) for array in asked.arrays)
        return (literal_rotation(case, x, positions),)
    return _outcome(getattr(reference, function), asked)


def _named(trial: Trial, case: Case, function: str, asked: Asked) -> Finding:
    """Return the finding that the result is a printed form, with all its errata by id."""
    right = _right(case, function, asked)
    try:
        answer = _answer(trial, case, function, asked)
    except SubjectRaised:
        if right is None:  # it had to
            return held()
        raise
    if answer is None:
        return held()
    lost = _lost(trial, case, answer.dtypes)
    ids = [
        id_
        for id_, form in PRINTED[function].items()
        if (wrong := _outcome(form, asked)) is not None
        and _is_form(answer.values, wrong, right, lost)
    ]
    if not ids:
        return held()
    names = ", ".join(f"{id_} ({errata()[id_].title})" for id_ in ids)
    return broken(f"the result is what a document prints wrong: {names}", call=answer.call)


def _register(id_: str, function: str, inputs: Inputs) -> None:
    """Register the check of a function."""

    def judge(trial: Trial, case: Case) -> Finding:
        return _named(trial, case, function, inputs(trial, case))

    is_bare = function == "apply_rotary"
    judge.__doc__ = f"No result of {function} is one of the forms that are printed wrong."
    check(
        id_,
        f"{function} was copied from a document that prints it wrong.",
        needs=(function,),
        names=(*PRINTED[function], "P-45"),
        space=_INTERLEAVED if function == "apply_rotary_complex" else _SPACE,
        applies=_refusals if function == "reshape_for_broadcast" else always,
        share=1.0 if is_bare else _SHARE,
    )(judge)


def _refusals(trial: Trial) -> str | None:
    return None if trial.profile.refusals else "refusals not claimed"


for _id, (_function, _inputs) in ASKED.items():
    _register(_id, _function, _inputs)
